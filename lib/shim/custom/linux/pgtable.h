/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tree that has no batched helper but those of its architecture, in the
 * order that the series gives a real one: types, the architecture, overrides,
 * the tree's own single-PTE defaults, fallbacks, prototypes.
 */
#ifndef _LINUX_PGTABLE_H
#define _LINUX_PGTABLE_H

/*
 * The list in the checkout is that of 6.12. Of all names in it, this tree has
 * what <asm/pgtable.h> defines below.
 */
#include <linux/pgtable_batch_compat.h>
#undef pte_batch_hint
#undef pte_advance_pfn
#undef set_ptes
#undef wrprotect_ptes
#undef clear_young_dirty_ptes
#undef get_and_clear_full_ptes
#undef clear_full_ptes

#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/mm_types.h>
#include <asm/pgtable.h>
#include <asm/pgtable_batch.h>

#define pte_index(addr)		(((addr) >> PAGE_SHIFT) & (PTRS_PER_PTE - 1))

#ifndef ptep_get
static inline pte_t ptep_get(pte_t *ptep)
{
	return pte_load(ptep);
}

#define ptep_get ptep_get
#endif

#ifndef pte_none
static inline int pte_none(pte_t pte)
{
	return !pte_val(pte);
}
#endif

#ifndef pte_same
static inline int pte_same(pte_t a, pte_t b)
{
	return pte_val(a) == pte_val(b);
}
#endif

#ifndef set_pte_at
#define set_pte_at(mm, addr, ptep, pte)	set_ptes(mm, addr, ptep, pte, 1)
#endif

#ifndef ptep_get_and_clear_full
static inline pte_t ptep_get_and_clear_full(struct mm_struct *mm,
					    unsigned long addr, pte_t *ptep,
					    int full)
{
	return ptep_get_and_clear(mm, addr, ptep);
}
#endif

#ifndef pte_clear_not_present_full
static inline void pte_clear_not_present_full(struct mm_struct *mm,
					      unsigned long addr, pte_t *ptep,
					      int full)
{
	pte_clear(mm, addr, ptep);
}
#endif

#ifndef ptep_modify_prot_start
static inline pte_t ptep_modify_prot_start(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep)
{
	return ptep_get_and_clear(vma->vm_mm, addr, ptep);
}

static inline void ptep_modify_prot_commit(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep,
					   pte_t old_pte, pte_t pte)
{
	set_pte_at(vma->vm_mm, addr, ptep, pte);
}
#endif

#ifndef pte_uffd_wp
static inline int pte_uffd_wp(pte_t pte)
{
	return 0;
}

static inline pte_t pte_mkuffd_wp(pte_t pte)
{
	return pte;
}

static inline pte_t pte_clear_uffd_wp(pte_t pte)
{
	return pte;
}
#endif

#ifndef pte_soft_dirty
static inline int pte_soft_dirty(pte_t pte)
{
	return 0;
}

static inline pte_t pte_clear_soft_dirty(pte_t pte)
{
	return pte;
}
#endif

#ifndef pte_protnone
static inline int pte_protnone(pte_t pte)
{
	return 0;
}
#endif

#include <linux/pgtable_batch.h>

#endif /* _LINUX_PGTABLE_H */
