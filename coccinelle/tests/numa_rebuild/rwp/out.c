// SPDX-License-Identifier: GPL-2.0
#include "internal.h"
#include <linux/folio_pte_batch.h>

static void restore(struct vm_fault *fault, struct vm_area_struct *area,
		struct folio *whole, pte_t *slot, unsigned long at,
		unsigned long stop, bool keep, bool upgrade)
{
	unsigned int nr_ptes;
	pte_t was;
	bool wr;

	for (; at < stop; at += nr_ptes * PAGE_SIZE, slot += nr_ptes) {
		was = ptep_get(slot);
		wr = false;
		nr_ptes = 1;
		if (!pte_present(was) || !pte_protnone(was))
			continue;
		if (userfaultfd_rwp(area) && pte_uffd(was))
			continue;
		if (pfn_folio(pte_pfn(was)) != whole)
			continue;
		/* One run; each entry keeps its own bits. */
		nr_ptes = numa_rebuild_ptes(fault, area, whole, at, slot,
					    (stop - at) >> PAGE_SHIFT,
					    !keep && upgrade);
	}
}
