/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fallbacks: what a batched PTE helper means when neither the tree nor the
 * architecture has one. Each is the single-PTE loop with the loop moved inside.
 *
 * Kbuild also hands this file out as <asm/pgtable_batch.h> of an architecture
 * without overrides, and <linux/pgtable.h> includes that one early, before the
 * single-PTE helpers exist. There is nothing to override then, so the file is
 * empty until <linux/pgtable_batch.h> asks for it.
 *
 * No loop here runs away for nr == 0; a debug kernel warns and does nothing.
 */
/* For a user of this header alone; on the way from there it does nothing. */
#include <linux/pgtable.h>

#if defined(_LINUX_PGTABLE_BATCH_H) && !defined(_ASM_GENERIC_PGTABLE_BATCH_H)
#define _ASM_GENERIC_PGTABLE_BATCH_H

/* A range of no entries is a caller's bug. */
static __always_inline bool ptes_nr_is_bad(unsigned int nr)
{
	return IS_ENABLED(CONFIG_DEBUG_VM) && WARN_ON_ONCE(!nr);
}

#ifndef pte_batch_hint
static inline unsigned int pte_batch_hint(pte_t *ptep, pte_t pte)
{
	return 1;
}

#define pte_batch_hint pte_batch_hint
#endif

#ifndef pte_advance_pfn
static inline pte_t pte_advance_pfn(pte_t pte, unsigned long nr)
{
	return pfn_pte(pte_pfn(pte) + nr, pte_pgprot(pte));
}

#define pte_advance_pfn pte_advance_pfn
#endif

#ifndef pte_next_pfn
#define pte_next_pfn(pte) pte_advance_pfn(pte, 1)
#endif

#ifndef set_ptes
static inline void set_ptes(struct mm_struct *mm, unsigned long addr,
			    pte_t *ptep, pte_t pte, unsigned int nr)
{
	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE, pte = pte_next_pfn(pte))
		set_pte_at(mm, addr, ptep, pte);
}

#define set_ptes set_ptes
#endif

#ifndef wrprotect_ptes
static inline void wrprotect_ptes(struct mm_struct *mm, unsigned long addr,
				  pte_t *ptep, unsigned int nr)
{
	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		ptep_set_wrprotect(mm, addr, ptep);
}

#define wrprotect_ptes wrprotect_ptes
#endif

/*
 * What a range as a whole is reported to be: accessed or dirty if any entry
 * was. Safe to ask only a clean entry to become dirty: pte_mkdirty() also sets
 * soft-dirty, and makes plain read-only of x86 shadow stack, which is dirty by
 * itself.
 */
static __always_inline pte_t ptes_collect_young_dirty(pte_t pte, pte_t next)
{
	if (pte_dirty(next) && !pte_dirty(pte)) {
		const bool soft_dirty = pte_soft_dirty(pte);

		pte = pte_mkdirty(pte);
		if (!soft_dirty)
			pte = pte_clear_soft_dirty(pte);
	}
	return pte_young(next) ? pte_mkyoung(pte) : pte;
}

#ifndef get_and_clear_full_ptes
static inline pte_t get_and_clear_full_ptes(struct mm_struct *mm,
					    unsigned long addr, pte_t *ptep,
					    unsigned int nr, int full)
{
	pte_t pte;

	if (ptes_nr_is_bad(nr))
		return __pte(0);
	pte = ptep_get_and_clear_full(mm, addr, ptep, full);
	while (nr > 1) {
		pte_t next;

		nr--;
		ptep++;
		addr += PAGE_SIZE;
		next = ptep_get_and_clear_full(mm, addr, ptep, full);
		pte = ptes_collect_young_dirty(pte, next);
	}
	return pte;
}

#define get_and_clear_full_ptes get_and_clear_full_ptes
#endif

#ifndef get_and_clear_ptes
static inline pte_t get_and_clear_ptes(struct mm_struct *mm, unsigned long addr,
				       pte_t *ptep, unsigned int nr)
{
	return get_and_clear_full_ptes(mm, addr, ptep, nr, /* full = */ 0);
}

#define get_and_clear_ptes get_and_clear_ptes
#endif

#ifndef clear_full_ptes
static inline void clear_full_ptes(struct mm_struct *mm, unsigned long addr,
				   pte_t *ptep, unsigned int nr, int full)
{
	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		ptep_get_and_clear_full(mm, addr, ptep, full);
}

#define clear_full_ptes clear_full_ptes
#endif

#ifndef clear_ptes
static inline void clear_ptes(struct mm_struct *mm, unsigned long addr,
			      pte_t *ptep, unsigned int nr)
{
	clear_full_ptes(mm, addr, ptep, nr, /* full = */ 0);
}

#define clear_ptes clear_ptes
#endif

#ifndef clear_nonpresent_ptes
static inline void clear_nonpresent_ptes(struct mm_struct *mm,
					 unsigned long addr, pte_t *ptep,
					 unsigned int nr)
{
	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		pte_clear_not_present_full(mm, addr, ptep, /* full = */ 0);
}

#define clear_nonpresent_ptes clear_nonpresent_ptes
#endif

#ifndef clear_young_dirty_ptes
static inline void clear_young_dirty_ptes(struct vm_area_struct *vma,
					  unsigned long addr, pte_t *ptep,
					  unsigned int nr, cydp_t flags)
{
	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte_t pte;

		if (flags == CYDP_CLEAR_YOUNG) {
			ptep_test_and_clear_young(vma, addr, ptep);
			continue;
		}
		pte = ptep_get_and_clear(vma->vm_mm, addr, ptep);
		if (flags & CYDP_CLEAR_YOUNG)
			pte = pte_mkold(pte);
		if (flags & CYDP_CLEAR_DIRTY)
			pte = pte_mkclean(pte);
		set_pte_at(vma->vm_mm, addr, ptep, pte);
	}
}

#define clear_young_dirty_ptes clear_young_dirty_ptes
#endif

#ifndef test_and_clear_young_ptes
static inline bool test_and_clear_young_ptes(struct vm_area_struct *vma,
					     unsigned long addr, pte_t *ptep,
					     unsigned int nr)
{
	bool young = false;

	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		young |= !!ptep_test_and_clear_young(vma, addr, ptep);
	return young;
}

#define test_and_clear_young_ptes test_and_clear_young_ptes
#endif

#ifndef clear_flush_young_ptes
static inline bool clear_flush_young_ptes(struct vm_area_struct *vma,
					  unsigned long addr, pte_t *ptep,
					  unsigned int nr)
{
	bool young = false;

	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		young |= !!ptep_clear_flush_young(vma, addr, ptep);
	return young;
}

#define clear_flush_young_ptes clear_flush_young_ptes
#endif

#ifndef modify_prot_start_ptes
static inline pte_t modify_prot_start_ptes(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep,
					   unsigned int nr)
{
	pte_t pte;

	if (ptes_nr_is_bad(nr))
		return __pte(0);
	pte = ptep_modify_prot_start(vma, addr, ptep);
	while (nr > 1) {
		pte_t next;

		nr--;
		ptep++;
		addr += PAGE_SIZE;
		next = ptep_modify_prot_start(vma, addr, ptep);
		pte = ptes_collect_young_dirty(pte, next);
	}
	return pte;
}

#define modify_prot_start_ptes modify_prot_start_ptes
#endif

#ifndef modify_prot_commit_ptes
static inline void modify_prot_commit_ptes(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep,
					   pte_t old_pte, pte_t pte,
					   unsigned int nr)
{
	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		ptep_modify_prot_commit(vma, addr, ptep, old_pte, pte);
		old_pte = pte_next_pfn(old_pte);
		pte = pte_next_pfn(pte);
	}
}

#define modify_prot_commit_ptes modify_prot_commit_ptes
#endif

/* Does nothing in this entry's own bits ask for a fault on the first write? */
static __always_inline bool modprot_may_write(pte_t pte, modprot_t flags)
{
	if (pte_protnone(pte))
		return false;
	if ((flags & MODPROT_SOFT_DIRTY_WP) && !pte_soft_dirty(pte))
		return false;
	if ((flags & MODPROT_KEEP_UFFD_WP) && pte_uffd_wp(pte))
		return false;
	return (flags & MODPROT_MKWRITE) || pte_dirty(pte);
}

static __always_inline pte_t modprot_pte(struct vm_area_struct *vma, pte_t pte,
					 pgprot_t newprot, modprot_t flags)
{
	pte = pte_modify(pte, newprot);
	if (flags & MODPROT_UFFD_WP)
		pte = pte_mkuffd_wp(pte);
	else if (flags & MODPROT_UFFD_WP_RESOLVE)
		pte = pte_clear_uffd_wp(pte);
	if ((flags & MODPROT_UFFD_RWP) && pte_uffd_wp(pte))
		pte = pte_modify(pte, PAGE_NONE);
	if (flags & MODPROT_MKYOUNG)
		pte = pte_mkyoung(pte);
	if ((flags & (MODPROT_MKWRITE | MODPROT_MKWRITE_DIRTY)) &&
	    !pte_write(pte) && modprot_may_write(pte, flags))
		pte = pte_mkwrite(pte, vma);
	return pte;
}

/* One entry per call: right on every architecture, whatever the entry is. */
static __always_inline unsigned int
generic_modify_prot_ptes(struct vm_area_struct *vma, unsigned long addr,
			 pte_t *ptep, unsigned int nr, pgprot_t newprot,
			 modprot_t flags, pte_t *old_pte, pte_t *new_pte)
{
	if (ptes_nr_is_bad(nr))
		return 0;
	*old_pte = ptep_modify_prot_start(vma, addr, ptep);
	*new_pte = modprot_pte(vma, *old_pte, newprot, flags);
	ptep_modify_prot_commit(vma, addr, ptep, *old_pte, *new_pte);
	return 1;
}

#ifndef modify_prot_ptes
#define modify_prot_ptes generic_modify_prot_ptes
#endif

static __always_inline pte_t saf_pte(struct vm_area_struct *vma, pte_t pte,
				     saf_t flags)
{
	/* To set dirty alone would make plain read-only of x86 shadow stack. */
	if ((flags & SAF_DIRTY) && pte_write(pte))
		flags |= SAF_WRITE;
	if (flags & SAF_YOUNG)
		pte = pte_mkyoung(pte);
	if (flags & SAF_DIRTY)
		pte = pte_mkdirty(pte);
	if (flags & SAF_WRITE)
		pte = pte_mkwrite(pte, vma);
	return pte;
}

static inline bool
generic_set_access_flags_ptes(struct vm_area_struct *vma, unsigned long addr,
			      pte_t *ptep, unsigned int nr, saf_t flags)
{
	bool changed = false;

	ptes_nr_is_bad(nr);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte_t entry = saf_pte(vma, ptep_get(ptep), flags);

		changed |= !!ptep_set_access_flags(vma, addr, ptep, entry, 1);
	}
	return changed;
}

#ifndef set_access_flags_ptes
#define set_access_flags_ptes generic_set_access_flags_ptes
#endif

/* 1 where set_access_flags_ptes() has flushed and nothing stale is left. */
#ifndef SET_ACCESS_FLAGS_PTES_FLUSHES
#define SET_ACCESS_FLAGS_PTES_FLUSHES 0
#endif

#ifndef pte_run_present
static inline unsigned int pte_run_present(pte_t *ptep, pte_t pte,
					   unsigned int max_nr)
{
	unsigned int nr = pte_batch_hint(ptep, pte);

	ptes_nr_is_bad(max_nr);
	while (nr < max_nr) {
		pte = ptep_get(ptep + nr);
		if (!pte_present(pte))
			break;
		nr += pte_batch_hint(ptep + nr, pte);
	}
	return min(nr, max_nr);
}

#define pte_run_present pte_run_present
#endif

#endif /* _LINUX_PGTABLE_BATCH_H && !_ASM_GENERIC_PGTABLE_BATCH_H */
