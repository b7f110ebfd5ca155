// SPDX-License-Identifier: GPL-2.0

static inline void fill(pte_t *slot, pte_t val, unsigned int left)
{
	for (;;) {
		set_pte(slot, val);
		if (--left == 0)
			break;
		slot++;
		val = __pte(pte_val(val) + (1UL << PFN_PTE_SHIFT));
	}
}
