// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

/* Other names, all optional parts but the guard. */
static long tighten(struct mmu_gather *mg, struct vm_area_struct *area,
		pmd_t *pmd, unsigned long at, unsigned long stop,
		pgprot_t prot, unsigned long how)
{
	bool watch = how & MM_CP_UFFD_WP;
	bool unwatch = how & MM_CP_UFFD_WP_RESOLVE;
	pte_t *slot = pte_offset_map(pmd, at);
	pte_t was, now;
	long hits = 0;

	do {
		was = ptep_get(slot);
		if (!pte_present(was))
			continue;
		was = ptep_modify_prot_start(area, at, slot);
		now = pte_modify(was, prot);
		if (watch)
			now = pte_mkuffd_wp(now);
		else if (unwatch)
			now = pte_clear_uffd_wp(now);
		if ((how & MM_CP_TRY_CHANGE_WRITABLE) && !pte_write(now) &&
		    can_change_pte_writable(area, at, now))
			now = pte_mkwrite(now, area);
		ptep_modify_prot_commit(area, at, slot, was, now);
		if (pte_needs_flush(was, now))
			tlb_flush_pte_range(mg, at, PAGE_SIZE);
		hits++;
	} while (slot++, at += PAGE_SIZE, at != stop);
	pte_unmap(slot - 1);
	return hits;
}
