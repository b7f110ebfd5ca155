// SPDX-License-Identifier: GPL-2.0

static inline void fill(struct mm_struct *mm, pte_t *slot, pte_t val,
			unsigned int left)
{
	while (left) {
		set_pte(slot++, val);
		left--;
		pte_val(val) += 1UL << PFN_PTE_SHIFT;
	}
}
