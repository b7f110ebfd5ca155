/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Batches of PTEs at the level of folios and VMAs, for mm/ only: to be
 * included after "internal.h".
 *
 * Two kinds of batch. A run needs no struct page: consecutive entries, handled
 * with all that does not change between them done once. A folio batch is the
 * part of a run that one large folio fills, and is looked for only where the
 * page has to be looked at anyway. Whatever is found, each entry is changed
 * for itself (modify_prot_ptes(), set_access_flags_ptes()).
 */
#ifndef _LINUX_FOLIO_PTE_BATCH_H
#define _LINUX_FOLIO_PTE_BATCH_H

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/rmap.h>
#include <linux/swap.h>
#include <linux/userfaultfd_k.h>
#include <asm/tlb.h>
#include <asm/tlbflush.h>

/**
 * struct modprot_kind - entries alike change alike
 * @old_pte: one of them as it was
 * @new_pte: what became of it
 * @flush: whether the TLB has to know; for tlb_modify_prot_run() itself
 * @in_place: whether it need not be cleared before; likewise
 */
struct modprot_kind {
	pte_t old_pte;
	pte_t new_pte;
	bool flush;
	bool in_place;
};

/* What an architecture does better, of what comes below: asked for by this. */
#define _LINUX_FOLIO_PTE_BATCH_ARCH
#include <asm/pgtable_batch.h>

#ifndef ptep_peek
#define ptep_peek ptep_get
#endif

/**
 * ptep_peek() - read an entry of which neither accessed nor dirty is asked
 * @ptep: page table pointer of the entry
 *
 * Where several entries are one to the hardware, ptep_get() collects those two
 * bits from all of them: the dearest part of looking at an entry.
 *
 * Context: the page table lock is held.
 * Return: the entry; its accessed and dirty bits mean nothing.
 */
pte_t ptep_peek(pte_t *ptep);

#ifndef flush_tlb_local_ptes
static inline void flush_tlb_local_ptes(struct vm_area_struct *vma,
					unsigned long addr, unsigned int nr)
{
}

#define flush_tlb_local_ptes flush_tlb_local_ptes
#endif

/**
 * flush_tlb_local_ptes() - drop what this CPU alone remembers of a range
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @nr: number of pages
 *
 * Only after rights were added: other CPUs keep their stale translations, and
 * lose them by a spurious fault each.
 *
 * PTE bits that may differ inside the range: all, no entry is read.
 * Default: nothing, this CPU takes the spurious faults as well.
 *
 * Context: the page table lock is held.
 */
void flush_tlb_local_ptes(struct vm_area_struct *vma, unsigned long addr,
			  unsigned int nr);

/* Trees before 6.17 have no flags for what a batch must respect. */
#ifndef FPB_RESPECT_DIRTY
#ifndef FPB_IGNORE_DIRTY
typedef int __bitwise fpb_t;
#endif

/* Bits above those that older trees use, to tell the two apart. */
#define FPB_RESPECT_DIRTY	((__force fpb_t)BIT(8))
#define FPB_RESPECT_SOFT_DIRTY	((__force fpb_t)BIT(9))
#define FPB_RESPECT_WRITE	((__force fpb_t)BIT(10))
#define FPB_MERGE_WRITE		((__force fpb_t)BIT(11))
#define FPB_MERGE_YOUNG_DIRTY	((__force fpb_t)BIT(12))

/*
 * What is left of an entry for the comparison. The write bit is compared by
 * pte_write() instead: on x86, writable shadow stack is told from read-only by
 * the dirty bit, which is taken out here.
 */
static __always_inline pte_t fpb_compared_bits(pte_t pte, fpb_t flags)
{
	if (!(flags & FPB_RESPECT_DIRTY))
		pte = pte_mkclean(pte);
	if (!(flags & FPB_RESPECT_SOFT_DIRTY))
		pte = pte_clear_soft_dirty(pte);
	return pte_wrprotect(pte_mkold(pte));
}

static __always_inline pte_t fpb_merge(struct vm_area_struct *vma, pte_t first,
				       pte_t pte, fpb_t flags)
{
	if ((flags & FPB_MERGE_WRITE) && pte_write(pte))
		first = pte_mkwrite(first, vma);
	if (flags & FPB_MERGE_YOUNG_DIRTY)
		first = ptes_collect_young_dirty(first, pte);
	return first;
}

/**
 * folio_pte_batch_flags() - find how far one large folio is mapped in order
 * @folio: the large folio
 * @vma: VMA it is mapped in; may be NULL without FPB_MERGE_WRITE
 * @ptep: page table pointer of the first entry
 * @ptentp: the first entry's value, a copy, never a place in the table
 * @max_nr: number of entries that may be looked at: within the VMA and the
 *	page table
 * @flags: FPB_RESPECT_* bits that must not differ, FPB_MERGE_* bits to collect
 *	in @ptentp
 *
 * PTE bits that may differ inside the range: accessed; dirty, soft-dirty and
 * write unless respected.
 *
 * Context: the page table lock is held.
 * Return: the number of entries, 1 to @max_nr, none beyond the folio's end.
 */
static __always_inline unsigned int
folio_pte_batch_flags(struct folio *folio, struct vm_area_struct *vma,
		      pte_t *ptep, pte_t *ptentp, unsigned int max_nr,
		      fpb_t flags)
{
	const pte_t first = *ptentp;
	unsigned int nr = 1;
	pte_t want;

	/*
	 * Clamp before anything is compared: the entry behind the folio's last
	 * page may not exist, and on Xen PV looks like an empty one.
	 */
	max_nr = min_t(unsigned long, max_nr,
		       folio_pfn(folio) + folio_nr_pages(folio) -
		       pte_pfn(first));
	nr = pte_batch_hint(ptep, first);
	want = fpb_compared_bits(first, flags);

	while (nr < max_nr) {
		pte_t pte = ptep_get(ptep + nr);

		if (!pte_present(pte) ||
		    !pte_same(fpb_compared_bits(pte, flags),
			      pte_advance_pfn(want, nr)))
			break;
		if ((flags & FPB_RESPECT_WRITE) &&
		    !pte_write(pte) != !pte_write(first))
			break;
		*ptentp = fpb_merge(vma, *ptentp, pte, flags);
		nr += pte_batch_hint(ptep + nr, pte);
	}
	return min(nr, max_nr);
}

/* Older trees have a function of this name with eight arguments. */
#ifndef FPB_IGNORE_DIRTY
/**
 * folio_pte_batch() - folio_pte_batch_flags() that respects nothing
 * @folio: the large folio
 * @ptep: page table pointer of the first entry
 * @pte: the first entry's value
 * @max_nr: number of entries that may be looked at
 *
 * PTE bits that may differ inside the range: accessed, dirty, soft-dirty,
 * write.
 *
 * Context: the page table lock is held.
 * Return: the number of entries, 1 to @max_nr, none beyond the folio's end.
 */
static inline unsigned int folio_pte_batch(struct folio *folio, pte_t *ptep,
					   pte_t pte, unsigned int max_nr)
{
	return folio_pte_batch_flags(folio, NULL, ptep, &pte, max_nr,
				     (__force fpb_t)0);
}
#endif
#endif /* !FPB_RESPECT_DIRTY */

/**
 * swap_pte_batch() - find how far swap entries follow each other
 * @start_ptep: page table pointer of the first entry
 * @max_nr: number of entries that may be looked at
 * @pte: the first entry's value
 *
 * PTE bits that may differ inside the range: none; the type and all swap bits
 * are equal, the offsets consecutive, the owner in memory accounting the same.
 *
 * Context: the page table lock is held.
 * Return: the number of entries, 1 to @max_nr.
 */
int swap_pte_batch(pte_t *start_ptep, int max_nr, pte_t pte);

/**
 * pte_run_none() - find how far entries are none
 * @ptep: page table pointer of the first entry, which is none
 * @max_nr: number of entries that may be looked at, within one page table
 *
 * PTE bits that may differ inside the range: none, there are no bits.
 *
 * Context: the page table lock is held.
 * Return: the number of entries, 1 to @max_nr.
 */
static inline unsigned int pte_run_none(pte_t *ptep, unsigned int max_nr)
{
	unsigned int nr = 1;

	while (nr < max_nr && pte_none(ptep_get(ptep + nr)))
		nr++;
	return nr;
}

/**
 * folio_run_ptes() - how many entries one decision about a folio is good for
 * @folio: the folio that @pte maps; NULL or a small folio is good for one
 * @ptep: page table pointer of the first entry
 * @pte: the first entry's value, present and not PROT_NONE
 * @max_nr: number of entries that may be looked at
 *
 * PTE bits that may differ inside the range: all but the frame's order; no
 * entry is PROT_NONE.
 *
 * Context: the page table lock is held.
 * Return: the number of entries, 1 to @max_nr, none beyond the folio's end.
 */
static inline unsigned int folio_run_ptes(struct folio *folio, pte_t *ptep,
					  pte_t pte, unsigned int max_nr)
{
	unsigned long pfn = pte_pfn(pte);
	unsigned int nr;

	if (!folio || !folio_test_large(folio))
		return 1;

	max_nr = min_t(unsigned long, max_nr,
		       folio_pfn(folio) + folio_nr_pages(folio) - pfn);
	nr = pte_batch_hint(ptep, pte);
	while (nr < max_nr) {
		pte = ptep_get(ptep + nr);
		if (!pte_present(pte) || pte_protnone(pte) ||
		    pte_pfn(pte) != pfn + nr)
			break;
		nr += pte_batch_hint(ptep + nr, pte);
	}
	return min(nr, max_nr);
}

/*
 * vm_normal_page() for who asks for anonymous pages, without a call in the
 * common cases: what is special (the zero page, a driver's) is never one.
 */
static __always_inline struct page *
pte_normal_page(struct vm_area_struct *vma, unsigned long addr, pte_t pte)
{
	if (!IS_ENABLED(CONFIG_ARCH_HAS_PTE_SPECIAL))
		return vm_normal_page(vma, addr, pte);
	if (pte_special(pte))
		return NULL;
	if (likely(pte_pfn(pte) <= highest_memmap_pfn))
		return pfn_to_page(pte_pfn(pte));
	return vm_normal_page(vma, addr, pte);
}

/*
 * What an entry maps: an anonymous page, or NULL for what is never exclusive;
 * and how many pages of its folio follow.
 */
struct anon_cursor {
	struct page *page;
	unsigned long left;
};

static __always_inline void
anon_cursor_lookup(struct anon_cursor *cur, struct vm_area_struct *vma,
		   unsigned long addr, pte_t pte)
{
	struct page *page = pte_normal_page(vma, addr, pte);
	struct folio *folio;

	cur->page = NULL;
	cur->left = 0;
	if (!page)
		return;
	folio = page_folio(page);
	if (!folio_test_anon(folio))
		return;
	cur->page = page;
	if (folio_test_large(folio))
		cur->left = folio_nr_pages(folio) - 1 -
			    folio_page_idx(folio, page);
}

/*
 * PageAnonExclusive() without its question for hugetlb, whose tables are not
 * walked this way.
 */
static __always_inline bool page_is_exclusive(const struct page *page)
{
	/* A number, or in newer trees a structure of that number alone. */
	return test_bit(PG_anon_exclusive, (const unsigned long *)&page->flags);
}

/* Of the @nr pages behind @page, NULL if they are not anonymous. */
static __always_inline unsigned int
pages_alike(const struct page *page, unsigned int nr, bool exclusive)
{
	unsigned int i;

	if (!page)
		return nr;
	for (i = 0; i < nr; i++)
		if (page_is_exclusive(++page) != exclusive)
			break;
	return i;
}

/*
 * Of the @nr entries from @ptep on: how many are @pte with the frame advanced,
 * which is seen by comparing two values, and map pages alike?
 */
static __always_inline unsigned int
folio_ptes_alike(const struct page *page, pte_t *ptep, pte_t pte,
		 unsigned int nr, bool exclusive)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		pte = pte_next_pfn(pte);
		if (!pte_same(ptep_get(ptep + i), pte) ||
		    page_is_exclusive(++page) != exclusive)
			break;
	}
	return i;
}

/*
 * How many entries from @ptep on, which @cur was looked up for, are alike. It
 * is at the entry behind them afterwards, if there is one: where a run ends,
 * that page was looked at, and the next run begins with what is known of it.
 */
static __always_inline unsigned int
anon_cursor_run(struct anon_cursor *cur, struct vm_area_struct *vma,
		unsigned long addr, pte_t *ptep, unsigned int max_nr,
		bool *exclusive)
{
	pte_t pte = ptep_peek(ptep);
	unsigned int nr = 0, rest;
	bool now;

	*exclusive = now = cur->page && page_is_exclusive(cur->page);
	do {
		rest = pte_batch_hint(ptep + nr, pte) - 1;
		nr++;
		if (rest)
			nr += pages_alike(cur->page, min(rest, max_nr - nr),
					  now);
		else if (cur->left)
			nr += folio_ptes_alike(cur->page, ptep + nr, pte,
					       min_t(unsigned long, cur->left,
						     max_nr - nr), now);
		if (nr >= max_nr)
			return max_nr;
		pte = ptep_peek(ptep + nr);
		if (!pte_present(pte))
			return nr;
		anon_cursor_lookup(cur, vma, addr + nr * PAGE_SIZE, pte);
		now = cur->page && page_is_exclusive(cur->page);
	} while (now == *exclusive);
	return nr;
}

/**
 * anon_exclusive_ptes() - how far all pages are exclusive, or none is
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry, present
 * @max_nr: number of entries that may be looked at
 * @exclusive: where to put whether the pages are anonymous and exclusive
 *
 * The state is looked up for each page, not for the folio: in a folio that is
 * shared in part both kinds stand side by side.
 *
 * PTE bits that may differ inside the range: all, the frame included.
 *
 * Context: the page table lock is held.
 * Return: the number of present entries alike, 1 to @max_nr.
 */
static inline unsigned int
anon_exclusive_ptes(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep,
		    unsigned int max_nr, bool *exclusive)
{
	struct anon_cursor cur;

	anon_cursor_lookup(&cur, vma, addr, ptep_peek(ptep));
	return anon_cursor_run(&cur, vma, addr, ptep, max_nr, exclusive);
}

/**
 * modprot_upgrade() - what lets an entry of a writable VMA become writable
 * @vma: the VMA
 *
 * Context: the mmap lock or the VMA lock is held.
 * Return: flags for modify_prot_ptes(). With MODPROT_MKWRITE, the caller has
 * to take that flag out for pages that are not exclusive.
 */
static inline modprot_t modprot_upgrade(struct vm_area_struct *vma)
{
	modprot_t flags;

	if (WARN_ON_ONCE(!(vma->vm_flags & VM_WRITE)))
		return MODPROT_NONE;

	/*
	 * Private: what the write-fault handler would do without looking
	 * further, that is exclusive anonymous pages. Shared: a dirty entry
	 * says that the filesystem has been told.
	 */
	flags = vma->vm_flags & VM_SHARED ? MODPROT_MKWRITE_DIRTY :
					    MODPROT_MKWRITE;
	if (vma_soft_dirty_enabled(vma))
		flags |= MODPROT_SOFT_DIRTY_WP;
	if (userfaultfd_wp(vma))
		flags |= MODPROT_KEEP_UFFD_WP;
	return flags;
}

/* Trees from 7.3 on watch reads as well, by the same bit. */
#ifdef MM_CP_UFFD_RWP
#define MODPROT_CP_UFFD		(MM_CP_UFFD_WP | MM_CP_UFFD_RWP)
#define MODPROT_CP_RESOLVE	(MM_CP_UFFD_WP_RESOLVE | MM_CP_UFFD_RWP_RESOLVE)
#else
#define MODPROT_CP_UFFD		MM_CP_UFFD_WP
#define MODPROT_CP_RESOLVE	MM_CP_UFFD_WP_RESOLVE
#endif

static __always_inline bool modprot_rwp(struct vm_area_struct *vma)
{
#ifdef MM_CP_UFFD_RWP
	return userfaultfd_rwp(vma);
#else
	return false;
#endif
}

static __always_inline unsigned int
generic_tlb_modify_prot_run(struct mmu_gather *tlb, struct vm_area_struct *vma,
			    unsigned long addr, pte_t *ptep, unsigned int nr,
			    pgprot_t newprot, modprot_t flags,
			    struct modprot_kind *kind,
			    struct modprot_kind *other)
{
	unsigned int done = 0, group;

	do {
		group = modify_prot_ptes(vma, addr, ptep, nr - done, newprot,
					 flags, &kind->old_pte,
					 &kind->new_pte);
		if (tlb && pte_needs_flush(kind->old_pte, kind->new_pte))
			tlb_flush_pte_range(tlb, addr, group * PAGE_SIZE);
		done += group;
		ptep += group;
		addr += group * PAGE_SIZE;
		swap(kind, other);
	} while (done < nr && pte_present(ptep_get(ptep)));
	return done;
}

#ifndef tlb_modify_prot_run
#define tlb_modify_prot_run generic_tlb_modify_prot_run
#endif

/**
 * tlb_modify_prot_run() - change a run whose entries all get the same flags
 * @tlb: where to note what to flush; NULL if the caller flushes the range
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry, present
 * @nr: number of entries that may be changed, within VMA and page table
 * @newprot: the new protection
 * @flags: what else to change
 * @kind: what became of the last entry of a call with the same @newprot and
 *	@flags; zero for none
 * @other: the same of an entry before that was not like it; may be @kind
 *
 * The flush decision for a whole range: taken for every group of entries that
 * changed alike, not from the range's first entry. Entries of two kinds may
 * take turns, so two are remembered. Where the run ends is seen on the way.
 *
 * An architecture overrides this to ask less often; modify_prot_ptes() does for
 * one group what this does for all.
 *
 * PTE bits that may differ inside the range: all, the frame included.
 *
 * Context: the page table lock is held.
 * Return: the number of entries changed, as many as are present.
 */
unsigned int tlb_modify_prot_run(struct mmu_gather *tlb,
				 struct vm_area_struct *vma, unsigned long addr,
				 pte_t *ptep, unsigned int nr, pgprot_t newprot,
				 modprot_t flags, struct modprot_kind *kind,
				 struct modprot_kind *other);

/**
 * tlb_modify_prot_ptes() - change a run's protection, note what to flush
 * @tlb: what to note it in; NULL if the caller flushes the range anyway
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry, present
 * @max_nr: number of entries that may be changed, within VMA and page table
 * @newprot: the new protection
 * @flags: what else to change; with MODPROT_MKWRITE, where pages are exclusive
 *
 * The flush decision for a whole range: taken for every group of entries that
 * changed alike, not from the range's first entry. Where the run ends is seen
 * on the way, because a group ends before an entry that is not present.
 *
 * PTE bits that may differ inside the range: all, the frame included.
 *
 * Context: the page table lock is held.
 * Return: the number of entries changed, 1 to @max_nr: as many as are present.
 */
static __always_inline unsigned int
tlb_modify_prot_ptes(struct mmu_gather *tlb, struct vm_area_struct *vma,
		     unsigned long addr, pte_t *ptep, unsigned int max_nr,
		     pgprot_t newprot, modprot_t flags)
{
	struct modprot_kind kind[2] = { };
	struct anon_cursor cur;
	unsigned int nr = 0;

	/* Kinds of entries take turns: two are remembered. */
	if (!(flags & MODPROT_MKWRITE))
		return tlb_modify_prot_run(tlb, vma, addr, ptep, max_nr, newprot,
					   flags, kind, kind + 1);
	anon_cursor_lookup(&cur, vma, addr, ptep_peek(ptep));
	do {
		bool exclusive;
		unsigned int end = anon_cursor_run(&cur, vma, addr, ptep,
						   max_nr - nr, &exclusive);
		modprot_t now = exclusive ? flags : flags & ~MODPROT_MKWRITE;

		end = tlb_modify_prot_run(tlb, vma, addr, ptep, end, newprot,
					  now, kind + exclusive,
					  kind + exclusive);
		nr += end;
		ptep += end;
		addr += end * PAGE_SIZE;
	} while (nr < max_nr && pte_present(ptep_peek(ptep)));
	return nr;
}

static __always_inline modprot_t modprot_of(struct vm_area_struct *vma,
					    unsigned long cp_flags)
{
	modprot_t flags = MODPROT_NONE;

	if (cp_flags & MODPROT_CP_UFFD)
		flags |= MODPROT_UFFD_WP;
	if (cp_flags & MODPROT_CP_RESOLVE)
		flags |= MODPROT_UFFD_WP_RESOLVE;
	if (modprot_rwp(vma))
		flags |= MODPROT_UFFD_RWP;
	if (cp_flags & MM_CP_TRY_CHANGE_WRITABLE)
		flags |= modprot_upgrade(vma);
	return flags;
}

/* One entry must not pay for what makes many of them cheap. */
static noinline __maybe_unused unsigned int
change_one_present_pte(struct mmu_gather *tlb, struct vm_area_struct *vma,
		       unsigned long addr, pte_t *ptep, pgprot_t newprot,
		       unsigned long cp_flags)
{
	modprot_t flags = modprot_of(vma, cp_flags);
	pte_t old_pte, new_pte;

	if (flags & MODPROT_MKWRITE) {
		struct anon_cursor cur;

		anon_cursor_lookup(&cur, vma, addr, ptep_peek(ptep));
		if (!cur.page || !page_is_exclusive(cur.page))
			flags &= ~MODPROT_MKWRITE;
	}
	generic_modify_prot_ptes(vma, addr, ptep, 1, newprot, flags, &old_pte,
				 &new_pte);
	if (tlb && pte_needs_flush(old_pte, new_pte))
		tlb_flush_pte_range(tlb, addr, PAGE_SIZE);
	return 1;
}

static noinline __maybe_unused unsigned int
change_many_present_ptes(struct mmu_gather *tlb, struct vm_area_struct *vma,
			 unsigned long addr, pte_t *ptep, unsigned int max_nr,
			 pgprot_t newprot, unsigned long cp_flags)
{
	return tlb_modify_prot_ptes(tlb, vma, addr, ptep, max_nr, newprot,
				    modprot_of(vma, cp_flags));
}

/**
 * change_present_ptes() - change_protection() for a run of present entries
 * @tlb: where to note what to flush; NULL if the caller flushes the range
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry, present
 * @max_nr: number of entries that may be changed, within VMA and page table
 * @newprot: the new protection
 * @cp_flags: MM_CP_UFFD_WP, MM_CP_UFFD_WP_RESOLVE, MM_CP_TRY_CHANGE_WRITABLE
 *
 * Pages are looked at only if exclusiveness decides whether an entry may
 * become writable, that is never when rights are taken.
 *
 * PTE bits that may differ inside the range: all, the frame included.
 *
 * Context: the page table lock is held.
 * Return: the number of entries changed, 1 to @max_nr: as many as are present.
 */
static __always_inline unsigned int
change_present_ptes(struct mmu_gather *tlb, struct vm_area_struct *vma,
		    unsigned long addr, pte_t *ptep, unsigned int max_nr,
		    pgprot_t newprot, unsigned long cp_flags)
{
	if (max_nr == 1)
		return change_one_present_pte(tlb, vma, addr, ptep, newprot,
					      cp_flags);
	return change_many_present_ptes(tlb, vma, addr, ptep, max_nr, newprot,
					cp_flags);
}

/**
 * numa_rebuild_ptes() - make a folio's NUMA hinting entries accessible again
 * @vmf: the fault
 * @vma: VMA the pages are mapped in
 * @folio: the large folio
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry, a PROT_NONE one of @folio
 * @max_nr: number of entries that may be changed, within VMA and page table
 * @write_upgrade: entries may become writable where nothing speaks against it
 *
 * PTE bits that may differ inside the range: all but the frame's order.
 *
 * Context: the page table lock is held.
 * Return: the number of entries changed, 1 to @max_nr.
 */
static inline unsigned int
numa_rebuild_ptes(struct vm_fault *vmf, struct vm_area_struct *vma,
		  struct folio *folio, unsigned long addr, pte_t *ptep,
		  unsigned int max_nr, bool write_upgrade)
{
	modprot_t flags = MODPROT_MKYOUNG;
	unsigned long pfn = pte_pfn(ptep_get(ptep));
	unsigned int nr;

	max_nr = min_t(unsigned long, max_nr,
		       folio_pfn(folio) + folio_nr_pages(folio) - pfn);
	for (nr = 1; nr < max_nr; nr++) {
		pte_t pte = ptep_get(ptep + nr);

		if (!pte_present(pte) || !pte_protnone(pte) ||
		    pte_pfn(pte) != pfn + nr ||
		    (modprot_rwp(vma) && pte_uffd_wp(pte)))
			break;
	}

	if (write_upgrade)
		flags |= modprot_upgrade(vma);
	/*
	 * Safe because rights only grow. Who took them away flushes, as for
	 * single entries, or has done so where that must come first.
	 */
	tlb_modify_prot_ptes(NULL, vma, addr, ptep, nr, vma->vm_page_prot,
			     flags);
	update_mmu_cache_range(vmf, vma, addr, ptep, nr);
	return nr;
}

/* The part of a folio that one page table maps in one VMA, in order. */
struct folio_window {
	struct page *page;
	pte_t *ptep;
	unsigned long addr;
	unsigned int nr;
};

/*
 * Clamped to the folio, the VMA and the page table, by counting pages from the
 * faulting one: no address can wrap.
 */
static inline void folio_fault_window(struct folio_window *win,
				      struct vm_fault *vmf, struct folio *folio)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long addr = vmf->address & PAGE_MASK;
	unsigned long idx = folio_page_idx(folio, vmf->page);
	unsigned long before, after;

	before = min3(idx, (addr - vma->vm_start) >> PAGE_SHIFT,
		      pte_index(addr));
	after = min3(folio_nr_pages(folio) - idx,
		     (vma->vm_end - addr) >> PAGE_SHIFT,
		     (unsigned long)PTRS_PER_PTE - pte_index(addr));
	win->page = vmf->page - before;
	win->ptep = vmf->pte - before;
	win->addr = addr - before * PAGE_SIZE;
	win->nr = before + after;
}

/* Does this entry map the page that stands at its place in the window? */
static __always_inline bool window_maps(pte_t pte, unsigned long pfn)
{
	return pte_present(pte) && pte_pfn(pte) == pfn;
}

/*
 * Are @refs entries of the window mapping its pages? Most are alike, so an
 * entry is compared with the one before first. Ends as soon as too many are
 * missing: a folio whose pages were copied one by one is not walked to its end
 * by every fault.
 */
static inline bool window_has_ptes(const struct folio_window *win,
				   unsigned int refs)
{
	unsigned long pfn = page_to_pfn(win->page);
	unsigned int i, missing = 0;
	pte_t last = __pte(0);
	bool mapped = false;

	for (i = 0; i < win->nr; i++) {
		pte_t pte = ptep_peek(win->ptep + i);

		if (!mapped || !pte_same(pte, pte_next_pfn(last)))
			mapped = window_maps(pte, pfn + i);
		if (!mapped && ++missing > win->nr - refs)
			return false;
		last = pte;
	}
	return win->nr - missing == refs;
}

/*
 * Prove that this process alone has the folio: each of its @refs references is
 * an entry of the window, counted in the locked page table. One reference more,
 * be it from the swap cache, a GUP pin, a mapping elsewhere (another VMA of
 * this process included, because the rmap moves to this VMA's), reclaim or
 * migration under way, and the answer is no.
 *
 * The count comes last: with the other process alive, there are more references
 * than the window has places, and the fault must not pay for a walk.
 */
static inline bool window_owns_folio(const struct folio_window *win,
				     struct folio *folio, unsigned int refs)
{
	return refs <= win->nr && folio_mapcount(folio) == refs &&
	       !folio_test_swapcache(folio) && !folio_test_ksm(folio) &&
	       window_has_ptes(win, refs);
}

/*
 * The entries cannot change, the page table is locked; the references can,
 * until the folio is locked and its rmap is this VMA's.
 */
static inline bool window_claim_folio(const struct folio_window *win,
				      struct vm_area_struct *vma,
				      struct folio *folio)
{
	unsigned int refs = folio_ref_count(folio);
	bool exclusive;

	if (!window_owns_folio(win, folio, refs) || !folio_trylock(folio))
		return false;
	exclusive = folio_ref_count(folio) == refs &&
		    folio_mapcount(folio) == refs &&
		    !folio_test_swapcache(folio);
	if (exclusive)
		folio_move_anon_rmap(folio, vma);
	folio_unlock(folio);
	return exclusive;
}

static inline void window_mkwrite(struct vm_fault *vmf, unsigned long addr,
				  pte_t *ptep, unsigned int nr)
{
	if (nr && set_access_flags_ptes(vmf->vma, addr, ptep, nr, SAF_WRITE))
		update_mmu_cache_range(vmf, vmf->vma, addr, ptep, nr);
}

/*
 * Mark every mapped page exclusive; make those entries writable that may be.
 * Accessed, dirty and soft-dirty stay what they were: a neighbour that is
 * never written is not written back because of us.
 */
static inline void window_reuse(const struct folio_window *win,
				struct vm_fault *vmf)
{
	unsigned long pfn = page_to_pfn(win->page);
	modprot_t flags = modprot_upgrade(vmf->vma);
	bool mapped = false, write = false;
	unsigned int i, run = 0;
	pte_t last = __pte(0);

	for (i = 0; i < win->nr; i++) {
		pte_t pte = ptep_peek(win->ptep + i);

		/*
		 * Like the one before, but for the frame: the same answers.
		 * Of exclusive anonymous pages neither asks for dirty.
		 */
		if (!mapped || !pte_same(pte, pte_next_pfn(last))) {
			mapped = window_maps(pte, pfn + i);
			write = mapped && !pte_write(pte) &&
				modprot_may_write(pte, flags);
		}
		last = pte;
		if (mapped && !page_is_exclusive(win->page + i))
			SetPageAnonExclusive(win->page + i);
		if (write) {
			run++;
			continue;
		}
		window_mkwrite(vmf, win->addr + (i - run) * PAGE_SIZE,
			       win->ptep + i - run, run);
		run = 0;
	}
	window_mkwrite(vmf, win->addr + (i - run) * PAGE_SIZE,
		       win->ptep + i - run, run);
}

/* Out of line: the fault path of small folios must not grow. */
static noinline __maybe_unused bool window_reuse_folio(struct vm_fault *vmf,
						       struct folio *folio)
{
	struct folio_window win;

	folio_fault_window(&win, vmf, folio);
	if (!window_claim_folio(&win, vmf->vma, folio))
		return false;
	window_reuse(&win, vmf);
	if (!SET_ACCESS_FLAGS_PTES_FLUSHES)
		flush_tlb_local_ptes(vmf->vma, win.addr, win.nr);
	return true;
}

/**
 * wp_reuse_large_folio() - reuse a whole large folio in one write fault
 * @vmf: the fault, with vmf->page, vmf->pte and vmf->ptl set
 * @folio: the anonymous folio of vmf->page
 *
 * If the folio belongs to this process alone (after a fork whose child is
 * gone), its pages become exclusive and the entries around the faulting one
 * writable, as far as this page table maps the folio in this VMA. The faulting
 * entry is left to the caller, who finishes it as that of any exclusive page.
 *
 * Not for small folios, unsharing faults or a VMA without VM_WRITE.
 *
 * PTE bits that may differ inside the range: all but the frame's order.
 *
 * Context: the page table lock is held. The folio is locked for a moment, by
 * trying only.
 * Return: true if vmf->page is exclusive now; false if nothing was changed.
 */
static inline bool wp_reuse_large_folio(struct vm_fault *vmf,
					struct folio *folio)
{
	return folio_test_large(folio) && !(vmf->flags & FAULT_FLAG_UNSHARE) &&
	       (vmf->vma->vm_flags & VM_WRITE) &&
	       window_reuse_folio(vmf, folio);
}

#endif /* _LINUX_FOLIO_PTE_BATCH_H */
