// SPDX-License-Identifier: GPL-2.0

static inline void fill(pte_t *slot, pte_t val, int left, int stride)
{
	while (left--) {
		set_pte(slot++, val);
		val = __pte(pte_val(val) + (stride << PFN_PTE_SHIFT));
	}
}
