// SPDX-License-Identifier: GPL-2.0
long walk(struct vm_area_struct *vma, pte_t *ptep, unsigned long addr,
	  unsigned long stop, bool mark)
{
	unsigned int nr_ptes;
	long done = 0;
	pte_t val;

	do {
		nr_ptes = 1;
		val = ptep_get(ptep);
		if (pte_present(val)) {
			nr_ptes = change_present_ptes(NULL, vma, addr, ptep,
						      (stop - addr) >> PAGE_SHIFT,
						      vma->vm_page_prot, 0);
			done += nr_ptes;
		} else if (pte_none(val)) {
			/* Nothing to mark. */
			if (likely(!mark)) {
				nr_ptes = pte_run_none(ptep,
						       (stop - addr) >> PAGE_SHIFT);
				continue;
			}
			leave_mark(vma, addr, ptep);
			done++;
		} else {
			done += swapped(vma, addr, ptep, val);
		}
	} while (ptep += nr_ptes, addr += nr_ptes * PAGE_SIZE, addr != stop);
	return done;
}
