// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static void wipe(pmd_t *pmd, unsigned long at, unsigned long stop)
{
	pte_t *slot = pte_offset_kernel(pmd, at);

	do {
		pte_clear(&init_mm, at, slot);
	} while (slot++, at += PAGE_SIZE, at != stop);
}
