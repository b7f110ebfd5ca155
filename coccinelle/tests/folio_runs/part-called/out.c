// SPDX-License-Identifier: GPL-2.0
#include "internal.h"
#include <linux/folio_pte_batch.h>

/* How much of a folio follows. */
static int mprotect_folio_pte_batch(struct folio *whole, pte_t *slot, pte_t val,
				    int most, fpb_t respect)
{
	return whole ? folio_pte_batch_flags(whole, NULL, slot, &val, most, respect) : 1;
}

/* Called by others too. */
static __always_inline void prot_commit_flush_ptes(struct vm_area_struct *area,
		unsigned long at, pte_t *slot, pte_t was, pte_t is, int many,
		int skip, bool write, struct mmu_gather *mg)
{
	modify_prot_commit_ptes(area, at, slot, was, is, many);
	if (pte_needs_flush(was, is))
		tlb_flush_pte_range(mg, at, many * PAGE_SIZE);
}

static long walk(struct mmu_gather *mg, struct vm_area_struct *area, pte_t *slot,
		unsigned long at, unsigned long stop, pgprot_t prot, unsigned long what)
{
	bool hint = what & MM_CP_PROT_NUMA;
	long hits = 0;
	int many;
	pte_t val;

	do {
		many = 1;
		val = ptep_get(slot);
		if (pte_present(val)) {
			int most = (stop - at) >> PAGE_SHIFT;
			struct folio *whole = NULL;
			struct page *one;

			/* Nothing to do. */
			if (hint && pte_protnone(val))
				continue;

			/* NUMA hinting asks for the folio, and nothing else. */
			if (hint) {
				one = vm_normal_page(area, at, val);
				if (one)
					whole = page_folio(one);
			}

			/* Left where it is. */
			if (hint && !folio_can_move(whole, area)) {
				many = mprotect_folio_pte_batch(whole, slot, val, most, 0);
				continue;
			}

			/* One run; each entry keeps its own bits. */
			many = most;
			if (hint)
				many = folio_run_ptes(whole, slot, val, most);
			many = change_present_ptes(mg, area, at, slot, many,
						   prot, what);
			hits += many;
		}
	} while (slot += many, at += many * PAGE_SIZE, at != stop);
	return hits;
}

/* A vendor's own use of what the batch by folio was made of. */
void vendor_seal(struct mmu_gather *mg, struct vm_area_struct *area,
		 unsigned long at, pte_t *slot, pte_t was)
{
	prot_commit_flush_ptes(area, at, slot, was, pte_wrprotect(was), 1, 0,
			       false, mg);
}
