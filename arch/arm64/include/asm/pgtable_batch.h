/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arm64: what may be done better than the single-PTE loop.
 *
 * With contpte, 16 entries (4K pages) may form one block: the contiguous bit
 * is set in all of them, the TLB may hold them as one, and the hardware sets
 * accessed or dirty in any one of them on behalf of all (Arm ARM DDI 0487,
 * D8.7.1 "The Contiguous bit"). So the block is the unit in which those two
 * bits are exact. A single-entry update has to take the block apart and put it
 * together again, and a single-entry read looks at all 16:
 *
 *	before            |C a|C  |C d|C  |	N=4, C: contiguous
 *	one by one        |  x|C  |C  |C  |	not allowed, so unfold first
 *	as a block        |C x|C x|C x|C x|	x: new value, a and d merged
 */
/* For a user of this header alone; on the way from there it does nothing. */
#include <linux/pgtable.h>

#ifndef _ASM_ARM64_PGTABLE_BATCH_H
#define _ASM_ARM64_PGTABLE_BATCH_H

#if !defined(__ASSEMBLY__) && !defined(PTE_BATCH_FORCE_GENERIC)

#include <linux/minmax.h>
#include <linux/pgtable_batch_types.h>
#include <asm/alternative.h>
#include <asm/cpucaps.h>

static __always_inline pte_t modprot_pte(struct vm_area_struct *vma, pte_t pte,
					 pgprot_t newprot, modprot_t flags);
static __always_inline unsigned int
generic_modify_prot_ptes(struct vm_area_struct *vma, unsigned long addr,
			 pte_t *ptep, unsigned int nr, pgprot_t newprot,
			 modprot_t flags, pte_t *old_pte, pte_t *new_pte);
static __always_inline pte_t saf_pte(struct vm_area_struct *vma, pte_t pte,
				     saf_t flags);
static __always_inline bool ptes_nr_is_bad(unsigned int nr);

/*
 * Last level, on all CPUs. A copy of its own: another call would take
 * __flush_tlb_range() out of tlb_flush(), which has to make up a whole VMA then,
 * and mprotect() of a single page would take 70 instructions more.
 */
static noinline __flatten __maybe_unused void
arm64_flush_tlb_ptes(struct vm_area_struct *vma, unsigned long start,
		     unsigned long end)
{
	/* The same number of arguments means something else. */
#ifdef TLBF_NOWALKCACHE
	__flush_tlb_range(vma, start, end, PAGE_SIZE, 3, TLBF_NOWALKCACHE);
#else
	__flush_tlb_range(vma, start, end, PAGE_SIZE, true, 3);
#endif
}

#ifdef CONFIG_ARM64_CONTPTE
/*
 * Will set_ptes() make a block of entries that are none yet? Then the TLB must
 * have forgotten the single entries before the block is valid: the contiguous
 * bit changes by break-before-make only (Arm ARM DDI 0487, D8.16.1).
 */
static inline bool arm64_ptes_will_fold(unsigned long addr, pte_t *ptep,
					unsigned int nr)
{
	unsigned int i = -(addr >> PAGE_SHIFT) & (CONT_PTES - 1);

	for (; i + CONT_PTES <= nr; i += CONT_PTES) {
		pte_t pte = __ptep_get(ptep + i);

		if (!pte_cont(pte) && !(pte_pfn(pte) & (CONT_PTES - 1)))
			return true;
	}
	return false;
}
#else
static inline bool arm64_ptes_will_fold(unsigned long addr, pte_t *ptep,
					unsigned int nr)
{
	return false;
}
#endif

/*
 * Clearing keeps whole blocks folded (only the edges of the range are taken
 * apart) and reads each entry once. Cortex-A715 erratum 2645198 wants an
 * executable mapping flushed before it may turn non-executable: once for the
 * range, and before the new entries are written.
 */
static inline pte_t arm64_modify_prot_start_ptes(struct vm_area_struct *vma,
						 unsigned long addr,
						 pte_t *ptep, unsigned int nr)
{
	bool flush;
	pte_t pte;

	if (ptes_nr_is_bad(nr))
		return __pte(0);
	flush = arm64_ptes_will_fold(addr, ptep, nr);
	pte = get_and_clear_full_ptes(vma->vm_mm, addr, ptep, nr,
				      /* full = */ 0);
	if (alternative_has_cap_unlikely(ARM64_WORKAROUND_2645198) &&
	    pte_user_exec(pte))
		flush = true;
	if (flush)
		arm64_flush_tlb_ptes(vma, addr, addr + nr * PAGE_SIZE);
	return pte;
}

/* A tree that has the pair keeps its own: mm/mmu.c defines it by that name. */
#ifndef modify_prot_start_ptes
#define modify_prot_start_ptes arm64_modify_prot_start_ptes
#endif

/*
 * The range is clear, so set_ptes() may write it, folding whole blocks again.
 * An entry that is not valid (PROT_NONE) must never carry the contiguous bit,
 * which set_ptes() of older trees would give it; nor must a special one, about
 * which set_ptes() does not ask.
 */
static inline void arm64_modify_prot_commit_ptes(struct vm_area_struct *vma,
						 unsigned long addr,
						 pte_t *ptep, pte_t old_pte,
						 pte_t pte, unsigned int nr)
{
	if (ptes_nr_is_bad(nr))
		return;
	if (likely(pte_valid(pte) && !pte_special(pte))) {
		set_ptes(vma->vm_mm, addr, ptep, pte, nr);
		return;
	}
	/*
	 * A block ends here, and a fault may make single entries valid before
	 * the caller flushes: the single-PTE loop, which unfolds the block
	 * first, flushes here as well.
	 */
	if (nr > 1 && pte_valid(old_pte))
		arm64_flush_tlb_ptes(vma, addr, addr + nr * PAGE_SIZE);
	__set_ptes(vma->vm_mm, addr, ptep, pte_mknoncont(pte), nr);
}

#ifndef modify_prot_commit_ptes
#define modify_prot_commit_ptes arm64_modify_prot_commit_ptes
#endif

#ifdef CONFIG_ARM64_CONTPTE

/* All but the output address. */
#ifdef CONFIG_ARM64_PA_BITS_52
#define ARM64_PTE_FLAGS		(~(PTE_ADDR_LOW | PTE_ADDR_HIGH))
#else
#define ARM64_PTE_FLAGS		(~PTE_ADDR_LOW)
#endif

/* Page table checking wants to see every entry go and come. */
static __always_inline bool arm64_ptes_need_hooks(void)
{
#ifdef CONFIG_PAGE_TABLE_CHECK
	return !static_branch_likely(&page_table_check_disabled);
#else
	return false;
#endif
}

/*
 * Can the hardware still change this entry? It sets the access flag of valid
 * entries, and takes read-only out of those that have DBM (PTE_WRITE) set, by
 * an atomic update of what is in memory (Arm ARM DDI 0487, D8.5 "Hardware
 * management of the Access flag" and "of dirty state").
 */
static __always_inline bool arm64_pte_is_stable(pteval_t val)
{
	const pteval_t dbm = PTE_WRITE | PTE_RDONLY;

	return !(val & PTE_VALID) || ((val & PTE_AF) && (val & dbm) != dbm);
}

/* Safe without the barriers of kernel mappings: a user's can be faulted in. */
static __always_inline void arm64_pte_store(pte_t *ptep, pteval_t val)
{
	WRITE_ONCE(*ptep, __pte(val));
}

/* How many of the @nr entries have the flags of @old, which the first has? */
static __always_inline unsigned int arm64_ptes_alike(pte_t *ptep,
						     unsigned int nr,
						     pteval_t old)
{
	unsigned int i;

	for (i = 1; i < nr; i++)
		if ((pte_val(__ptep_get(ptep + i)) ^ old) & ARM64_PTE_FLAGS)
			break;
	return i;
}

/*
 * Rewrite a whole block of entries alike that the hardware has nothing left to
 * change in, neither as they are nor as they will be: it may set dirty in any of
 * them as soon as one allows that. Only for what may change in place; false if
 * it is not such a block.
 */
static __always_inline bool arm64_block_change(pte_t *ptep, pteval_t old,
					       pteval_t change)
{
	unsigned int i;

	if (!arm64_pte_is_stable(old) || !arm64_pte_is_stable(old ^ change) ||
	    arm64_ptes_alike(ptep, CONT_PTES, old) < CONT_PTES)
		return false;
	for (i = 0; i < CONT_PTES; i++)
		arm64_pte_store(ptep + i, pte_val(__ptep_get(ptep + i)) ^ change);
	return true;
}

/*
 * A block is handled in one go. The first entry's raw value tells whether it
 * belongs to one, so that an entry of a small folio is not gathered.
 */
static __always_inline unsigned int
arm64_modify_prot_ptes(struct vm_area_struct *vma, unsigned long addr,
		       pte_t *ptep, unsigned int nr, pgprot_t newprot,
		       modprot_t flags, pte_t *old_pte, pte_t *new_pte)
{
	nr = min(nr, pte_batch_hint(ptep, __ptep_get(ptep)));
	if (likely(nr <= 1))
		return generic_modify_prot_ptes(vma, addr, ptep, nr, newprot,
						flags, old_pte, new_pte);

	*old_pte = arm64_modify_prot_start_ptes(vma, addr, ptep, nr);
	*new_pte = modprot_pte(vma, *old_pte, newprot, flags);
	arm64_modify_prot_commit_ptes(vma, addr, ptep, *old_pte, *new_pte, nr);
	return nr;
}

#define modify_prot_ptes arm64_modify_prot_ptes

/* Add rights to one whole block: every entry gets the same, none is cleared. */
static inline bool arm64_block_set_access_flags(struct vm_area_struct *vma,
						unsigned long addr,
						pte_t *ptep, saf_t flags)
{
	const pte_t pte = __ptep_get(ptep);
	/* As ptep_get() has it: dirty by the hardware is dirty by our bit too. */
	pte_t entry = saf_pte(vma, pte_dirty(pte) ? pte_mkdirty(pte) : pte,
			      flags);
	bool changed = pte_val(pte) != pte_val(entry);
	unsigned int i;

	if (!arm64_ptes_need_hooks() &&
	    arm64_block_change(ptep, pte_val(pte), pte_val(pte) ^ pte_val(entry)))
		return changed;

	entry = saf_pte(vma, ptep_get(ptep), flags);
	changed = false;
	/*
	 * Each raw entry is compared, not the gathered one: a walker that looks
	 * at single descriptors (an SMMU without HTTU) faults for ever on one
	 * that lacks what only its sibling has. The frame is compared as well,
	 * so it has to go along, or every block counts as changed.
	 */
	for (i = 0; i < CONT_PTES; i++, addr += PAGE_SIZE) {
		changed |= !!__ptep_set_access_flags(vma, addr, ptep + i, entry,
						     /* dirty = */ 0);
		entry = pte_advance_pfn(entry, 1);
	}
	return changed;
}

/*
 * Whole blocks stay folded, and the TLB is flushed once, not for each page.
 * Safe because rights only grow: until the flush, an entry of the block may or
 * may not have them. The flush has to reach all CPUs where a spurious fault
 * repairs nothing.
 */
static inline bool arm64_set_access_flags_ptes(struct vm_area_struct *vma,
					       unsigned long addr, pte_t *ptep,
					       unsigned int nr, saf_t flags)
{
	unsigned long start = addr, end = addr + nr * PAGE_SIZE;
	bool changed = false;

	while (addr != end) {
		unsigned int step = pte_batch_hint(ptep, __ptep_get(ptep));

		if (step == CONT_PTES && end - addr >= CONT_PTE_SIZE) {
			changed |= arm64_block_set_access_flags(vma, addr, ptep,
								flags);
		} else {
			pte_t entry = saf_pte(vma, ptep_get(ptep), flags);

			step = 1;
			changed |= !!ptep_set_access_flags(vma, addr, ptep,
							   entry,
							   /* dirty = */ 0);
		}
		ptep += step;
		addr += step * PAGE_SIZE;
	}
	if (changed)
		arm64_flush_tlb_ptes(vma, start, end);
	return changed;
}

#define set_access_flags_ptes arm64_set_access_flags_ptes
#define SET_ACCESS_FLAGS_PTES_FLUSHES 1

#endif /* CONFIG_ARM64_CONTPTE */
#endif /* !__ASSEMBLY__ && !PTE_BATCH_FORCE_GENERIC */
#endif /* _ASM_ARM64_PGTABLE_BATCH_H */

/* What needs the TLB headers comes when <linux/folio_pte_batch.h> asks. */
#if defined(_LINUX_FOLIO_PTE_BATCH_ARCH) && \
	!defined(_ASM_ARM64_PGTABLE_BATCH_TLB_H) && \
	!defined(PTE_BATCH_FORCE_GENERIC)
#define _ASM_ARM64_PGTABLE_BATCH_TLB_H

#include <asm/tlb.h>
#include <asm/tlbflush.h>

#ifdef TLBF_NOBROADCAST
static inline void arm64_flush_tlb_local_ptes(struct vm_area_struct *vma,
					      unsigned long addr,
					      unsigned int nr)
{
	__flush_tlb_range(vma, addr, addr + nr * PAGE_SIZE, PAGE_SIZE, 3,
			  TLBF_NOWALKCACHE | TLBF_NOBROADCAST | TLBF_NONOTIFY);
}
#else
/* Beyond this many pages the address space as a whole is cheaper. */
#define ARM64_FLUSH_LOCAL_CEILING 64

/*
 * TLBI without the inner-shareable suffix stays on this CPU (Arm ARM DDI 0487,
 * D8.17 "TLB maintenance"). The ASID selects the address space, so it does not
 * matter which one runs here.
 */
static inline void arm64_flush_tlb_local_ptes(struct vm_area_struct *vma,
					      unsigned long addr,
					      unsigned int nr)
{
	unsigned long asid = ASID(vma->vm_mm);

	dsb(nshst);
	if (nr > ARM64_FLUSH_LOCAL_CEILING) {
		asid = __TLBI_VADDR(0, asid);
		__tlbi(aside1, asid);
		__tlbi_user(aside1, asid);
		nr = 0;
	}
	for (; nr; nr--, addr += PAGE_SIZE) {
		unsigned long arg = __TLBI_VADDR(addr, asid);

		__tlbi(vale1, arg);
		__tlbi_user(vale1, arg);
	}
	dsb(nsh);
}
#endif /* TLBF_NOBROADCAST */

#define flush_tlb_local_ptes arm64_flush_tlb_local_ptes

#ifdef CONFIG_ARM64_CONTPTE

/* Without a look at the other entries of a block. */
static __always_inline pte_t arm64_ptep_peek(pte_t *ptep)
{
	return __ptep_get(ptep);
}

#define ptep_peek arm64_ptep_peek

static __always_inline unsigned int
generic_tlb_modify_prot_run(struct mmu_gather *tlb, struct vm_area_struct *vma,
			    unsigned long addr, pte_t *ptep, unsigned int nr,
			    pgprot_t newprot, modprot_t flags,
			    struct modprot_kind *kind,
			    struct modprot_kind *other);

/*
 * May an entry like @old become @new without being cleared in between? Rights
 * may change in place (Arm ARM DDI 0487, D8.16.1 lists what may not), the
 * memory type may not. What is done for a new executable or tagged mapping, and
 * for Cortex-A715 erratum 2645198, is left to the single-PTE helpers.
 *
 * In a block, the TLB may hold any mixture of old and new entries as one while
 * it is rewritten. Safe because write permission and dirty are all that
 * differs: a mixture of these is either the old rights or the new ones.
 */
static __always_inline bool arm64_modprot_in_place(pte_t old, pte_t new)
{
	const pteval_t change = pte_val(old) ^ pte_val(new);

	/* What is executable is synchronised with the instruction cache. */
	if (pte_user_exec(old) || pte_user_exec(new))
		return false;
	if (!(change & ~(PTE_RDONLY | PTE_WRITE | PTE_DIRTY)))
		return true;
	return !pte_cont(old) && !(change & PTE_ATTRINDX_MASK) &&
	       !(pte_tagged(new) && (change & PTE_VALID));
}

/* What becomes of entries like @pte, how, and whether the TLB has to know. */
static noinline void arm64_modprot_think(struct modprot_kind *kind,
					 struct vm_area_struct *vma, pte_t pte,
					 pgprot_t newprot, modprot_t flags)
{
	kind->old_pte = pte;
	kind->new_pte = modprot_pte(vma, pte, newprot, flags);
	kind->flush = pte_needs_flush(kind->old_pte, kind->new_pte);
	kind->in_place = arm64_modprot_in_place(kind->old_pte, kind->new_pte);
}

/*
 * Change the @nr entries alike, with as many of the following as are: none, if
 * the hardware was faster or an entry stands for a block of which not all is
 * to be changed. Safe as in ptep_set_wrprotect() where the hardware may write,
 * and as a plain store because it is the only writer besides the holder of the
 * page table lock where it may not.
 */
static __always_inline unsigned int
arm64_ptes_change(pte_t *ptep, unsigned int nr, const struct modprot_kind *kind)
{
	const pteval_t old = pte_val(kind->old_pte);
	const pteval_t change = old ^ pte_val(kind->new_pte);
	unsigned int i;

	if (old & PTE_CONT)
		return nr == CONT_PTES && arm64_block_change(ptep, old, change) ?
		       CONT_PTES : 0;
	if (!arm64_pte_is_stable(old)) {
		pteval_t val = pte_val(__ptep_get(ptep));

		if ((val ^ old) & ARM64_PTE_FLAGS)
			return 0;
		return try_cmpxchg_relaxed(&pte_val(*ptep), &val, val ^ change);
	}
	for (i = 0; i < nr; i++) {
		pteval_t val = pte_val(__ptep_get(ptep + i));

		if ((val ^ old) & ARM64_PTE_FLAGS)
			break;
		arm64_pte_store(ptep + i, val ^ change);
	}
	return i;
}

/*
 * Where no two neighbours are alike, each run has one entry: whether what was
 * decided for an entry like it can be done to it at once. Safe as above.
 */
static __always_inline bool
arm64_pte_change_again(struct vm_area_struct *vma, unsigned long addr,
		       pte_t *ptep, const struct modprot_kind *kind)
{
	const pteval_t old = pte_val(kind->old_pte);
	pteval_t val = pte_val(__ptep_get(ptep));

	if (((val ^ old) & ARM64_PTE_FLAGS) || !kind->in_place ||
	    (old & PTE_CONT) || !arm64_pte_is_stable(old))
		return false;
	val ^= old ^ pte_val(kind->new_pte);
	arm64_pte_store(ptep, val);
	contpte_try_fold(vma->vm_mm, addr, ptep, __pte(val));
	return true;
}

/*
 * As modify_prot_ptes(), but entries of two kinds may take turns, nothing is
 * asked twice, and whole blocks are rewritten without being cleared. Goes from
 * block to block, because at the end of each the entries may have become one:
 * folding is tried where the single-PTE loop tries it.
 */
static __always_inline unsigned int
arm64_tlb_modify_prot_run(struct mmu_gather *tlb, struct vm_area_struct *vma,
			  unsigned long addr, pte_t *ptep, unsigned int nr,
			  pgprot_t newprot, modprot_t flags,
			  struct modprot_kind *kind,
			  struct modprot_kind *other)
{
	unsigned long start = 0, last = 0;
	const pte_t *end = ptep + nr;

	if (unlikely(arm64_ptes_need_hooks()))
		return generic_tlb_modify_prot_run(tlb, vma, addr, ptep, nr,
						   newprot, flags, kind, other);
	if (nr == 1 && arm64_pte_change_again(vma, addr, ptep, kind)) {
		if (tlb && kind->flush)
			tlb_flush_pte_range(tlb, addr, PAGE_SIZE);
		return 1;
	}
	while (ptep != end) {
		pte_t pte = __ptep_get(ptep);
		unsigned int left = CONT_PTES -
				    ((addr >> PAGE_SHIFT) & (CONT_PTES - 1));
		unsigned int done = 0;
		bool flush;

		if (!pte_present(pte))
			break;
		left = min_t(unsigned long, left, end - ptep);
		if ((pte_val(pte) ^ pte_val(kind->old_pte)) & ARM64_PTE_FLAGS) {
			swap(kind, other);
			if ((pte_val(pte) ^ pte_val(kind->old_pte)) &
			    ARM64_PTE_FLAGS)
				arm64_modprot_think(kind, vma, pte, newprot,
						    flags);
		}
		flush = kind->flush;
		if (kind->in_place)
			done = arm64_ptes_change(ptep, left, kind);
		if (!done) {
			pte_t old_pte, new_pte;

			done = modify_prot_ptes(vma, addr, ptep, left, newprot,
						flags, &old_pte, &new_pte);
			flush = pte_needs_flush(old_pte, new_pte);
		}
		pte = __ptep_get(ptep + done - 1);
		contpte_try_fold(vma->vm_mm, addr + (done - 1) * PAGE_SIZE,
				 ptep + done - 1, pte);
		if (flush) {
			start = last ? start : addr;
			last = addr + done * PAGE_SIZE;
		}
		ptep += done;
		addr += done * PAGE_SIZE;
	}
	if (tlb && last)
		tlb_flush_pte_range(tlb, start, last - start);
	return nr - (end - ptep);
}

#define tlb_modify_prot_run arm64_tlb_modify_prot_run

#endif /* CONFIG_ARM64_CONTPTE */

#endif /* _LINUX_FOLIO_PTE_BATCH_ARCH */
