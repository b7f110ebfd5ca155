// SPDX-License-Identifier: GPL-2.0
#include "internal.h"
#include <linux/folio_pte_batch.h>

static long walk(struct mmu_gather *mg, struct vm_area_struct *area,
		pmd_t *pmd, unsigned long at, unsigned long stop,
		pgprot_t prot, unsigned long how)
{
	unsigned int nr_ptes = 1;
	unsigned long a;
	pte_t *slot = pte_offset_map(pmd, at);

	for (a = at; a != stop; a += nr_ptes * PAGE_SIZE, nr_ptes = 1) {
		pte_t was = ptep_get(slot);

		if (pte_present(was)) {
			/* One run; each entry keeps its own bits. */
			nr_ptes = (stop - a) >> PAGE_SHIFT;
			nr_ptes = change_present_ptes(NULL, area, a, slot,
						      nr_ptes, prot, 0);
		}
		slot += nr_ptes;
	}
	return 0;
}
