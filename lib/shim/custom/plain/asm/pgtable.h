/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A format as plain as can be, for the architectures that override nothing:
 * one bit for one thing, the hardware sets accessed and dirty in valid entries.
 */
#ifndef _ASM_PGTABLE_H
#define _ASM_PGTABLE_H

#include <linux/mm_types.h>

#define PAGE_SHIFT		12
#define PTRS_PER_PTE		512

#define PLAIN_VALID		(1UL << 0)
#define PLAIN_READ		(1UL << 1)
#define PLAIN_WRITE		(1UL << 2)
#define PLAIN_EXEC		(1UL << 3)
#define PLAIN_ACCESSED		(1UL << 4)
#define PLAIN_DIRTY		(1UL << 5)
#define PLAIN_SOFT_DIRTY	(1UL << 6)
#define PLAIN_UFFD_WP		(1UL << 7)
#define PLAIN_PROTNONE		(1UL << 8)
#define PLAIN_SPECIAL		(1UL << 9)
#define PLAIN_FRAME		(((1UL << 44) - 1) << 12)
#define PLAIN_KEPT		(PLAIN_FRAME | PLAIN_ACCESSED | PLAIN_DIRTY | \
				 PLAIN_SOFT_DIRTY | PLAIN_UFFD_WP | PLAIN_SPECIAL)

#define PAGE_NONE		__pgprot(PLAIN_PROTNONE)
#define PAGE_READONLY		__pgprot(PLAIN_VALID | PLAIN_READ)
#define PAGE_READONLY_EXEC	__pgprot(PLAIN_VALID | PLAIN_READ | PLAIN_EXEC)
#define PAGE_SHARED		__pgprot(PLAIN_VALID | PLAIN_READ | PLAIN_WRITE)

static inline bool plain_has(pte_t pte, pteval_t bits)
{
	return pte_val(pte) & bits;
}

static inline pte_t plain_set(pte_t pte, pteval_t bits)
{
	return __pte(pte_val(pte) | bits);
}

static inline pte_t plain_clear(pte_t pte, pteval_t bits)
{
	return __pte(pte_val(pte) & ~bits);
}

#define pte_present(pte)	plain_has(pte, PLAIN_VALID | PLAIN_PROTNONE)
#define pte_protnone(pte)	plain_has(pte, PLAIN_PROTNONE)
#define pte_young(pte)		plain_has(pte, PLAIN_ACCESSED)
#define pte_dirty(pte)		plain_has(pte, PLAIN_DIRTY)
#define pte_write(pte)		plain_has(pte, PLAIN_WRITE)
#define pte_special(pte)	plain_has(pte, PLAIN_SPECIAL)
#define pte_soft_dirty(pte)	plain_has(pte, PLAIN_SOFT_DIRTY)
#define pte_uffd_wp(pte)	plain_has(pte, PLAIN_UFFD_WP)
#define pte_pfn(pte)		((pte_val(pte) & PLAIN_FRAME) >> PAGE_SHIFT)
#define pte_pgprot(pte)		__pgprot(pte_val(pte) & ~PLAIN_FRAME)
#define pfn_pte(pfn, prot)	__pte((u64)(pfn) << PAGE_SHIFT | pgprot_val(prot))

#define pte_mkyoung(pte)	plain_set(pte, PLAIN_ACCESSED)
#define pte_mkold(pte)		plain_clear(pte, PLAIN_ACCESSED)
#define pte_mkdirty(pte)	plain_set(pte, PLAIN_DIRTY | PLAIN_SOFT_DIRTY)
#define pte_mkclean(pte)	plain_clear(pte, PLAIN_DIRTY)
#define pte_mkwrite(pte, vma)	plain_set(pte, PLAIN_WRITE)
#define pte_wrprotect(pte)	plain_clear(pte, PLAIN_WRITE)
#define pte_clear_soft_dirty(pte)	plain_clear(pte, PLAIN_SOFT_DIRTY)
#define pte_mkuffd_wp(pte)	pte_wrprotect(plain_set(pte, PLAIN_UFFD_WP))
#define pte_clear_uffd_wp(pte)	plain_clear(pte, PLAIN_UFFD_WP)

static inline pte_t pte_modify(pte_t pte, pgprot_t newprot)
{
	return __pte((pte_val(pte) & PLAIN_KEPT) | pgprot_val(newprot));
}

static inline void set_pte_at(struct mm_struct *mm, unsigned long addr,
			      pte_t *ptep, pte_t pte)
{
	cell_store(&ptep->pte, pte_val(pte));
}

#define set_pte_at set_pte_at

static inline pte_t ptep_get_and_clear(struct mm_struct *mm,
				       unsigned long addr, pte_t *ptep)
{
	return __pte(cell_xchg(&ptep->pte, 0));
}

static inline void pte_clear(struct mm_struct *mm, unsigned long addr,
			     pte_t *ptep)
{
	cell_store(&ptep->pte, 0);
}

static inline void ptep_set_wrprotect(struct mm_struct *mm, unsigned long addr,
				      pte_t *ptep)
{
	cell_change(&ptep->pte, PLAIN_WRITE, 0);
}

static inline int ptep_test_and_clear_young(struct vm_area_struct *vma,
					    unsigned long addr, pte_t *ptep)
{
	return !!(cell_change(&ptep->pte, PLAIN_ACCESSED, 0) & PLAIN_ACCESSED);
}

static inline int ptep_clear_flush_young(struct vm_area_struct *vma,
					 unsigned long addr, pte_t *ptep)
{
	int young = ptep_test_and_clear_young(vma, addr, ptep);

	if (young)
		mmu_flush(addr, addr + PAGE_SIZE, false);
	return young;
}

/* Rights only grow, so that what the hardware sets meanwhile is kept. */
static inline int ptep_set_access_flags(struct vm_area_struct *vma,
					unsigned long addr, pte_t *ptep,
					pte_t entry, int dirty)
{
	u64 old = cell_load(&ptep->pte);

	if (old == pte_val(entry))
		return 0;
	cell_change(&ptep->pte, 0, pte_val(entry) & ~old);
	return 1;
}

static inline bool pte_needs_flush(pte_t oldpte, pte_t newpte)
{
	const u64 loss = PLAIN_VALID | PLAIN_READ | PLAIN_WRITE | PLAIN_EXEC |
			 PLAIN_DIRTY;

	return pte_val(oldpte) & ~pte_val(newpte) & loss;
}

#define pte_needs_flush pte_needs_flush

#endif /* _ASM_PGTABLE_H */
