// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static long walk(struct mmu_gather *mg, struct vm_area_struct *area, pte_t *slot,
		unsigned long at, unsigned long stop, pgprot_t prot)
{
	unsigned int nr_ptes;
	long hits = 0;

	do {
		nr_ptes = 1;
		if (!pte_present(ptep_get(slot)))
			continue;
		nr_ptes = (stop - at) >> PAGE_SHIFT;
		nr_ptes = change_present_ptes(mg, area, at, slot, nr_ptes, prot, 0);
		hits += nr_ptes;
	} while (slot += nr_ptes, at += nr_ptes * PAGE_SIZE, at != stop);
	return hits;
}
