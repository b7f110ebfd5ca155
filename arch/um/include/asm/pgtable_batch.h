/* SPDX-License-Identifier: GPL-2.0 */
/*
 * um: what may be done better than the single-PTE loop.
 *
 * There is no hardware walker: accessed and dirty are set by the fault handler
 * under the page table lock, so that the table cannot change behind our back.
 * An entry can be replaced without being cleared first, and the host's view of
 * the range has to be marked for a sync once, not for each page.
 */
/* For a user of this header alone; on the way from there it does nothing. */
#include <linux/pgtable.h>

#ifndef _ASM_UM_PGTABLE_BATCH_H
#define _ASM_UM_PGTABLE_BATCH_H

#if !defined(__ASSEMBLY__) && !defined(PTE_BATCH_FORCE_GENERIC)

#include <linux/mm_types.h>
#include <linux/pgtable_batch_types.h>

static __always_inline pte_t modprot_pte(struct vm_area_struct *vma, pte_t pte,
					 pgprot_t newprot, modprot_t flags);
static __always_inline bool ptes_nr_is_bad(unsigned int nr);
static inline pte_t ptep_get(pte_t *ptep);
static inline pte_t pte_advance_pfn(pte_t pte, unsigned long nr);

static inline unsigned int
um_modify_prot_ptes(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep,
		    unsigned int nr, pgprot_t newprot, modprot_t flags,
		    pte_t *old_pte, pte_t *new_pte)
{
	unsigned int i;

	if (ptes_nr_is_bad(nr))
		return 0;
	*old_pte = ptep_get(ptep);
	*new_pte = modprot_pte(vma, *old_pte, newprot, flags);
	set_pte(ptep, *new_pte);

	for (i = 1; i < nr; i++) {
		if (!pte_same(ptep_get(ptep + i), pte_advance_pfn(*old_pte, i)))
			break;
		set_pte(ptep + i, pte_advance_pfn(*new_pte, i));
	}
	um_tlb_mark_sync(vma->vm_mm, addr, addr + i * PAGE_SIZE);
	return i;
}

#define modify_prot_ptes um_modify_prot_ptes

#endif /* !__ASSEMBLY__ && !PTE_BATCH_FORCE_GENERIC */
#endif /* _ASM_UM_PGTABLE_BATCH_H */
