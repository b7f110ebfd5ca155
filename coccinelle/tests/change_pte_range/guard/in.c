// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static long hint(struct mmu_gather *mg, struct vm_area_struct *area,
		pmd_t *pmd, unsigned long at, unsigned long stop,
		pgprot_t prot, unsigned long how)
{
	bool hinting = how & MM_CP_PROT_NUMA;
	pte_t *slot = pte_offset_map(pmd, at);
	pte_t was;
	long hits = 0;

	do {
		was = ptep_get(slot);
		if (pte_present(was)) {
			pte_t now;

			if (hinting) {
				struct folio *f;

				if (pte_protnone(was))
					continue;
				f = vm_normal_folio(area, at, was);
				if (!f || folio_test_ksm(f))
					continue;
			}
			was = ptep_modify_prot_start(area, at, slot);
			now = pte_modify(was, prot);
			ptep_modify_prot_commit(area, at, slot, was, now);
			if (pte_needs_flush(was, now))
				tlb_flush_pte_range(mg, at, PAGE_SIZE);
			hits++;
		}
	} while (slot++, at += PAGE_SIZE, at != stop);
	return hits;
}
