// SPDX-License-Identifier: GPL-2.0
#include "internal.h"
#include <linux/folio_pte_batch.h>

static long hint(struct mmu_gather *mg, struct vm_area_struct *area,
		pmd_t *pmd, unsigned long at, unsigned long stop,
		pgprot_t prot, unsigned long how)
{
	unsigned int nr_ptes;
	bool hinting = how & MM_CP_PROT_NUMA;
	pte_t *slot = pte_offset_map(pmd, at);
	pte_t was;
	long hits = 0;

	do {
		nr_ptes = 1;
		was = ptep_get(slot);
		if (pte_present(was)) {
			if (hinting) {
				struct folio *f;

				if (pte_protnone(was))
					continue;
				f = vm_normal_folio(area, at, was);
				nr_ptes = folio_run_ptes(f, slot, was,
							 (stop - at) >> PAGE_SHIFT);
				if (!f || folio_test_ksm(f))
					continue;
			}
			/* One run; each entry keeps its own bits. */
			if (!hinting)
				nr_ptes = (stop - at) >> PAGE_SHIFT;
			nr_ptes = change_present_ptes(mg, area, at, slot,
						      nr_ptes, prot, 0);
			hits += nr_ptes;
		}
	} while (slot += nr_ptes, at += nr_ptes * PAGE_SIZE, at != stop);
	return hits;
}
