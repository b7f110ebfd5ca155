// SPDX-License-Identifier: GPL-2.0
void visit(struct mm_struct *mm, pte_t *slot, unsigned long where,
	   unsigned long last, int how)
{
	int step;

	while (where < last) {
		pte_t one;

		step = 1;
		one = ptep_get(slot);
		if (pte_present(one)) {
			step = visit_present(mm, slot, where, how);
		} else {
			WARN_ON_ONCE(!pte_none(one));
			if (how == 0)
				goto next;
			visit_none(mm, slot, where);
		}
next:
		slot += step;
		where += step * PAGE_SIZE;
	}
}
