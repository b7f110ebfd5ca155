// SPDX-License-Identifier: GPL-2.0
long walk(struct vm_area_struct *vma, pte_t *ptep, unsigned long addr,
	  unsigned long stop, bool mark)
{
	long done = 0;
	pte_t val;

	do {
		val = ptep_get(ptep);
		if (pte_present(val)) {
			change_one(vma, addr, ptep);
			done++;
		} else if (!is_swap_pte(val)) {
			WARN_ON_ONCE(!pte_none(val));
			/* Nothing to mark. */
			if (likely(!mark))
				continue;
			leave_mark(vma, addr, ptep);
			done++;
		}
	} while (ptep++, addr += PAGE_SIZE, addr != stop);
	return done;
}
