// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static int count(pte_t *slot, unsigned long at, unsigned long stop)
{
	int n = 0;

	for (; at != stop; slot++, at += PAGE_SIZE)
		n += pte_present(ptep_get(slot));
	return n;
}
