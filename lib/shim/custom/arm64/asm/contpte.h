/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contpte layer: public helpers that hide the contiguous bit. A block is
 * folded when its last entry is set and all fit; it is taken apart before a
 * part of it changes. Both go through an empty, flushed block, because entries
 * of one block may never differ while they are valid.
 */
#ifndef _ASM_CONTPTE_H
#define _ASM_CONTPTE_H

/* Does one folio cover these pages? The test knows its folios. */
static bool host_one_folio(unsigned long pfn, unsigned int nr);

static inline pte_t *cont_start(pte_t *ptep)
{
	return ptep - ((unsigned long)ptep / sizeof(*ptep) & CONT_BLOCK_MASK);
}

static inline pte_t cont_merge(pte_t pte, pte_t other)
{
	if (pte_dirty(other))
		pte = pte_mkdirty(pte);
	return pte_young(other) ? pte_mkyoung(pte) : pte;
}

/* Write the whole block anew: folded or not as @pte, which is any of its. */
static noinline void cont_rewrite(struct mm_struct *mm, unsigned long addr,
				  pte_t *ptep, pte_t pte)
{
	pte_t *start = cont_start(ptep);
	unsigned int i;

	addr -= (ptep - start) * PAGE_SIZE;
	pte = pfn_pte(pte_pfn(pte) & ~CONT_BLOCK_MASK, pte_pgprot(pte));
	for (i = 0; i < CONT_PTES; i++)
		pte = cont_merge(pte, __ptep_get_and_clear(start + i));
	arm64_flush(addr, addr + CONT_PTE_SIZE);
	__set_ptes(mm, addr, start, pte, CONT_PTES);
}

static inline void cont_unfold(struct mm_struct *mm, unsigned long addr,
			       pte_t *ptep)
{
	pte_t pte = __ptep_get(ptep);

	if (pte_valid_cont(pte))
		cont_rewrite(mm, addr, ptep, pte_mknoncont(pte));
}

/* Blocks that the range covers in part are taken apart, the others stay. */
static inline void cont_unfold_edges(struct mm_struct *mm, unsigned long addr,
				     pte_t *ptep, unsigned int nr)
{
	pte_t *end = ptep + nr;

	if (ptep != cont_start(ptep) || nr < CONT_PTES)
		cont_unfold(mm, addr, ptep);
	if (end != cont_start(end))
		cont_unfold(mm, addr + (nr - 1) * PAGE_SIZE, end - 1);
}

static noinline void cont_fold(struct mm_struct *mm, unsigned long addr,
			       pte_t *ptep, pte_t pte)
{
	pte_t *start = cont_start(ptep);
	unsigned long pfn = pte_pfn(pte) & ~CONT_BLOCK_MASK;
	const pte_t want = pfn_pte(pfn, pte_pgprot(pte_mkold(pte_mkclean(pte))));
	unsigned int i;

	if (!host_one_folio(pfn, CONT_PTES))
		return;
	for (i = 0; i < CONT_PTES; i++) {
		pte_t one = pte_mkold(pte_mkclean(__ptep_get(start + i)));

		if (pte_val(one) != pte_val(pte_advance_pfn(want, i)))
			return;
	}
	cont_rewrite(mm, addr, ptep, pte_mkcont(pte));
}

/* The last entry of what may be a block was set. */
static inline void cont_try_fold(struct mm_struct *mm, unsigned long addr,
				 pte_t *ptep, pte_t pte)
{
	if (ptep + 1 == cont_start(ptep + 1) &&
	    (pte_pfn(pte) & CONT_BLOCK_MASK) == CONT_BLOCK_MASK &&
	    pte_valid(pte) && !pte_cont(pte) && !pte_special(pte))
		cont_fold(mm, addr, ptep, pte);
}

/* The kernel's name for it. */
#define contpte_try_fold	cont_try_fold

static inline unsigned int pte_batch_hint(pte_t *ptep, pte_t pte)
{
	return pte_valid_cont(pte) ? CONT_PTES - (ptep - cont_start(ptep)) : 1;
}

#define pte_batch_hint pte_batch_hint

/* Accessed and dirty of a block are those of any of its entries. */
static inline pte_t ptep_get(pte_t *ptep)
{
	pte_t pte = __ptep_get(ptep);
	unsigned int i;

	if (pte_valid_cont(pte))
		for (i = 0; i < CONT_PTES; i++)
			pte = cont_merge(pte, __ptep_get(cont_start(ptep) + i));
	return pte;
}

#define ptep_get ptep_get

static inline void cont_set_piece(struct mm_struct *mm, unsigned long addr,
				  pte_t *ptep, pte_t pte, unsigned int nr)
{
	if (nr == CONT_PTES && !(pte_pfn(pte) & CONT_BLOCK_MASK))
		pte = pte_mkcont(pte);
	__set_ptes(mm, addr, ptep, pte, nr);
}

static inline void set_ptes(struct mm_struct *mm, unsigned long addr,
			    pte_t *ptep, pte_t pte, unsigned int nr)
{
	pte = pte_mknoncont(pte);
	if (nr == 1) {
		cont_unfold(mm, addr, ptep);
		__set_ptes(mm, addr, ptep, pte, 1);
		cont_try_fold(mm, addr, ptep, pte);
		return;
	}
	if (!pte_valid(pte)) {
		__set_ptes(mm, addr, ptep, pte, nr);
		return;
	}
	while (nr) {
		unsigned int left = CONT_PTES - (ptep - cont_start(ptep));
		unsigned int step = nr < left ? nr : left;

		cont_set_piece(mm, addr, ptep, pte, step);
		addr += step * PAGE_SIZE;
		ptep += step;
		pte = pte_advance_pfn(pte, step);
		nr -= step;
	}
}

#define set_ptes set_ptes

static inline pte_t ptep_get_and_clear(struct mm_struct *mm,
				       unsigned long addr, pte_t *ptep)
{
	cont_unfold(mm, addr, ptep);
	return __ptep_get_and_clear(ptep);
}

static inline pte_t get_and_clear_full_ptes(struct mm_struct *mm,
					    unsigned long addr, pte_t *ptep,
					    unsigned int nr, int full)
{
	pte_t pte;

	if (mmu_endless(nr))
		return __pte(0);
	cont_unfold_edges(mm, addr, ptep, nr);
	for (pte = __ptep_get_and_clear(ptep); nr > 1; nr--)
		pte = cont_merge(pte, __ptep_get_and_clear(++ptep));
	return pte;
}

#define get_and_clear_full_ptes get_and_clear_full_ptes

static inline void clear_full_ptes(struct mm_struct *mm, unsigned long addr,
				   pte_t *ptep, unsigned int nr, int full)
{
	get_and_clear_full_ptes(mm, addr, ptep, nr, full);
}

#define clear_full_ptes clear_full_ptes

static inline void pte_clear(struct mm_struct *mm, unsigned long addr,
			     pte_t *ptep)
{
	ptep_get_and_clear(mm, addr, ptep);
}

static inline void wrprotect_ptes(struct mm_struct *mm, unsigned long addr,
				  pte_t *ptep, unsigned int nr)
{
	cont_unfold_edges(mm, addr, ptep, nr);
	for (; nr; nr--, ptep++) {
		pte_t pte = __ptep_get(ptep);

		while (!cell_cmpxchg(&ptep->pte, &pte.pte,
				     pte_val(pte_wrprotect(pte))))
			;
	}
}

#define wrprotect_ptes wrprotect_ptes
#define ptep_set_wrprotect(mm, addr, ptep)	wrprotect_ptes(mm, addr, ptep, 1)

/* The whole block gets old, or clean: no need to take it apart. */
static inline void clear_young_dirty_ptes(struct vm_area_struct *vma,
					  unsigned long addr, pte_t *ptep,
					  unsigned int nr, cydp_t flags)
{
	pte_t *end = ptep + nr;

	if (pte_cont(__ptep_get(end - 1)))
		end = cont_start(end - 1) + CONT_PTES;
	if (pte_cont(__ptep_get(ptep)))
		ptep = cont_start(ptep);
	for (; ptep < end; ptep++) {
		pte_t pte = __ptep_get(ptep), new;

		do {
			new = flags & CYDP_CLEAR_YOUNG ? pte_mkold(pte) : pte;
			if (flags & CYDP_CLEAR_DIRTY)
				new = pte_mkclean(new);
		} while (!cell_cmpxchg(&ptep->pte, &pte.pte, pte_val(new)));
	}
}

#define clear_young_dirty_ptes clear_young_dirty_ptes

static inline int ptep_test_and_clear_young(struct vm_area_struct *vma,
					    unsigned long addr, pte_t *ptep)
{
	const bool block = pte_valid_cont(__ptep_get(ptep));
	unsigned int i, nr = block ? CONT_PTES : 1;
	u64 old = 0;

	ptep = block ? cont_start(ptep) : ptep;
	for (i = 0; i < nr; i++)
		old |= cell_change(&ptep[i].pte, PTE_AF, 0);
	return !!(old & PTE_AF);
}

static inline int ptep_clear_flush_young(struct vm_area_struct *vma,
					 unsigned long addr, pte_t *ptep)
{
	const unsigned int nr = pte_valid_cont(__ptep_get(ptep)) ? CONT_PTES : 1;
	const unsigned long start = addr & ~(nr * PAGE_SIZE - 1);
	int young = ptep_test_and_clear_young(vma, addr, ptep);

	if (young)
		arm64_flush(start, start + nr * PAGE_SIZE);
	return young;
}

static inline bool cont_all_have(pte_t *start, pte_t entry)
{
	const u64 flags = PTE_RDONLY | PTE_AF | PTE_WRITE | PTE_DIRTY;
	unsigned int i;

	for (i = 0; i < CONT_PTES; i++)
		if ((pte_val(__ptep_get(start + i)) ^ pte_val(entry)) & flags)
			return false;
	return true;
}

/* The write bit is a reason to take the block apart; the others are not. */
static inline int ptep_set_access_flags(struct vm_area_struct *vma,
					unsigned long addr, pte_t *ptep,
					pte_t entry, int dirty)
{
	pte_t *start = cont_start(ptep);
	pte_t pte = __ptep_get(ptep);
	unsigned int i;

	entry = pte_mknoncont(entry);
	if (!pte_valid_cont(pte))
		return __ptep_set_access_flags(vma, addr, ptep, entry, dirty);
	if (cont_all_have(start, entry))
		return 0;
	if (pte_write(pte) != pte_write(entry)) {
		cont_unfold(vma->vm_mm, addr, ptep);
		__ptep_set_access_flags(vma, addr, ptep, entry, dirty);
		return 1;
	}
	addr -= (ptep - start) * PAGE_SIZE;
	for (i = 0; i < CONT_PTES; i++)
		__ptep_set_access_flags(vma, addr, start + i, entry, 0);
	if (dirty)
		arm64_flush(addr, addr + CONT_PTE_SIZE);
	return 1;
}

/* Erratum 2645198: nothing that was executable turns non-executable unflushed. */
static inline pte_t ptep_modify_prot_start(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep)
{
	const bool exec = pte_user_exec(ptep_get(ptep));
	pte_t pte = ptep_get_and_clear(vma->vm_mm, addr, ptep);

	if (arm64_erratum_2645198 && exec)
		arm64_flush(addr, addr + PAGE_SIZE);
	return pte;
}

#define ptep_modify_prot_start ptep_modify_prot_start

static inline void ptep_modify_prot_commit(struct vm_area_struct *vma,
					   unsigned long addr, pte_t *ptep,
					   pte_t old_pte, pte_t pte)
{
	set_ptes(vma->vm_mm, addr, ptep, pte, 1);
}

#endif /* _ASM_CONTPTE_H */
