// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static void restore(struct vm_fault *fault, struct vm_area_struct *area,
		struct folio *whole, pte_t *slot, unsigned long at,
		unsigned long stop)
{
	unsigned int nr_ptes;

	do {
		nr_ptes = numa_rebuild_ptes(fault, area, whole, at, slot,
					    (stop - at) >> PAGE_SHIFT, false);
	} while (slot += nr_ptes, at += nr_ptes * PAGE_SIZE, at != stop);
}
