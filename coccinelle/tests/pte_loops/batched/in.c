// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static void wipe(struct mm_struct *mm, pte_t *slot, unsigned long at, unsigned long stop)
{
	unsigned int nr;

	for (; at != stop; slot += nr, at += nr * PAGE_SIZE) {
		nr = run_length(slot, stop - at);
		clear_full_ptes(mm, at, slot, nr, 0);
	}
}
