/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arm64 with 4K pages and contpte, by the Arm ARM DDI 0487, D8.3 (format),
 * D8.5 (accessed and dirty by hardware) and D8.7.1 (contiguous bit), and by
 * what Linux promises of its contpte helpers.
 */
#ifndef _ASM_PGTABLE_H
#define _ASM_PGTABLE_H

#include <linux/mm_types.h>

#define LAYOUT(name, value)	enum { name = (value) }
#include "layout/arm64.h"
#undef LAYOUT

#define CONT_BLOCK_MASK		(CONT_PTES - 1UL)

/* The mode under test. */
static bool arm64_erratum_2645198;
static bool page_table_check_disabled = true;

#define ARM64_WORKAROUND_2645198	arm64_erratum_2645198
#define alternative_has_cap_unlikely(cap)	(cap)
#define static_branch_likely(key)	(*(key))

#define ARM64_USER		(PTE_TYPE_PAGE | PTE_AF | PTE_SHARED | PTE_USER | \
				 PTE_RDONLY | PTE_NG | PTE_PXN)
#define PAGE_READONLY_EXEC	__pgprot(ARM64_USER)
#define PAGE_READONLY		__pgprot(ARM64_USER | PTE_UXN)
#define PAGE_SHARED		__pgprot(ARM64_USER | PTE_UXN | PTE_WRITE)
#define PAGE_NONE		__pgprot((ARM64_USER & ~(PTE_VALID | PTE_USER)) | \
					 PTE_PRESENT_INVALID | PTE_UXN)
/* What pte_modify() takes from the new protection. */
#define ARM64_MODIFIED		(PTE_USER | PTE_PXN | PTE_UXN | PTE_RDONLY | \
				 PTE_PRESENT_INVALID | PTE_VALID | PTE_WRITE | \
				 PTE_GP | PTE_ATTRINDX_MASK)

static inline bool arm64_has(pte_t pte, u64 bits)
{
	return pte_val(pte) & bits;
}

static inline pte_t arm64_set(pte_t pte, u64 bits)
{
	return __pte(pte_val(pte) | bits);
}

static inline pte_t arm64_clear(pte_t pte, u64 bits)
{
	return __pte(pte_val(pte) & ~bits);
}

#define pte_valid(pte)		arm64_has(pte, PTE_VALID)
#define pte_young(pte)		arm64_has(pte, PTE_AF)
#define pte_write(pte)		arm64_has(pte, PTE_WRITE)
#define pte_special(pte)	arm64_has(pte, PTE_SPECIAL)
#define pte_uffd_wp(pte)	arm64_has(pte, PTE_UFFD_WP)
#define pte_user_exec(pte)	(!arm64_has(pte, PTE_UXN))
/* Memory with tags has a type of its own, which nothing here has. */
#define pte_tagged(pte)		((void)(pte), false)
#define pte_cont(pte)		arm64_has(pte, PTE_CONT)
#define pte_pfn(pte)		((pte_val(pte) & PTE_ADDR_LOW) >> PAGE_SHIFT)
#define pte_pgprot(pte)		__pgprot(pte_val(pte) & ~PTE_ADDR_LOW)
#define pfn_pte(pfn, prot)	__pte((u64)(pfn) << PAGE_SHIFT | pgprot_val(prot))

static inline bool pte_present_invalid(pte_t pte)
{
	return !pte_valid(pte) && arm64_has(pte, PTE_PRESENT_INVALID);
}

static inline bool pte_present(pte_t pte)
{
	return arm64_has(pte, PTE_VALID | PTE_PRESENT_INVALID);
}

static inline bool pte_protnone(pte_t pte)
{
	return pte_present_invalid(pte) &&
	       (pte_val(pte) & (PTE_USER | PTE_UXN)) == PTE_UXN;
}

#define pte_protnone pte_protnone

static inline bool arm64_hw_dirty(pte_t pte)
{
	return (pte_val(pte) & (PTE_WRITE | PTE_RDONLY)) == PTE_WRITE;
}

static inline bool pte_dirty(pte_t pte)
{
	return arm64_has(pte, PTE_DIRTY) || arm64_hw_dirty(pte);
}

static inline bool pte_valid_cont(pte_t pte)
{
	return pte_valid(pte) && pte_cont(pte);
}

#define pte_mkyoung(pte)	arm64_set(pte, PTE_AF)
#define pte_mkold(pte)		arm64_clear(pte, PTE_AF)
#define pte_mkclean(pte)	arm64_set(arm64_clear(pte, PTE_DIRTY), PTE_RDONLY)
#define pte_mkcont(pte)		arm64_set(pte, PTE_CONT)
#define pte_mknoncont(pte)	arm64_clear(pte, PTE_CONT)
#define pte_clear_uffd_wp(pte)	arm64_clear(pte, PTE_UFFD_WP)
#define pte_mkuffd_wp(pte)	pte_wrprotect(arm64_set(pte, PTE_UFFD_WP))

static inline pte_t pte_mkdirty(pte_t pte)
{
	pte = arm64_set(pte, PTE_DIRTY);
	return pte_write(pte) ? arm64_clear(pte, PTE_RDONLY) : pte;
}

/* Only what is dirty already is writable to the hardware at once. */
static inline pte_t pte_mkwrite(pte_t pte, struct vm_area_struct *vma)
{
	pte = arm64_set(pte, PTE_WRITE);
	return arm64_has(pte, PTE_DIRTY) ? arm64_clear(pte, PTE_RDONLY) : pte;
}

/* The hardware's way to say dirty goes with the write bit: keep ours. */
static inline pte_t pte_wrprotect(pte_t pte)
{
	if (arm64_hw_dirty(pte))
		pte = arm64_set(pte, PTE_DIRTY);
	return arm64_set(arm64_clear(pte, PTE_WRITE), PTE_RDONLY);
}

static inline pte_t pte_modify(pte_t pte, pgprot_t newprot)
{
	if (arm64_hw_dirty(pte))
		pte = arm64_set(pte, PTE_DIRTY);
	pte = __pte((pte_val(pte) & ~ARM64_MODIFIED) |
		    (pgprot_val(newprot) & ARM64_MODIFIED));
	return arm64_has(pte, PTE_DIRTY) ? pte_mkdirty(pte) : pte;
}

static inline pte_t pte_advance_pfn(pte_t pte, unsigned long nr)
{
	return pfn_pte(pte_pfn(pte) + nr, pte_pgprot(pte));
}

#define pte_advance_pfn pte_advance_pfn

static inline void arm64_flush(unsigned long addr, unsigned long end)
{
	mmu_flush(addr, end, false);
}

#define __flush_tlb_range(vma, addr, end, stride, last_level, tlb_level) \
	((void)(stride), (void)(last_level), (void)(tlb_level), \
	 arm64_flush(addr, end))

/* One entry as it stands there, whatever block it may belong to. */
static inline pte_t __ptep_get(pte_t *ptep)
{
	return pte_load(ptep);
}

/* Before a page may be executed its instructions have to reach memory. */
static inline void arm64_sync_icache(pte_t *ptep, pte_t pte)
{
	if (pte_present(pte) && pte_user_exec(pte) && !pte_special(pte))
		mmu_sync(&ptep->pte);
}

/* One entry at least, or there is no end. */
static inline void __set_ptes(struct mm_struct *mm, unsigned long addr,
			      pte_t *ptep, pte_t pte, unsigned int nr)
{
	if (mmu_endless(nr))
		return;
	for (; nr; nr--, ptep++, pte = pte_advance_pfn(pte, 1)) {
		arm64_sync_icache(ptep, pte);
		cell_store(&ptep->pte, pte_val(pte));
	}
}

/* The header alone changes an entry in place by these: an update of its own. */
#define WRITE_ONCE(x, val)	\
	cell_store(arm64_own_update(&(x).pte), pte_val(val))
#define try_cmpxchg_relaxed(ptr, old, new)	\
	cell_cmpxchg(arm64_own_update(ptr), old, new)

static inline u64 *arm64_own_update(u64 *cell)
{
	if (!page_table_check_disabled)
		mmu.bad = "an update was hidden from who has to see it";
	return cell;
}

static inline pte_t __ptep_get_and_clear(pte_t *ptep)
{
	return __pte(cell_xchg(&ptep->pte, 0));
}

/* More rights only: read-only is a bit that may go, the others may come. */
static inline int __ptep_set_access_flags(struct vm_area_struct *vma,
					  unsigned long addr, pte_t *ptep,
					  pte_t entry, int dirty)
{
	const u64 come = pte_val(entry) & (PTE_AF | PTE_WRITE | PTE_DIRTY);
	const u64 go = ~pte_val(entry) & PTE_RDONLY;
	u64 old = cell_load(&ptep->pte);

	if (old == pte_val(entry))
		return 0;
	while (!cell_cmpxchg(&ptep->pte, &old, (old & ~go) | come))
		;
	if (dirty)
		arm64_flush(addr, addr + PAGE_SIZE);
	return 1;
}

#include <asm/contpte.h>

#define dsb(kind)		((void)0)
#define ASID(mm)		((mm)->context.id)
#define __TLBI_VADDR(addr, asid) \
	((((addr) >> 12) & ((1UL << 44) - 1)) | (asid) << 48)
#define __tlbi(op, arg)		arm64_tlbi_##op(arg)
/* Kernel and user share their page tables here. */
#define __tlbi_user(op, arg)	((void)(arg))

static inline void arm64_tlbi_aside1(unsigned long arg)
{
	if (arg >> 48 == 7)
		mmu_flush(HOST_BASE, HOST_BASE + HOST_SLOTS * PAGE_SIZE, true);
}

static inline void arm64_tlbi_vale1(unsigned long arg)
{
	const unsigned long addr = (arg & ((1UL << 44) - 1)) << 12;

	if (arg >> 48 == 7)
		mmu_flush(addr, addr + PAGE_SIZE, true);
}

#endif /* _ASM_PGTABLE_H */
