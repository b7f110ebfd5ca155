/* SPDX-License-Identifier: GPL-2.0 */
/*
 * powerpc: what may be done better than the single-PTE loop.
 *
 * Only 64-bit Book3S overrides anything, and only under the radix MMU. Hash
 * keeps, in each Linux entry, where its own hash entry is: those bits must not
 * go from one entry to another, and each update is queued for its own flush,
 * so the single-PTE loop stays. 32-bit and 8xx (whose entry is four cells and
 * no number) take the fallbacks as they are.
 *
 * Starting a change leaves an entry that is invalid to the hardware but still
 * pte_present(), with accessed and dirty in place: not cleared. Committing it
 * must not look like a new mapping to page table checking, so commits go
 * through ptep_modify_prot_commit(), never through set_ptes().
 */
/* For a user of this header alone; on the way from there it does nothing. */
#include <linux/pgtable.h>

#ifndef _ASM_POWERPC_PGTABLE_BATCH_H
#define _ASM_POWERPC_PGTABLE_BATCH_H

#if !defined(__ASSEMBLY__) && !defined(PTE_BATCH_FORCE_GENERIC) && \
	defined(CONFIG_PPC_BOOK3S_64)

#include <linux/mm_types.h>
#include <linux/pgtable_batch_types.h>
#include <asm/cputable.h>
#include <asm/mmu.h>

void radix__flush_tlb_range(struct vm_area_struct *vma, unsigned long start,
			    unsigned long end);

static inline pte_t ptep_get(pte_t *ptep);
static inline pte_t pte_advance_pfn(pte_t pte, unsigned long nr);
static __always_inline pte_t modprot_pte(struct vm_area_struct *vma, pte_t pte,
					 pgprot_t newprot, modprot_t flags);
static __always_inline unsigned int
generic_modify_prot_ptes(struct vm_area_struct *vma, unsigned long addr,
			 pte_t *ptep, unsigned int nr, pgprot_t newprot,
			 modprot_t flags, pte_t *old_pte, pte_t *new_pte);
static __always_inline pte_t saf_pte(struct vm_area_struct *vma, pte_t pte,
				     saf_t flags);
static inline bool
generic_set_access_flags_ptes(struct vm_area_struct *vma, unsigned long addr,
			      pte_t *ptep, unsigned int nr, saf_t flags);

/*
 * The nest MMU of POWER9 does not take up a relaxed entry by itself: the entry
 * has to be invalid, then flushed, before it may grow rights (Power ISA 3.1,
 * Book III, 6.10.1.2 "Modifying a Translation Table Entry" is followed by
 * POWER10 on). The single-PTE loop flushes page by page; a range between the
 * two halves does the same work once.
 */
static inline bool powerpc_nmmu_in_use(struct vm_area_struct *vma)
{
	return radix_enabled() && !cpu_has_feature(CPU_FTR_ARCH_31) &&
	       atomic_read(&vma->vm_mm->context.copros) > 0;
}

static inline void powerpc_modify_prot_commit_ptes(struct vm_area_struct *vma,
						   unsigned long addr,
						   pte_t *ptep, pte_t old_pte,
						   pte_t pte, unsigned int nr)
{
	/*
	 * Safe because the flush that a commit of an upgrade would do is done
	 * here, for all: the single commits are told that nothing grows.
	 */
	if (nr > 1 && powerpc_nmmu_in_use(vma) &&
	    is_pte_rw_upgrade(pte_val(old_pte), pte_val(pte))) {
		radix__flush_tlb_range(vma, addr, addr + nr * PAGE_SIZE);
		old_pte = pte;
	}
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		ptep_modify_prot_commit(vma, addr, ptep, old_pte, pte);
		old_pte = pte_advance_pfn(old_pte, 1);
		pte = pte_advance_pfn(pte, 1);
	}
}

#define modify_prot_commit_ptes powerpc_modify_prot_commit_ptes

static inline unsigned int
powerpc_modify_prot_ptes(struct vm_area_struct *vma, unsigned long addr,
			 pte_t *ptep, unsigned int nr, pgprot_t newprot,
			 modprot_t flags, pte_t *old_pte, pte_t *new_pte)
{
	unsigned int i;

	if (likely(nr <= 1 || !powerpc_nmmu_in_use(vma)))
		return generic_modify_prot_ptes(vma, addr, ptep, nr, newprot,
						flags, old_pte, new_pte);

	*old_pte = ptep_modify_prot_start(vma, addr, ptep);
	*new_pte = modprot_pte(vma, *old_pte, newprot, flags);
	for (i = 1; i < nr; i++) {
		unsigned long next = addr + i * PAGE_SIZE;
		pte_t want = pte_advance_pfn(*old_pte, i), got;

		if (!pte_same(ptep_get(ptep + i), want))
			break;
		got = ptep_modify_prot_start(vma, next, ptep + i);
		if (pte_same(got, want))
			continue;
		/* The hardware was faster: put it back, it differs now. */
		ptep_modify_prot_commit(vma, next, ptep + i, got, got);
		break;
	}
	powerpc_modify_prot_commit_ptes(vma, addr, ptep, *old_pte, *new_pte, i);
	return i;
}

#define modify_prot_ptes powerpc_modify_prot_ptes

static inline bool powerpc_set_access_flags_ptes(struct vm_area_struct *vma,
						 unsigned long addr,
						 pte_t *ptep, unsigned int nr,
						 saf_t flags)
{
	const unsigned long may_grow = _PAGE_DIRTY | _PAGE_SOFT_DIRTY |
				       _PAGE_ACCESSED | _PAGE_RW | _PAGE_EXEC;
	bool nmmu, changed = false;
	unsigned int i;

	if (!radix_enabled())
		return generic_set_access_flags_ptes(vma, addr, ptep, nr,
						     flags);

	nmmu = (flags & SAF_WRITE) && powerpc_nmmu_in_use(vma);
	if (nmmu) {
		for (i = 0; i < nr; i++)
			__radix_pte_update(ptep + i, _PAGE_PRESENT,
					   _PAGE_INVALID);
		radix__flush_tlb_range(vma, addr, addr + nr * PAGE_SIZE);
	}
	for (i = 0; i < nr; i++) {
		pte_t pte = ptep_get(ptep + i);
		unsigned long set = pte_val(saf_pte(vma, pte, flags)) & may_grow;

		set &= ~pte_val(pte);
		changed |= set != 0;
		if (nmmu)
			__radix_pte_update(ptep + i, _PAGE_INVALID,
					   _PAGE_PRESENT | set);
		else if (set)
			__radix_pte_update(ptep + i, 0, set);
	}
	return changed;
}

#define set_access_flags_ptes powerpc_set_access_flags_ptes

#endif /* !__ASSEMBLY__ && !PTE_BATCH_FORCE_GENERIC && CONFIG_PPC_BOOK3S_64 */
#endif /* _ASM_POWERPC_PGTABLE_BATCH_H */
