// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static void restore(struct vm_fault *fault, struct vm_area_struct *area,
		struct folio *whole, pte_t *slot, unsigned long at,
		unsigned long stop, bool keep, bool upgrade)
{
	pte_t was;
	bool wr;

	for (; at < stop; at += PAGE_SIZE, slot++) {
		was = ptep_get(slot);
		wr = false;
		if (!pte_present(was) || !pte_protnone(was))
			continue;
		if (userfaultfd_rwp(area) && pte_uffd(was))
			continue;
		if (pfn_folio(pte_pfn(was)) != whole)
			continue;
		if (!keep) {
			was = pte_modify(was, area->vm_page_prot);
			wr = pte_write(was);
			if (!wr && upgrade && can_change_pte_writable(area, at, was))
				wr = true;
		}
		numa_rebuild_single_mapping(fault, area, at, slot, wr);
	}
}
