/* SPDX-License-Identifier: GPL-2.0 */
/*
 * um: no walker. The host's view of an address space is brought up to date by
 * a sync of the range that was marked; accessed and dirty are the fault
 * handler's, under the page table lock.
 */
#ifndef _ASM_PGTABLE_H
#define _ASM_PGTABLE_H

#include <linux/mm_types.h>

#define LAYOUT(name, value)	enum { name = (value) }
#include "layout/um.h"
#undef LAYOUT

#define PAGE_NONE		__pgprot(_PAGE_PROTNONE | _PAGE_ACCESSED)
#define UM_USER_PROT		(_PAGE_PRESENT | _PAGE_USER | _PAGE_ACCESSED)
#define PAGE_READONLY		__pgprot(UM_USER_PROT)
#define PAGE_READONLY_EXEC	PAGE_READONLY
#define PAGE_SHARED		__pgprot(UM_USER_PROT | _PAGE_RW)

static inline bool um_has(pte_t pte, u64 bits)
{
	return pte_val(pte) & bits;
}

static inline pte_t um_set(pte_t pte, u64 bits)
{
	return __pte(pte_val(pte) | bits);
}

static inline pte_t um_clear(pte_t pte, u64 bits)
{
	return __pte(pte_val(pte) & ~bits);
}

#define pte_present(pte)	um_has(pte, _PAGE_PRESENT | _PAGE_PROTNONE)
#define pte_young(pte)		um_has(pte, _PAGE_ACCESSED)
#define pte_dirty(pte)		um_has(pte, _PAGE_DIRTY)
#define pte_special(pte)	((void)(pte), 0)
#define pte_pfn(pte)		(pte_val(pte) >> PAGE_SHIFT)
#define pte_pgprot(pte)		__pgprot(pte_val(pte) & ~PAGE_MASK)
#define pfn_pte(pfn, prot)	__pte((u64)(pfn) << PAGE_SHIFT | pgprot_val(prot))

static inline bool pte_write(pte_t pte)
{
	return um_has(pte, _PAGE_RW) && !um_has(pte, _PAGE_PROTNONE);
}

#define pte_mkyoung(pte)	um_set(pte, _PAGE_ACCESSED)
#define pte_mkold(pte)		um_clear(pte, _PAGE_ACCESSED)
#define pte_mkdirty(pte)	um_set(pte, _PAGE_DIRTY)
#define pte_mkclean(pte)	um_clear(pte, _PAGE_DIRTY)

static inline pte_t pte_wrprotect(pte_t pte)
{
	if (!um_has(pte, _PAGE_RW))
		return pte;
	return um_set(um_clear(pte, _PAGE_RW), _PAGE_NEWPROT);
}

static inline pte_t pte_mkwrite(pte_t pte, struct vm_area_struct *vma)
{
	return um_has(pte, _PAGE_RW) ? pte : um_set(pte, _PAGE_RW | _PAGE_NEWPROT);
}

static inline pte_t pte_modify(pte_t pte, pgprot_t newprot)
{
	return __pte((pte_val(pte) & _PAGE_CHG_MASK) | pgprot_val(newprot));
}

/* What the host has to do for a page is said in its entry. */
static inline int pte_same(pte_t a, pte_t b)
{
	return !((pte_val(a) ^ pte_val(b)) & ~_PAGE_NEWPAGE);
}

#define pte_same pte_same

static inline void set_pte(pte_t *ptep, pte_t pte)
{
	pte = um_set(pte, _PAGE_NEWPAGE);
	if (pte_present(pte))
		pte = um_set(pte, _PAGE_NEWPROT);
	cell_store(&ptep->pte, pte_val(pte));
}

static inline void um_tlb_mark_sync(struct mm_struct *mm, unsigned long start,
				    unsigned long end)
{
	struct mm_context *context = &mm->context;

	if (!context->sync_tlb_range_to || start < context->sync_tlb_range_from)
		context->sync_tlb_range_from = start;
	if (end > context->sync_tlb_range_to)
		context->sync_tlb_range_to = end;
}

static inline void set_ptes(struct mm_struct *mm, unsigned long addr,
			    pte_t *ptep, pte_t pte, unsigned int nr)
{
	um_tlb_mark_sync(mm, addr, addr + nr * PAGE_SIZE);
	for (; nr; nr--, ptep++, pte = __pte(pte_val(pte) + PAGE_SIZE))
		set_pte(ptep, pte);
}

#define set_ptes set_ptes

static inline void pte_clear(struct mm_struct *mm, unsigned long addr,
			     pte_t *ptep)
{
	cell_store(&ptep->pte, _PAGE_NEWPAGE);
}

static inline pte_t ptep_get_and_clear(struct mm_struct *mm,
				       unsigned long addr, pte_t *ptep)
{
	pte_t pte = pte_load(ptep);

	pte_clear(mm, addr, ptep);
	return pte;
}

static inline void ptep_set_wrprotect(struct mm_struct *mm, unsigned long addr,
				      pte_t *ptep)
{
	set_ptes(mm, addr, ptep, pte_wrprotect(pte_load(ptep)), 1);
}

static inline int ptep_test_and_clear_young(struct vm_area_struct *vma,
					    unsigned long addr, pte_t *ptep)
{
	pte_t pte = pte_load(ptep);

	if (pte_young(pte))
		set_ptes(vma->vm_mm, addr, ptep, pte_mkold(pte), 1);
	return pte_young(pte);
}

/* A flush is a sync of the page. */
static inline int ptep_clear_flush_young(struct vm_area_struct *vma,
					 unsigned long addr, pte_t *ptep)
{
	int young = ptep_test_and_clear_young(vma, addr, ptep);

	if (young)
		um_tlb_mark_sync(vma->vm_mm, addr, addr + PAGE_SIZE);
	return young;
}

static inline int ptep_set_access_flags(struct vm_area_struct *vma,
					unsigned long addr, pte_t *ptep,
					pte_t entry, int dirty)
{
	if (pte_same(pte_load(ptep), entry))
		return 0;
	set_ptes(vma->vm_mm, addr, ptep, entry, 1);
	return 1;
}

#endif /* _ASM_PGTABLE_H */
