/* SPDX-License-Identifier: GPL-2.0 */
/*
 * powerpc, 64-bit Book3S: radix by the Power ISA 3.1, Book III, 6.7.10, and
 * hash, where an entry is Linux's own and says where its hash entry is. Which
 * of the two is a question at run time, as in the kernel.
 */
#ifndef _ASM_PGTABLE_H
#define _ASM_PGTABLE_H

#include <linux/mm_types.h>

#define LAYOUT(name, value)	enum { name = (value) }
#include "layout/powerpc.h"
#undef LAYOUT

#define PTRS_PER_PTE		512
#define CPU_FTR_ARCH_31		1

/* The mode under test. */
static bool ppc_radix, ppc_isa31;

static inline bool radix_enabled(void)
{
	return ppc_radix;
}

static inline bool cpu_has_feature(int feature)
{
	return feature == CPU_FTR_ARCH_31 && ppc_isa31;
}

#define PPC_USER_PROT		(_PAGE_PRESENT | _PAGE_ACCESSED)
#define PAGE_NONE		__pgprot(PPC_USER_PROT)
#define PAGE_READONLY		__pgprot(PPC_USER_PROT | _PAGE_READ)
#define PAGE_READONLY_EXEC	__pgprot(PPC_USER_PROT | _PAGE_READ | _PAGE_EXEC)
#define PAGE_SHARED		__pgprot(PPC_USER_PROT | _PAGE_RW)

static inline bool ppc_has(pte_t pte, u64 bits)
{
	return pte_val(pte) & bits;
}

static inline pte_t ppc_set(pte_t pte, u64 bits)
{
	return __pte(pte_val(pte) | bits);
}

static inline pte_t ppc_clear(pte_t pte, u64 bits)
{
	return __pte(pte_val(pte) & ~bits);
}

#define pte_young(pte)		ppc_has(pte, _PAGE_ACCESSED)
#define pte_dirty(pte)		ppc_has(pte, _PAGE_DIRTY)
#define pte_write(pte)		ppc_has(pte, _PAGE_WRITE)
#define pte_special(pte)	ppc_has(pte, _PAGE_SPECIAL)
#define pte_soft_dirty(pte)	ppc_has(pte, _PAGE_SOFT_DIRTY)
#define pte_pfn(pte)		((pte_val(pte) & PTE_RPN_MASK) >> PAGE_SHIFT)
#define pte_pgprot(pte)		__pgprot(pte_val(pte) & ~PTE_RPN_MASK)

static inline bool ppc_hw_valid(u64 val)
{
	return (val & (_PAGE_PRESENT | _PAGE_PTE)) == (_PAGE_PRESENT | _PAGE_PTE);
}

/* An entry under change is invalid to the hardware, and present to us. */
static inline bool pte_present(pte_t pte)
{
	return ppc_hw_valid(pte_val(pte)) ||
	       (pte_val(pte) & (_PAGE_INVALID | _PAGE_PTE)) ==
	       (_PAGE_INVALID | _PAGE_PTE);
}

static inline bool pte_protnone(pte_t pte)
{
	return ppc_hw_valid(pte_val(pte)) && !ppc_has(pte, _PAGE_RWX);
}

#define pte_protnone pte_protnone

static inline pte_t pfn_pte(unsigned long pfn, pgprot_t prot)
{
	return __pte((u64)pfn << PAGE_SHIFT | pgprot_val(prot) | _PAGE_PTE);
}

#define pte_mkyoung(pte)	ppc_set(pte, _PAGE_ACCESSED)
#define pte_mkold(pte)		ppc_clear(pte, _PAGE_ACCESSED)
#define pte_mkdirty(pte)	ppc_set(pte, _PAGE_DIRTY | _PAGE_SOFT_DIRTY)
#define pte_mkclean(pte)	ppc_clear(pte, _PAGE_DIRTY)
#define pte_mkwrite(pte, vma)	ppc_set(pte, _PAGE_RW)
#define pte_wrprotect(pte)	ppc_clear(pte, _PAGE_WRITE)
#define pte_clear_soft_dirty(pte)	ppc_clear(pte, _PAGE_SOFT_DIRTY)

static inline pte_t pte_modify(pte_t pte, pgprot_t newprot)
{
	return __pte((pte_val(pte) & _PAGE_CHG_MASK) | pgprot_val(newprot));
}

/* Where the hash entry is belongs to one entry, and is not compared. */
static inline int pte_same(pte_t a, pte_t b)
{
	const u64 differs = pte_val(a) ^ pte_val(b);

	return !(ppc_radix ? differs : differs & ~_PAGE_HPTEFLAGS);
}

#define pte_same pte_same

static inline bool is_pte_rw_upgrade(u64 old, u64 new)
{
	return old & _PAGE_READ && !(old & _PAGE_WRITE) && new & _PAGE_WRITE;
}

static inline u64 __radix_pte_update(pte_t *ptep, u64 clear, u64 set)
{
	return ppc_swab(cell_change(&ptep->pte, ppc_swab(clear), ppc_swab(set)));
}

/* The hash fault handler holds an entry by its busy bit: wait for it. */
static inline u64 hash_pte_update(unsigned long addr, pte_t *ptep, u64 clear,
				  u64 set)
{
	u64 old = cell_load(&ptep->pte), val;

	for (;;) {
		val = ppc_swab(old);
		if (val & H_PAGE_BUSY) {
			mmu_wait(&ptep->pte);
			old = cell_load(&ptep->pte);
		} else if (cell_cmpxchg(&ptep->pte, &old,
					ppc_swab((val & ~clear) | set))) {
			break;
		}
	}
	if (clear && val & H_PAGE_HASHPTE)
		mmu_flush(addr, addr + PAGE_SIZE, false);
	return val;
}

static inline u64 pte_update(unsigned long addr, pte_t *ptep, u64 clear, u64 set)
{
	return ppc_radix ? __radix_pte_update(ptep, clear, set) :
			   hash_pte_update(addr, ptep, clear, set);
}

static inline void set_ptes(struct mm_struct *mm, unsigned long addr,
			    pte_t *ptep, pte_t pte, unsigned int nr)
{
	if (!ppc_radix)
		pte = ppc_clear(pte, _PAGE_HPTEFLAGS);
	pte = ppc_set(pte, _PAGE_PTE);
	for (; nr; nr--, ptep++, pte = __pte(pte_val(pte) + PAGE_SIZE))
		cell_store(&ptep->pte, pte.pte);
}

#define set_ptes set_ptes

static inline pte_t ptep_get_and_clear(struct mm_struct *mm,
				       unsigned long addr, pte_t *ptep)
{
	return __pte(pte_update(addr, ptep, ~0UL, 0));
}

static inline pte_t ptep_get_and_clear_full(struct mm_struct *mm,
					    unsigned long addr, pte_t *ptep,
					    int full)
{
	pte_t pte;

	if (!full || !ppc_radix)
		return ptep_get_and_clear(mm, addr, ptep);
	pte = pte_load(ptep);
	cell_store(&ptep->pte, 0);
	return pte;
}

#define ptep_get_and_clear_full ptep_get_and_clear_full

static inline void pte_clear(struct mm_struct *mm, unsigned long addr,
			     pte_t *ptep)
{
	pte_update(addr, ptep, ~0UL, 0);
}

static inline void ptep_set_wrprotect(struct mm_struct *mm, unsigned long addr,
				      pte_t *ptep)
{
	if (pte_write(pte_load(ptep)))
		pte_update(addr, ptep, _PAGE_WRITE, 0);
}

static inline int ptep_test_and_clear_young(struct vm_area_struct *vma,
					    unsigned long addr, pte_t *ptep)
{
	if (!ppc_has(pte_load(ptep), _PAGE_ACCESSED | H_PAGE_HASHPTE))
		return 0;
	return !!(pte_update(addr, ptep, _PAGE_ACCESSED, 0) & _PAGE_ACCESSED);
}

#define ptep_clear_flush_young ptep_test_and_clear_young

static inline void radix__flush_tlb_range(struct vm_area_struct *vma,
					  unsigned long start, unsigned long end)
{
	mmu_flush(start, end, false);
}

static inline bool ppc_nest_mmu(struct vm_area_struct *vma)
{
	return !ppc_isa31 && atomic_read(&vma->vm_mm->context.copros) > 0;
}

/* A nest MMU takes up more rights only from an entry that was invalid. */
static inline void radix_set_access_flags(struct vm_area_struct *vma,
					  unsigned long addr, pte_t *ptep,
					  u64 old, u64 set)
{
	if (!(ppc_nest_mmu(vma) && (old ^ (old | set)) & _PAGE_RW)) {
		__radix_pte_update(ptep, 0, set);
		return;
	}
	__radix_pte_update(ptep, _PAGE_PRESENT, _PAGE_INVALID);
	mmu_flush(addr, addr + PAGE_SIZE, false);
	__radix_pte_update(ptep, _PAGE_INVALID, _PAGE_PRESENT | set);
}

static inline int ptep_set_access_flags(struct vm_area_struct *vma,
					unsigned long addr, pte_t *ptep,
					pte_t entry, int dirty)
{
	const u64 set = pte_val(entry) & (_PAGE_DIRTY | _PAGE_SOFT_DIRTY |
					  _PAGE_ACCESSED | _PAGE_RW | _PAGE_EXEC);
	pte_t pte = pte_load(ptep);

	if (pte_same(pte, entry))
		return 0;
	if (ppc_radix)
		radix_set_access_flags(vma, addr, ptep, pte_val(pte), set);
	else
		hash_pte_update(addr, ptep, 0, set);
	return 1;
}

static inline pte_t ptep_modify_prot_start(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep)
{
	return __pte(pte_update(addr, ptep, _PAGE_PRESENT, _PAGE_INVALID));
}

#define ptep_modify_prot_start ptep_modify_prot_start

static inline void ptep_modify_prot_commit(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep,
					   pte_t old_pte, pte_t pte)
{
	if (ppc_radix && ppc_nest_mmu(vma) &&
	    is_pte_rw_upgrade(pte_val(old_pte), pte_val(pte)))
		mmu_flush(addr, addr + PAGE_SIZE, false);
	set_ptes(vma->vm_mm, addr, ptep, pte, 1);
}

/* Only radix decides; hash has flushed, or queued it, by then. */
static inline bool pte_needs_flush(pte_t oldpte, pte_t newpte)
{
	const u64 old = pte_val(oldpte), delta = old ^ pte_val(newpte);
	const u64 free = _PAGE_RWX | _PAGE_DIRTY | _PAGE_ACCESSED;

	return !ppc_radix || delta & ~free || delta & ~_PAGE_ACCESSED & old;
}

#define pte_needs_flush pte_needs_flush

#endif /* _ASM_PGTABLE_H */
