// SPDX-License-Identifier: GPL-2.0
/*
 * What is measured: each helper of the headers as they are, and the loop over
 * single entries that a kernel without it runs. Compiled twice, the second
 * time with PTE_BATCH_FORCE_GENERIC, with a kernel's options.
 */
#include "subject.h"

/*
 * Everything below begins SUBJECT_SHIFT bytes into a cache line. The assembler
 * is told how many, so that the code of all places is the same to the bit.
 */
asm(".text\n\t"
	".p2align 6\n\t"
	".skip 64 + SUBJECT_SHIFT, 0x90\n\t"
	".pushsection .rodata\n\t"
	".p2align 2\n"
	"subject_shift: .long SUBJECT_SHIFT\n\t"
	".popsection");

typedef u64 (*range_t)(const struct work *work, unsigned long addr,
		       pte_t *ptep, unsigned int nr);

/* Both sides are called alike: range by range, inlined where a kernel does. */
static __always_inline u64 each_range(const struct work *work, range_t range)
{
	unsigned int table, call;
	u64 sum = 0;

	for (table = 0; table < work->tables; table++) {
		unsigned long addr = work->addr + table * PTRS_PER_PTE * PAGE_SIZE;
		pte_t *ptep = work->ptep + table * PTRS_PER_PTE;

		for (call = work->calls; call; call--) {
			sum += range(work, addr, ptep, work->nr);
			addr += work->nr * PAGE_SIZE;
			ptep += work->nr;
		}
	}
	return sum;
}

/* What is left of an entry that was cleared, but for what others add to it. */
static __always_inline u64 cleared(pte_t first, bool young, bool dirty)
{
	return pte_pfn(first) << 2 | (dirty ? 2 : 0) | (young ? 1 : 0);
}

static __always_inline pte_t first_pte(const struct work *work,
				       unsigned long addr)
{
	return pte_advance_pfn(work->pte, (addr - work->addr) >> PAGE_SHIFT);
}

static __always_inline u64 batched_set(const struct work *work,
				       unsigned long addr, pte_t *ptep,
				       unsigned int nr)
{
	set_ptes(work->mm, addr, ptep, first_pte(work, addr), nr);
	return 0;
}

static __always_inline u64 single_set(const struct work *work,
				      unsigned long addr, pte_t *ptep,
				      unsigned int nr)
{
	pte_t pte = first_pte(work, addr);

	for (; nr; nr--, ptep++, addr += PAGE_SIZE, pte = pte_next_pfn(pte))
		set_pte_at(work->mm, addr, ptep, pte);
	return 0;
}

static __always_inline u64 batched_wrprotect(const struct work *work,
					     unsigned long addr, pte_t *ptep,
					     unsigned int nr)
{
	wrprotect_ptes(work->mm, addr, ptep, nr);
	return 0;
}

static __always_inline u64 single_wrprotect(const struct work *work,
					    unsigned long addr, pte_t *ptep,
					    unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		ptep_set_wrprotect(work->mm, addr, ptep);
	return 0;
}

static __always_inline u64 batched_get_clear(const struct work *work,
					     unsigned long addr, pte_t *ptep,
					     unsigned int nr)
{
	pte_t pte = get_and_clear_ptes(work->mm, addr, ptep, nr);

	return cleared(pte, pte_young(pte), pte_dirty(pte));
}

static __always_inline u64 batched_get_clear_full(const struct work *work,
						  unsigned long addr,
						  pte_t *ptep, unsigned int nr)
{
	pte_t pte = get_and_clear_full_ptes(work->mm, addr, ptep, nr, 1);

	return cleared(pte, pte_young(pte), pte_dirty(pte));
}

/* As when unmapping: each page is told whether it was accessed and dirty. */
static __always_inline u64 single_get_clear_any(const struct work *work,
						unsigned long addr,
						pte_t *ptep, unsigned int nr,
						int full)
{
	pte_t first = ptep_get_and_clear_full(work->mm, addr, ptep, full);
	bool young = pte_young(first), dirty = pte_dirty(first);

	while (--nr) {
		pte_t pte;

		addr += PAGE_SIZE;
		pte = ptep_get_and_clear_full(work->mm, addr, ++ptep, full);
		young |= pte_young(pte);
		dirty |= pte_dirty(pte);
	}
	return cleared(first, young, dirty);
}

static __always_inline u64 single_get_clear(const struct work *work,
					    unsigned long addr, pte_t *ptep,
					    unsigned int nr)
{
	return single_get_clear_any(work, addr, ptep, nr, 0);
}

static __always_inline u64 single_get_clear_full(const struct work *work,
						 unsigned long addr,
						 pte_t *ptep, unsigned int nr)
{
	return single_get_clear_any(work, addr, ptep, nr, 1);
}

static __always_inline u64 batched_clear(const struct work *work,
					 unsigned long addr, pte_t *ptep,
					 unsigned int nr)
{
	clear_ptes(work->mm, addr, ptep, nr);
	return 0;
}

static __always_inline u64 single_clear(const struct work *work,
					unsigned long addr, pte_t *ptep,
					unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		ptep_get_and_clear(work->mm, addr, ptep);
	return 0;
}

static __always_inline u64 batched_clear_full(const struct work *work,
					      unsigned long addr, pte_t *ptep,
					      unsigned int nr)
{
	clear_full_ptes(work->mm, addr, ptep, nr, 1);
	return 0;
}

static __always_inline u64 single_clear_full(const struct work *work,
					     unsigned long addr, pte_t *ptep,
					     unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		ptep_get_and_clear_full(work->mm, addr, ptep, 1);
	return 0;
}

static __always_inline u64 batched_clear_absent(const struct work *work,
						unsigned long addr,
						pte_t *ptep, unsigned int nr)
{
	clear_nonpresent_ptes(work->mm, addr, ptep, nr);
	return 0;
}

static __always_inline u64 single_clear_absent(const struct work *work,
					       unsigned long addr,
					       pte_t *ptep, unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		pte_clear_not_present_full(work->mm, addr, ptep, 0);
	return 0;
}

static __always_inline u64 batched_clear_young(const struct work *work,
					       unsigned long addr,
					       pte_t *ptep, unsigned int nr)
{
	clear_young_dirty_ptes(work->vma, addr, ptep, nr, CYDP_CLEAR_YOUNG);
	return 0;
}

static __always_inline u64 single_clear_young(const struct work *work,
					      unsigned long addr, pte_t *ptep,
					      unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		ptep_test_and_clear_young(work->vma, addr, ptep);
	return 0;
}

static __always_inline u64 batched_clear_young_dirty(const struct work *work,
						     unsigned long addr,
						     pte_t *ptep,
						     unsigned int nr)
{
	clear_young_dirty_ptes(work->vma, addr, ptep, nr,
			       CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY);
	return 0;
}

static __always_inline u64 single_clear_young_dirty(const struct work *work,
						    unsigned long addr,
						    pte_t *ptep,
						    unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte_t pte = ptep_get_and_clear(work->mm, addr, ptep);

		set_pte_at(work->mm, addr, ptep, pte_mkold(pte_mkclean(pte)));
	}
	return 0;
}

static __always_inline u64 batched_test_young(const struct work *work,
					      unsigned long addr, pte_t *ptep,
					      unsigned int nr)
{
	return test_and_clear_young_ptes(work->vma, addr, ptep, nr);
}

static __always_inline u64 single_test_young(const struct work *work,
					     unsigned long addr, pte_t *ptep,
					     unsigned int nr)
{
	bool young = false;

	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		young |= ptep_test_and_clear_young(work->vma, addr, ptep);
	return young;
}

static __always_inline u64 batched_flush_young(const struct work *work,
					       unsigned long addr,
					       pte_t *ptep, unsigned int nr)
{
	return clear_flush_young_ptes(work->vma, addr, ptep, nr);
}

static __always_inline u64 single_flush_young(const struct work *work,
					      unsigned long addr, pte_t *ptep,
					      unsigned int nr)
{
	bool young = false;

	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		young |= ptep_clear_flush_young(work->vma, addr, ptep);
	return young;
}

static __always_inline u64 batched_start_commit(const struct work *work,
						unsigned long addr,
						pte_t *ptep, unsigned int nr)
{
	pte_t old = modify_prot_start_ptes(work->vma, addr, ptep, nr);

	modify_prot_commit_ptes(work->vma, addr, ptep, old,
				pte_modify(old, work->prot), nr);
	return 0;
}

static __always_inline u64 single_start_commit(const struct work *work,
					       unsigned long addr,
					       pte_t *ptep, unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte_t old = ptep_modify_prot_start(work->vma, addr, ptep);

		ptep_modify_prot_commit(work->vma, addr, ptep, old,
					pte_modify(old, work->prot));
	}
	return 0;
}

/* As generic_tlb_modify_prot_run() calls it: the last two kinds are remembered. */
static __always_inline u64 batched_modify(const struct work *work,
					  unsigned long addr, pte_t *ptep,
					  unsigned int nr)
{
	struct { pte_t old_pte, new_pte; } step[2] = { };
	unsigned int done = 0;
	bool kind = false;

	while (done < nr) {
		kind = !kind;
		done += modify_prot_ptes(work->vma, addr + done * PAGE_SIZE,
					 ptep + done, nr - done, work->prot,
					 (modprot_t)work->flags,
					 &step[kind].old_pte,
					 &step[kind].new_pte);
	}
	return 0;
}

/* The loop of change_pte_range(), without what it asks of pages. */
static __always_inline u64 single_modify(const struct work *work,
					 unsigned long addr, pte_t *ptep,
					 unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte_t old = ptep_modify_prot_start(work->vma, addr, ptep);
		pte_t pte = pte_modify(old, work->prot);

		if (work->flags & MODPROT_MKWRITE && !pte_write(pte))
			pte = pte_mkwrite(pte, work->vma);
		ptep_modify_prot_commit(work->vma, addr, ptep, old, pte);
	}
	return 0;
}

static __always_inline u64 batched_access(const struct work *work,
					  unsigned long addr, pte_t *ptep,
					  unsigned int nr)
{
	return set_access_flags_ptes(work->vma, addr, ptep, nr, SAF_WRITE);
}

static __always_inline u64 single_access(const struct work *work,
					 unsigned long addr, pte_t *ptep,
					 unsigned int nr)
{
	bool changed = false;

	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte_t pte = pte_mkwrite(ptep_get(ptep), work->vma);

		changed |= ptep_set_access_flags(work->vma, addr, ptep, pte,
						 1);
	}
	return changed;
}

static __always_inline u64 batched_run(const struct work *work,
				       unsigned long addr, pte_t *ptep,
				       unsigned int nr)
{
	return pte_run_present(ptep, ptep_get(ptep), nr);
}

static __always_inline u64 single_run(const struct work *work,
				      unsigned long addr, pte_t *ptep,
				      unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!pte_present(ptep_get(ptep + i)))
			break;
	return i;
}

static __always_inline u64 batched_folio_batch(const struct work *work,
					       unsigned long addr,
					       pte_t *ptep, unsigned int nr)
{
	pte_t pte = ptep_get(ptep);
	struct page *page = vm_normal_page(work->vma, addr, pte);

	return folio_pte_batch(page_folio(page), ptep, pte, nr);
}

/* What stands in for a batch where there is none: look at each page. */
static __always_inline u64 single_folio_batch(const struct work *work,
					      unsigned long addr, pte_t *ptep,
					      unsigned int nr)
{
	struct folio *folio = NULL;
	unsigned int i;

	for (i = 0; i < nr; i++, addr += PAGE_SIZE) {
		pte_t pte = ptep_get(ptep + i);
		struct page *page;

		if (!pte_present(pte))
			break;
		page = vm_normal_page(work->vma, addr, pte);
		if (!page || (folio && page_folio(page) != folio))
			break;
		folio = page_folio(page);
	}
	return i;
}

static __always_inline u64 batched_folio_run(const struct work *work,
					     unsigned long addr, pte_t *ptep,
					     unsigned int nr)
{
	pte_t pte = ptep_get(ptep);
	struct page *page = vm_normal_page(work->vma, addr, pte);

	return folio_run_ptes(page_folio(page), ptep, pte, nr);
}

static __always_inline u64 batched_exclusive(const struct work *work,
					     unsigned long addr, pte_t *ptep,
					     unsigned int nr)
{
	bool exclusive;
	unsigned int done;

	done = anon_exclusive_ptes(work->vma, addr, ptep, nr, &exclusive);
	return done << 1 | exclusive;
}

/* Is this an anonymous page of ours alone? */
static __always_inline bool single_may_write(struct vm_area_struct *vma,
					     unsigned long addr, pte_t pte)
{
	struct page *page = vm_normal_page(vma, addr, pte);

	return page && folio_test_anon(page_folio(page)) &&
	       test_bit(PG_anon_exclusive, &page->flags);
}

static __always_inline u64 single_exclusive(const struct work *work,
					    unsigned long addr, pte_t *ptep,
					    unsigned int nr)
{
	bool exclusive = single_may_write(work->vma, addr, ptep_get(ptep));
	unsigned int i;

	for (i = 1; i < nr; i++) {
		pte_t pte = ptep_get(ptep + i);

		addr += PAGE_SIZE;
		if (!pte_present(pte) ||
		    single_may_write(work->vma, addr, pte) != exclusive)
			break;
	}
	return i << 1 | exclusive;
}

static __always_inline u64 to_be_flushed(const struct mmu_gather *tlb)
{
	return tlb->cleared_ptes ? tlb->end - tlb->start : 0;
}

static __always_inline u64 batched_change(const struct work *work,
					  unsigned long addr, pte_t *ptep,
					  unsigned int nr)
{
	struct mmu_gather tlb = { .start = ~0UL };

	change_present_ptes(&tlb, work->vma, addr, ptep, nr, work->prot,
			    work->flags);
	return to_be_flushed(&tlb);
}

/* change_pte_range() of a kernel that batches nothing, its present entries. */
static __always_inline u64 single_change(const struct work *work,
					 unsigned long addr, pte_t *ptep,
					 unsigned int nr)
{
	const bool upgrade = work->flags & MM_CP_TRY_CHANGE_WRITABLE;
	struct vm_area_struct *vma = work->vma;
	struct mmu_gather tlb = { .start = ~0UL };

	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte_t old = ptep_get(ptep), pte;

		if (!pte_present(old))
			break;
		old = ptep_modify_prot_start(vma, addr, ptep);
		pte = pte_modify(old, work->prot);
		if (work->flags & MM_CP_UFFD_WP)
			pte = pte_mkuffd_wp(pte);
		else if (work->flags & MM_CP_UFFD_WP_RESOLVE)
			pte = pte_clear_uffd_wp(pte);
		if (upgrade && !pte_write(pte) && !pte_protnone(pte) &&
		    !(vma_soft_dirty_enabled(vma) && !pte_soft_dirty(pte)) &&
		    !(userfaultfd_wp(vma) && pte_uffd_wp(pte)) &&
		    single_may_write(vma, addr, pte))
			pte = pte_mkwrite(pte, vma);
		ptep_modify_prot_commit(vma, addr, ptep, old, pte);
		if (pte_needs_flush(old, pte))
			tlb_flush_pte_range(&tlb, addr, PAGE_SIZE);
	}
	return to_be_flushed(&tlb);
}

static __always_inline void fault_at(struct vm_fault *vmf,
				     const struct work *work,
				     unsigned long addr, pte_t *ptep)
{
	*vmf = (struct vm_fault) {
		.vma = work->vma,
		.address = addr,
		.pte = ptep,
		.page = pfn_to_page(pte_pfn(ptep_get(ptep))),
	};
}

static __always_inline u64 batched_numa(const struct work *work,
					unsigned long addr, pte_t *ptep,
					unsigned int nr)
{
	struct vm_fault vmf;

	fault_at(&vmf, work, addr, ptep);
	return numa_rebuild_ptes(&vmf, work->vma, page_folio(vmf.page), addr,
				 ptep, nr, true);
}

/* The loop of numa_rebuild_large_mapping(). */
static __always_inline u64 single_numa(const struct work *work,
				       unsigned long addr, pte_t *ptep,
				       unsigned int nr)
{
	struct vm_area_struct *vma = work->vma;
	struct vm_fault vmf;
	struct folio *folio;
	unsigned int i;

	fault_at(&vmf, work, addr, ptep);
	folio = page_folio(vmf.page);
	for (i = 0; i < nr; i++, ptep++, addr += PAGE_SIZE) {
		pte_t pte = ptep_get(ptep), old;
		bool writable;

		if (!pte_present(pte) || !pte_protnone(pte))
			break;
		if (page_folio(pfn_to_page(pte_pfn(pte))) != folio)
			break;
		pte = pte_modify(pte, vma->vm_page_prot);
		writable = pte_write(pte) || single_may_write(vma, addr, pte);
		old = ptep_modify_prot_start(vma, addr, ptep);
		pte = pte_mkyoung(pte_modify(old, vma->vm_page_prot));
		if (writable)
			pte = pte_mkwrite(pte, vma);
		ptep_modify_prot_commit(vma, addr, ptep, old, pte);
		update_mmu_cache_range(&vmf, vma, addr, ptep, 1);
	}
	return i;
}

static __always_inline u64 batched_reuse(const struct work *work,
					 unsigned long addr, pte_t *ptep,
					 unsigned int nr)
{
	struct vm_fault vmf;

	fault_at(&vmf, work, addr, ptep);
	return wp_reuse_large_folio(&vmf, page_folio(vmf.page));
}

/* What remains of one fault per page, once the faults are taken away. */
static __always_inline u64 single_reuse(const struct work *work,
					unsigned long addr, pte_t *ptep,
					unsigned int nr)
{
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte_t pte = ptep_get(ptep);
		struct page *page = vm_normal_page(work->vma, addr, pte);

		SetPageAnonExclusive(page);
		pte = pte_mkwrite(pte, work->vma);
		ptep_set_access_flags(work->vma, addr, ptep, pte, 1);
	}
	return 1;
}

#define MEASURED(name, range)						\
static noinline void name(struct work *work)				\
{									\
	work->result = each_range(work, range);				\
}

MEASURED(run_batched_set, batched_set)
MEASURED(run_batched_wrprotect, batched_wrprotect)
MEASURED(run_batched_get_clear, batched_get_clear)
MEASURED(run_batched_get_clear_full, batched_get_clear_full)
MEASURED(run_batched_clear, batched_clear)
MEASURED(run_batched_clear_full, batched_clear_full)
MEASURED(run_batched_clear_absent, batched_clear_absent)
MEASURED(run_batched_clear_young, batched_clear_young)
MEASURED(run_batched_clear_young_dirty, batched_clear_young_dirty)
MEASURED(run_batched_test_young, batched_test_young)
MEASURED(run_batched_flush_young, batched_flush_young)
MEASURED(run_batched_start_commit, batched_start_commit)
MEASURED(run_batched_modify, batched_modify)
MEASURED(run_batched_access, batched_access)
MEASURED(run_batched_run, batched_run)
MEASURED(run_batched_folio_batch, batched_folio_batch)
MEASURED(run_batched_folio_run, batched_folio_run)
MEASURED(run_batched_exclusive, batched_exclusive)
MEASURED(run_batched_change, batched_change)
MEASURED(run_batched_numa, batched_numa)
MEASURED(run_batched_reuse, batched_reuse)

MEASURED(run_single_set, single_set)
MEASURED(run_single_wrprotect, single_wrprotect)
MEASURED(run_single_get_clear, single_get_clear)
MEASURED(run_single_get_clear_full, single_get_clear_full)
MEASURED(run_single_clear, single_clear)
MEASURED(run_single_clear_full, single_clear_full)
MEASURED(run_single_clear_absent, single_clear_absent)
MEASURED(run_single_clear_young, single_clear_young)
MEASURED(run_single_clear_young_dirty, single_clear_young_dirty)
MEASURED(run_single_test_young, single_test_young)
MEASURED(run_single_flush_young, single_flush_young)
MEASURED(run_single_start_commit, single_start_commit)
MEASURED(run_single_modify, single_modify)
MEASURED(run_single_access, single_access)
MEASURED(run_single_run, single_run)
MEASURED(run_single_folio_batch, single_folio_batch)
MEASURED(run_single_exclusive, single_exclusive)
MEASURED(run_single_change, single_change)
MEASURED(run_single_numa, single_numa)
MEASURED(run_single_reuse, single_reuse)

/* An override is a function named after its architecture, behind a macro. */
#define TEXT(helper)		#helper
#define OVERRIDDEN(helper)	(!memcmp(TEXT(helper), "x86_", 4))

static struct subject subject = {
#ifdef PTE_BATCH_FORCE_GENERIC
	.generic = true,
#endif
	.shift = &subject_shift,
	.single = {
		[OP_SET] = run_single_set,
		[OP_WRPROTECT] = run_single_wrprotect,
		[OP_GET_CLEAR] = run_single_get_clear,
		[OP_GET_CLEAR_FULL] = run_single_get_clear_full,
		[OP_CLEAR] = run_single_clear,
		[OP_CLEAR_FULL] = run_single_clear_full,
		[OP_CLEAR_ABSENT] = run_single_clear_absent,
		[OP_CLEAR_YOUNG] = run_single_clear_young,
		[OP_CLEAR_YOUNG_DIRTY] = run_single_clear_young_dirty,
		[OP_TEST_YOUNG] = run_single_test_young,
		[OP_FLUSH_YOUNG] = run_single_flush_young,
		[OP_START_COMMIT] = run_single_start_commit,
		[OP_MODIFY] = run_single_modify,
		[OP_ACCESS] = run_single_access,
		[OP_RUN] = run_single_run,
		[OP_FOLIO_BATCH] = run_single_folio_batch,
		[OP_FOLIO_RUN] = run_single_folio_batch,
		[OP_EXCLUSIVE] = run_single_exclusive,
		[OP_CHANGE] = run_single_change,
		[OP_NUMA] = run_single_numa,
		[OP_REUSE] = run_single_reuse,
	},
	.batched = {
		[OP_SET] = run_batched_set,
		[OP_WRPROTECT] = run_batched_wrprotect,
		[OP_GET_CLEAR] = run_batched_get_clear,
		[OP_GET_CLEAR_FULL] = run_batched_get_clear_full,
		[OP_CLEAR] = run_batched_clear,
		[OP_CLEAR_FULL] = run_batched_clear_full,
		[OP_CLEAR_ABSENT] = run_batched_clear_absent,
		[OP_CLEAR_YOUNG] = run_batched_clear_young,
		[OP_CLEAR_YOUNG_DIRTY] = run_batched_clear_young_dirty,
		[OP_TEST_YOUNG] = run_batched_test_young,
		[OP_FLUSH_YOUNG] = run_batched_flush_young,
		[OP_START_COMMIT] = run_batched_start_commit,
		[OP_MODIFY] = run_batched_modify,
		[OP_ACCESS] = run_batched_access,
		[OP_RUN] = run_batched_run,
		[OP_FOLIO_BATCH] = run_batched_folio_batch,
		[OP_FOLIO_RUN] = run_batched_folio_run,
		[OP_EXCLUSIVE] = run_batched_exclusive,
		[OP_CHANGE] = run_batched_change,
		[OP_NUMA] = run_batched_numa,
		[OP_REUSE] = run_batched_reuse,
	},
};

/* Not above, because a comparison of names is no constant initialiser. */
__attribute__((constructor)) static void subject_init(void)
{
	bool *overridden = subject.overridden;

	overridden[OP_SET] = OVERRIDDEN(set_ptes);
	overridden[OP_WRPROTECT] = OVERRIDDEN(wrprotect_ptes);
	overridden[OP_GET_CLEAR] = OVERRIDDEN(get_and_clear_ptes) ||
				   OVERRIDDEN(get_and_clear_full_ptes);
	overridden[OP_GET_CLEAR_FULL] = OVERRIDDEN(get_and_clear_full_ptes);
	overridden[OP_CLEAR] = OVERRIDDEN(clear_ptes) ||
			       OVERRIDDEN(clear_full_ptes);
	overridden[OP_CLEAR_FULL] = OVERRIDDEN(clear_full_ptes);
	overridden[OP_CLEAR_ABSENT] = OVERRIDDEN(clear_nonpresent_ptes);
	overridden[OP_CLEAR_YOUNG] = OVERRIDDEN(clear_young_dirty_ptes);
	overridden[OP_CLEAR_YOUNG_DIRTY] = OVERRIDDEN(clear_young_dirty_ptes);
	overridden[OP_TEST_YOUNG] = OVERRIDDEN(test_and_clear_young_ptes);
	overridden[OP_FLUSH_YOUNG] = OVERRIDDEN(clear_flush_young_ptes);
	overridden[OP_START_COMMIT] = OVERRIDDEN(modify_prot_start_ptes) ||
				      OVERRIDDEN(modify_prot_commit_ptes);
	overridden[OP_MODIFY] = OVERRIDDEN(modify_prot_ptes);
	overridden[OP_ACCESS] = OVERRIDDEN(set_access_flags_ptes);
	overridden[OP_RUN] = OVERRIDDEN(pte_run_present);
	overridden[OP_CHANGE] = OVERRIDDEN(modify_prot_ptes);
	overridden[OP_NUMA] = OVERRIDDEN(modify_prot_ptes);
	overridden[OP_REUSE] = OVERRIDDEN(set_access_flags_ptes);
	subject_register(&subject);
}
