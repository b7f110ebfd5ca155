// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static void wipe(struct mm_struct *mm, pte_t *slot, unsigned long at, unsigned long stop)
{
	do {
		pte_clear(mm, at, slot);
	} while (slot++, at += PAGE_SIZE, at != stop);
}
