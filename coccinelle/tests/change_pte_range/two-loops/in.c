// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static long twice(struct mmu_gather *mg, struct vm_area_struct *area,
		pmd_t *pmd, unsigned long at, unsigned long stop,
		pgprot_t prot, unsigned long how)
{
	pte_t *slot = pte_offset_map(pmd, at);
	pte_t *next = slot;
	unsigned long a = at;
	pte_t was, now;
	long hits = 0;

	do {
		was = ptep_get(slot);
		if (!pte_present(was))
			continue;
		was = ptep_modify_prot_start(area, at, slot);
		now = pte_modify(was, prot);
		ptep_modify_prot_commit(area, at, slot, was, now);
		hits++;
	} while (slot++, at += PAGE_SIZE, at != stop);
	for (; a < stop; a += PAGE_SIZE, next++) {
		was = ptep_get(next);
		if (!pte_present(was))
			continue;
		was = ptep_modify_prot_start(area, a, next);
		now = pte_modify(was, prot);
		ptep_modify_prot_commit(area, a, next, was, now);
		hits++;
	}
	return hits;
}

static long untouched(struct mmu_gather *mg, struct vm_area_struct *area,
		pmd_t *pmd, unsigned long at, unsigned long stop,
		pgprot_t prot, unsigned long how)
{
	long hits = 0;

	for (; at < stop; at += PAGE_SIZE)
		hits++;
	return hits;
}
