/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86, 64-bit, by the Intel SDM vol. 3, 4.5 (format), 4.8 (accessed and dirty)
 * and 18.2 (shadow stack), and by what Linux keeps in the bits that are free.
 */
#ifndef _ASM_PGTABLE_H
#define _ASM_PGTABLE_H

#include <linux/mm_types.h>

#define LAYOUT(name, value)	enum { name = (value) }
#include "layout/x86.h"
#undef LAYOUT

/* The mode under test. */
static bool x86_shstk, x86_xenpv;
static bool page_table_check_disabled = true;
/* The encryption bit is one of the frame's, taken away from it at boot. */
static u64 x86_cc_mask;

#define X86_PKEY_MASK		(15UL << _PAGE_BIT_PKEY_BIT0)
#define X86_FRAME_MASK		(PTE_PFN_MASK & ~x86_cc_mask)
#define PTE_FLAGS_MASK		(~X86_FRAME_MASK)

#define X86_FEATURE_XENPV	x86_xenpv
#define cpu_feature_enabled(feature)	(feature)
#define static_branch_likely(key)	(*(key))

/* The header alone accesses entries by these names: an update of its own. */
#define READ_ONCE(x)		cell_load(&(x))
#define WRITE_ONCE(x, val)	cell_store(x86_own_update(&(x)), val)
#define try_cmpxchg(ptr, old, new)	cell_cmpxchg(x86_own_update(ptr), old, new)

static inline u64 *x86_own_update(u64 *cell)
{
	if (x86_xenpv || !page_table_check_disabled)
		mmu.bad = "an update was hidden from who has to see it";
	return cell;
}

#define PAGE_NONE		__pgprot(_PAGE_PROTNONE | _PAGE_ACCESSED)
#define X86_USER_PROT		(_PAGE_PRESENT | _PAGE_USER | _PAGE_ACCESSED)
#define PAGE_READONLY		__pgprot(X86_USER_PROT | _PAGE_NX)
#define PAGE_READONLY_EXEC	__pgprot(X86_USER_PROT)
#define PAGE_SHARED		__pgprot(X86_USER_PROT | _PAGE_RW | _PAGE_NX)

static inline bool x86_has(pte_t pte, u64 bits)
{
	return pte_val(pte) & bits;
}

static inline pte_t x86_set(pte_t pte, u64 bits)
{
	return __pte(pte_val(pte) | bits);
}

static inline pte_t x86_clear(pte_t pte, u64 bits)
{
	return __pte(pte_val(pte) & ~bits);
}

/* L1TF: the frame of an entry that is not present is stored inverted. */
static inline bool x86_is_inverted(u64 raw)
{
	return raw && !(raw & _PAGE_PRESENT);
}

static inline u64 x86_frame(u64 raw)
{
	return (x86_is_inverted(raw) ? ~raw : raw) & X86_FRAME_MASK;
}

#define pte_present(pte)	x86_has(pte, _PAGE_PRESENT | _PAGE_PROTNONE)
#define pte_young(pte)		x86_has(pte, _PAGE_ACCESSED)
#define pte_dirty(pte)		x86_has(pte, _PAGE_DIRTY | _PAGE_SAVED_DIRTY)
#define pte_special(pte)	x86_has(pte, _PAGE_SPECIAL)
#define pte_soft_dirty(pte)	x86_has(pte, _PAGE_SOFT_DIRTY)
#define pte_uffd_wp(pte)	x86_has(pte, _PAGE_UFFD_WP)
#define pte_pfn(pte)		(x86_frame(pte_val(pte)) >> PAGE_SHIFT)
#define pte_pgprot(pte)		__pgprot(pte_val(pte) & PTE_FLAGS_MASK)

static inline bool pte_protnone(pte_t pte)
{
	return (pte_val(pte) & (_PAGE_PRESENT | _PAGE_PROTNONE)) ==
	       _PAGE_PROTNONE;
}

#define pte_protnone pte_protnone

static inline pte_t pfn_pte(unsigned long pfn, pgprot_t prot)
{
	u64 frame = (u64)pfn << PAGE_SHIFT;

	if (x86_is_inverted(pgprot_val(prot)))
		frame = ~frame;
	return __pte((frame & X86_FRAME_MASK) | pgprot_val(prot));
}

static inline pte_t pte_advance_pfn(pte_t pte, unsigned long nr)
{
	u64 step = (u64)nr << PAGE_SHIFT;

	return __pte(x86_is_inverted(pte_val(pte)) ? pte_val(pte) - step :
						     pte_val(pte) + step);
}

#define pte_advance_pfn pte_advance_pfn

/* Write=0, Dirty=1 is writable shadow stack, and written by nobody else. */
static inline bool x86_is_shadow(pte_t pte)
{
	return x86_shstk &&
	       (pte_val(pte) & (_PAGE_RW | _PAGE_DIRTY)) == _PAGE_DIRTY;
}

static inline bool pte_write(pte_t pte)
{
	return x86_has(pte, _PAGE_RW) || x86_is_shadow(pte);
}

/* A read-only entry that is dirty says so in a bit of its own. */
static inline pte_t x86_save_dirty(pte_t pte)
{
	if (!x86_has(pte, _PAGE_RW) && x86_has(pte, _PAGE_DIRTY))
		return x86_set(x86_clear(pte, _PAGE_DIRTY), _PAGE_SAVED_DIRTY);
	return pte;
}

static inline pte_t x86_restore_dirty(pte_t pte)
{
	if (x86_has(pte, _PAGE_RW) && x86_has(pte, _PAGE_SAVED_DIRTY))
		return x86_set(x86_clear(pte, _PAGE_SAVED_DIRTY), _PAGE_DIRTY);
	return pte;
}

#define pte_mkyoung(pte)	x86_set(pte, _PAGE_ACCESSED)
#define pte_mkold(pte)		x86_clear(pte, _PAGE_ACCESSED)
#define pte_mkclean(pte)	x86_clear(pte, _PAGE_DIRTY | _PAGE_SAVED_DIRTY)
#define pte_clear_soft_dirty(pte)	x86_clear(pte, _PAGE_SOFT_DIRTY)
#define pte_clear_uffd_wp(pte)	x86_clear(pte, _PAGE_UFFD_WP)
#define pte_wrprotect(pte)	x86_save_dirty(x86_clear(pte, _PAGE_RW))
#define pte_mkuffd_wp(pte)	pte_wrprotect(x86_set(pte, _PAGE_UFFD_WP))
#define pte_mkdirty(pte)	\
	x86_save_dirty(x86_set(pte, _PAGE_DIRTY | _PAGE_SOFT_DIRTY))

static inline pte_t pte_mkwrite(pte_t pte, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_SHADOW_STACK)
		return x86_set(x86_clear(pte, _PAGE_RW), _PAGE_DIRTY);
	return x86_restore_dirty(x86_set(pte, _PAGE_RW));
}

static inline pte_t pte_modify(pte_t pte, pgprot_t newprot)
{
	const u64 kept = _PAGE_CHG_MASK | x86_cc_mask, old = pte_val(pte);
	u64 new = (old & kept) | (pgprot_val(newprot) & ~kept);

	if (x86_is_inverted(old) != x86_is_inverted(new))
		new ^= X86_FRAME_MASK;
	return old & _PAGE_RW ? x86_save_dirty(__pte(new)) :
				x86_restore_dirty(__pte(new));
}

static inline void set_pte(pte_t *ptep, pte_t pte)
{
	cell_store(&ptep->pte, pte_val(pte));
}

#define set_pte_at(mm, addr, ptep, pte)	set_pte(ptep, pte)

static inline void pte_clear(struct mm_struct *mm, unsigned long addr,
			     pte_t *ptep)
{
	cell_store(&ptep->pte, 0);
}

static inline pte_t ptep_get_and_clear(struct mm_struct *mm,
				       unsigned long addr, pte_t *ptep)
{
	return __pte(cell_xchg(&ptep->pte, 0));
}

/* With the address space going away nobody walks any more. */
static inline pte_t ptep_get_and_clear_full(struct mm_struct *mm,
					    unsigned long addr, pte_t *ptep,
					    int full)
{
	pte_t pte;

	if (!full)
		return ptep_get_and_clear(mm, addr, ptep);
	pte = pte_load(ptep);
	cell_store(&ptep->pte, 0);
	return pte;
}

#define ptep_get_and_clear_full ptep_get_and_clear_full

static inline void ptep_set_wrprotect(struct mm_struct *mm, unsigned long addr,
				      pte_t *ptep)
{
	pte_t pte = pte_load(ptep);

	while (!cell_cmpxchg(&ptep->pte, &pte.pte, pte_val(pte_wrprotect(pte))))
		;
}

static inline int ptep_test_and_clear_young(struct vm_area_struct *vma,
					    unsigned long addr, pte_t *ptep)
{
	if (!pte_young(pte_load(ptep)))
		return 0;
	return !!(cell_change(&ptep->pte, _PAGE_ACCESSED, 0) & _PAGE_ACCESSED);
}

/* An accessed bit too few is no harm: no flush. */
#define ptep_clear_flush_young ptep_test_and_clear_young

/*
 * A plain store, as the kernel's: what the hardware sets between a caller's
 * read and this store is lost. See X86_SAF_LOSES.
 */
static inline int ptep_set_access_flags(struct vm_area_struct *vma,
					unsigned long addr, pte_t *ptep,
					pte_t entry, int dirty)
{
	if (pte_val(pte_load(ptep)) == pte_val(entry))
		return 0;
	if (dirty)
		set_pte(ptep, entry);
	return 1;
}

/*
 * Xen PV: the hypervisor takes the update, and keeps accessed and dirty of
 * what it finds (MMU_PT_UPDATE_PRESERVE_AD). Nothing is cleared first.
 */
static inline pte_t ptep_modify_prot_start(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep)
{
	if (x86_xenpv)
		return pte_load(ptep);
	return ptep_get_and_clear(vma->vm_mm, addr, ptep);
}

static inline void ptep_modify_prot_commit(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep,
					   pte_t old_pte, pte_t pte)
{
	const u64 both = _PAGE_ACCESSED | _PAGE_DIRTY;
	u64 old;

	if (!x86_xenpv) {
		set_pte(ptep, pte);
		return;
	}
	old = pte_val(old_pte);
	while (!cell_cmpxchg(&ptep->pte, &old, pte_val(pte) |
			     ((old ^ pte_val(old_pte)) & both)))
		;
}

#define ptep_modify_prot_start ptep_modify_prot_start

static inline bool pte_needs_flush(pte_t oldpte, pte_t newpte)
{
	const u64 cleared = _PAGE_DIRTY | _PAGE_PRESENT;
	const u64 changed = _PAGE_RW | _PAGE_USER | _PAGE_PWT | _PAGE_PCD |
			    _PAGE_PAT | _PAGE_GLOBAL | X86_PKEY_MASK | _PAGE_NX;
	const u64 delta = pte_val(oldpte) ^ pte_val(newpte);

	if (!x86_has(oldpte, _PAGE_PRESENT))
		return false;
	return pte_pfn(oldpte) != pte_pfn(newpte) || delta & changed ||
	       delta & pte_val(oldpte) & cleared;
}

#define pte_needs_flush pte_needs_flush

/* This CPU's TLB is the first one's. */
static struct {
	struct mm_struct *loaded_mm;
} cpu_tlbstate;

#define this_cpu_read(variable)	(variable)
#define preempt_disable()	(host_preempt++)
#define preempt_enable()	(host_preempt--)

static int host_preempt;

static inline void flush_tlb_local(void)
{
	mmu_flush(HOST_BASE, HOST_BASE + HOST_SLOTS * PAGE_SIZE, true);
}

static inline void flush_tlb_one_user(unsigned long addr)
{
	mmu_flush(addr, addr + PAGE_SIZE, true);
}

#endif /* _ASM_PGTABLE_H */
