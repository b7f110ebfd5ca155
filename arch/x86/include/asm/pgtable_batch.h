/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86: what may be done better than the single-PTE loop.
 *
 * Included by <linux/pgtable.h> right after <asm/pgtable.h>, before the
 * generic single-PTE helpers exist; those used here are declared first.
 */
/* For a user of this header alone; on the way from there it does nothing. */
#include <linux/pgtable.h>

#ifndef _ASM_X86_PGTABLE_BATCH_H
#define _ASM_X86_PGTABLE_BATCH_H

#if !defined(__ASSEMBLY__) && !defined(PTE_BATCH_FORCE_GENERIC)

#include <linux/pgtable_batch_types.h>
#include <linux/cpufeature.h>

struct vm_area_struct;

#ifdef CONFIG_X86_64

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
 * Xen PV must see every update through its pv ops. Page table checking wants
 * to see every entry go and come. Both take the single-PTE loop; one patched
 * branch per batch asks for them, not two indirect calls per entry.
 */
static __always_inline bool x86_ptes_need_hooks(void)
{
	if (cpu_feature_enabled(X86_FEATURE_XENPV))
		return true;
#ifdef CONFIG_PAGE_TABLE_CHECK
	if (!static_branch_likely(&page_table_check_disabled))
		return true;
#endif
	return false;
}

/*
 * Can the hardware still change this entry? The page walker sets accessed and
 * dirty, nothing else, and only in entries that are present (Intel SDM vol. 3,
 * 4.8 "Accessed and Dirty Flags"; AMD APM vol. 2, 5.4.2 "Page-Translation-
 * Table Entry Fields"). So not if it is not present to the hardware (PROT_NONE)
 * and not if both bits are set already. A clean read-only entry is not such a
 * case: old processors set dirty without a look at the write permission.
 */
static __always_inline bool x86_pte_is_stable(pteval_t val)
{
	const pteval_t both = _PAGE_ACCESSED | _PAGE_DIRTY;

	return !(val & _PAGE_PRESENT) || (val & both) == both;
}

/*
 * Replace *@ptep, last seen as *@val. Safe because a stable entry has no
 * writer but us, under the page table lock, so that a plain store loses
 * nothing and lockless readers see the old or the new value. Everything else
 * takes one locked instruction instead of xchg plus store, and the entry is
 * never seen empty. On failure *@val is what the entry holds now.
 */
static __always_inline bool x86_pte_replace(pte_t *ptep, pteval_t *val,
					    pteval_t new, bool stable)
{
	if (stable) {
		WRITE_ONCE(ptep->pte, new);
		return true;
	}
	return try_cmpxchg(&ptep->pte, val, new);
}

/*
 * All that follows from an entry's flags is worked out once: the new flags,
 * whether the frame's inversion (L1TF, PROT_NONE) turns over. For any entry
 * with the same flags the change is the same exclusive-or then. The frames need
 * not be consecutive. Of the flags, accessed alone may differ unless it is
 * itself in @bits: nothing follows from it but how the entry is replaced.
 *
 * Shadow stack and SavedDirty stay right because pte_modify() and pte_mkwrite()
 * do the thinking and no value is built by hand.
 */
static __always_inline unsigned int
x86_ptes_change(pte_t *ptep, unsigned int nr, pteval_t old, pteval_t new,
		pteval_t bits)
{
	const pteval_t change = old ^ new;
	const bool stable = x86_pte_is_stable(old);
	unsigned int i = 1;

	for (; i < nr; i++) {
		pteval_t val = READ_ONCE(ptep[i].pte);
		pteval_t differs = (val ^ old) & PTE_FLAGS_MASK;

		/* Nearly all entries: nothing is asked about the same flags. */
		if (unlikely(differs) && (differs & bits))
			break;
		/* The hardware was faster: no longer the same flags. */
		if (!x86_pte_replace(ptep + i, &val, val ^ change,
				     likely(!differs) ? stable :
				     x86_pte_is_stable(val)))
			break;
	}
	return i;
}

/* The flags that decide what becomes of an entry. */
static __always_inline pteval_t x86_modprot_bits(modprot_t flags)
{
	return flags & MODPROT_MKYOUNG ? PTE_FLAGS_MASK :
					 PTE_FLAGS_MASK & ~_PAGE_ACCESSED;
}

/* Does what was done to an entry like @old hold for @val? */
static __always_inline bool x86_pte_is_alike(pteval_t val, pteval_t old,
					     pteval_t bits)
{
	return old && !((val ^ old) & bits);
}

static __always_inline unsigned int
x86_modify_prot_ptes(struct vm_area_struct *vma, unsigned long addr,
		     pte_t *ptep, unsigned int nr, pgprot_t newprot,
		     modprot_t flags, pte_t *old_pte, pte_t *new_pte)
{
	const pteval_t bits = x86_modprot_bits(flags);
	pteval_t val, new;

	if (unlikely(!nr || x86_ptes_need_hooks()))
		return generic_modify_prot_ptes(vma, addr, ptep, nr, newprot,
						flags, old_pte, new_pte);
	val = READ_ONCE(ptep->pte);
	do {
		if (x86_pte_is_alike(val, pte_val(*old_pte), bits))
			new = val ^ pte_val(*old_pte) ^ pte_val(*new_pte);
		else
			new = pte_val(modprot_pte(vma, __pte(val), newprot,
						  flags));
	} while (!x86_pte_replace(ptep, &val, new, x86_pte_is_stable(val)));

	*old_pte = __pte(val);
	*new_pte = __pte(new);
	return x86_ptes_change(ptep, nr, val, new, bits);
}

#define modify_prot_ptes x86_modify_prot_ptes

static inline bool x86_set_access_flags_ptes(struct vm_area_struct *vma,
					     unsigned long addr, pte_t *ptep,
					     unsigned int nr, saf_t flags)
{
	bool changed = false;

	if (x86_ptes_need_hooks())
		return generic_set_access_flags_ptes(vma, addr, ptep, nr,
						     flags);
	while (nr) {
		pteval_t val = READ_ONCE(ptep->pte), new;
		unsigned int done;

		do {
			new = pte_val(saf_pte(vma, __pte(val), flags));
		} while (!x86_pte_replace(ptep, &val, new,
					  x86_pte_is_stable(val)));
		changed |= val != new;
		done = x86_ptes_change(ptep, nr, val, new, PTE_FLAGS_MASK);
		ptep += done;
		nr -= done;
	}
	return changed;
}

#define set_access_flags_ptes x86_set_access_flags_ptes

#endif /* CONFIG_X86_64 */

#endif /* !__ASSEMBLY__ && !PTE_BATCH_FORCE_GENERIC */
#endif /* _ASM_X86_PGTABLE_BATCH_H */

/* What needs the TLB headers comes when <linux/folio_pte_batch.h> asks. */
#if defined(_LINUX_FOLIO_PTE_BATCH_ARCH) && \
	!defined(_ASM_X86_PGTABLE_BATCH_TLB_H) && \
	!defined(PTE_BATCH_FORCE_GENERIC)
#define _ASM_X86_PGTABLE_BATCH_TLB_H

#include <linux/preempt.h>
#include <asm/tlb.h>
#include <asm/tlbflush.h>

/*
 * ptep_set_access_flags() never flushes here: a stale read-only translation
 * costs one spurious fault (Intel SDM vol. 3, 4.10.4.3 "Optional
 * Invalidation"). Writing CR3 once is cheaper than such a fault for every
 * page that was read before; for a few pages so is invlpg for each.
 */
#define X86_FLUSH_LOCAL_CEILING 8

static inline void x86_flush_tlb_local_ptes(struct vm_area_struct *vma,
					    unsigned long addr, unsigned int nr)
{
	preempt_disable();
	/* Safe because what stays stale costs a spurious fault, and no more. */
	if (this_cpu_read(cpu_tlbstate.loaded_mm) != vma->vm_mm)
		goto out;
	if (nr > X86_FLUSH_LOCAL_CEILING) {
		flush_tlb_local();
		goto out;
	}
	for (; nr; nr--, addr += PAGE_SIZE)
		flush_tlb_one_user(addr);
out:
	preempt_enable();
}

#define flush_tlb_local_ptes x86_flush_tlb_local_ptes

#ifdef CONFIG_X86_64

static __always_inline unsigned int
generic_tlb_modify_prot_run(struct mmu_gather *tlb, struct vm_area_struct *vma,
			    unsigned long addr, pte_t *ptep, unsigned int nr,
			    pgprot_t newprot, modprot_t flags,
			    struct modprot_kind *kind,
			    struct modprot_kind *other);

/* What becomes of entries like @val, and whether the TLB has to know. */
static noinline void x86_modprot_think(struct modprot_kind *kind,
				       struct vm_area_struct *vma, pteval_t val,
				       pgprot_t newprot, modprot_t flags)
{
	kind->old_pte = __pte(val);
	kind->new_pte = modprot_pte(vma, kind->old_pte, newprot, flags);
	kind->flush = pte_needs_flush(kind->old_pte, kind->new_pte);
}

/*
 * As modify_prot_ptes(), but entries of two kinds may take turns, and nothing
 * is asked twice: whether to flush follows from the flags as well. What is
 * noted for the TLB is from the first entry that needs it to the last one, as
 * if each had been noted for itself.
 */
static __always_inline unsigned int
x86_tlb_modify_prot_run(struct mmu_gather *tlb, struct vm_area_struct *vma,
			unsigned long addr, pte_t *ptep, unsigned int nr,
			pgprot_t newprot, modprot_t flags,
			struct modprot_kind *kind, struct modprot_kind *other)
{
	unsigned int done = 0, start = 0, end = 0;
	const pteval_t bits = x86_modprot_bits(flags);

	if (unlikely(x86_ptes_need_hooks()))
		return generic_tlb_modify_prot_run(tlb, vma, addr, ptep, nr,
						   newprot, flags, kind, other);
	while (done < nr) {
		pteval_t val = READ_ONCE(ptep[done].pte), new;

		if (!(val & (_PAGE_PRESENT | _PAGE_PROTNONE)))
			break;
		if (!x86_pte_is_alike(val, pte_val(kind->old_pte), bits)) {
			swap(kind, other);
			if (!x86_pte_is_alike(val, pte_val(kind->old_pte), bits))
				x86_modprot_think(kind, vma, val, newprot, flags);
		}
		new = val ^ pte_val(kind->old_pte) ^ pte_val(kind->new_pte);
		/* The hardware was faster: look at it again. */
		if (!x86_pte_replace(ptep + done, &val, new,
				     x86_pte_is_stable(val)))
			continue;
		if (kind->flush)
			start = end ? start : done;
		done += x86_ptes_change(ptep + done, nr - done, val, new, bits);
		if (kind->flush)
			end = done;
	}
	if (tlb && end)
		tlb_flush_pte_range(tlb, addr + start * PAGE_SIZE,
				    (end - start) * PAGE_SIZE);
	return done;
}

#define tlb_modify_prot_run x86_tlb_modify_prot_run

#endif /* CONFIG_X86_64 */

#endif /* _LINUX_FOLIO_PTE_BATCH_ARCH */
