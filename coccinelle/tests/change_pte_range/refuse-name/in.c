// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static long walk(struct mmu_gather *mg, struct vm_area_struct *area,
		pmd_t *pmd, unsigned long at, unsigned long stop,
		pgprot_t prot, unsigned long how)
{
	pte_t *slot = pte_offset_map(pmd, at);
	pte_t was, now;
	long hits = 0;
	int nr_ptes = how;

	do {
		was = ptep_get(slot);
		if (!pte_present(was))
			continue;
		was = ptep_modify_prot_start(area, at, slot);
		now = pte_modify(was, prot);
		ptep_modify_prot_commit(area, at, slot, was, now);
		hits++;
	} while (slot++, at += PAGE_SIZE, at != stop);
	return hits + nr_ptes;
}
