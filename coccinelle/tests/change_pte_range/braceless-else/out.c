// SPDX-License-Identifier: GPL-2.0
#include "internal.h"
#include <linux/folio_pte_batch.h>

static long walk(struct mmu_gather *mg, struct vm_area_struct *area,
		pmd_t *pmd, unsigned long at, unsigned long stop,
		pgprot_t prot, unsigned long how)
{
	unsigned int nr_ptes;
	pte_t *slot = pte_offset_map(pmd, at);
	pte_t was;
	long hits = 0;

	do {
		nr_ptes = 1;
		was = ptep_get(slot);
		if (!pte_present(was))
			continue;
		else if (!area)
			continue;
		/* One run; each entry keeps its own bits. */
		nr_ptes = (stop - at) >> PAGE_SHIFT;
		nr_ptes = change_present_ptes(NULL, area, at, slot, nr_ptes,
					      prot, 0);
		hits += nr_ptes;
	} while (slot += nr_ptes, at += nr_ptes * PAGE_SIZE, at != stop);
	return hits;
}
