// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static void restore(struct vm_fault *fault, struct vm_area_struct *area,
		struct folio *whole, pte_t *slot, unsigned long at,
		unsigned long stop, bool keep, bool upgrade)
{
	pte_t was;
	bool wr;

	wr = pte_write(ptep_get(slot));
	numa_rebuild_single_mapping(fault, area, at, slot, wr);
}
