/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Folios, the flush gatherer and the fault, as far as decisions of the headers
 * depend on them. One array of pages, one page size.
 */
#ifndef _LINUX_MM_H
#define _LINUX_MM_H

#include <linux/mm_types.h>
#include <linux/pgtable.h>

#define MM_CP_TRY_CHANGE_WRITABLE	(1UL << 0)
#define MM_CP_UFFD_WP			(1UL << 2)
#define MM_CP_UFFD_WP_RESOLVE		(1UL << 3)
#ifdef CONFIG_USERFAULTFD_RWP
#define MM_CP_UFFD_RWP			(1UL << 4)
#define MM_CP_UFFD_RWP_RESOLVE		(1UL << 5)
#endif

#define FAULT_FLAG_UNSHARE		(1U << 10)

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address;
	unsigned int flags;
	struct page *page;
	pte_t *pte;
};

#ifdef HOST_TIMED
/**
 * struct mmu_gather - pages to be flushed, as much of it as costs time
 * @start: address of the first
 * @end: address behind the last
 * @cleared_ptes: there are any
 */
struct mmu_gather {
	unsigned long start;
	unsigned long end;
	bool cleared_ptes;
};

/* One array for all that is timed, or each would have a cache of its own. */
extern struct page mem_map[HOST_PAGES];
#else
/**
 * struct mmu_gather - pages to be flushed, one flag for each
 * @flush: page N of the table is to be flushed
 */
struct mmu_gather {
	bool flush[HOST_SLOTS];
};

static struct page mem_map[HOST_PAGES];
#endif
static unsigned long highest_memmap_pfn = HOST_PFN + HOST_PAGES - 1;
/* Pages that update_mmu_cache_range() was told of. */
static bool mmu_cache_updated[HOST_SLOTS];

static inline struct page *pfn_to_page(unsigned long pfn)
{
	return mem_map + (pfn - HOST_PFN);
}

static inline unsigned long page_to_pfn(const struct page *page)
{
	return page - mem_map + HOST_PFN;
}

/* Nothing behind the end of memory, and nothing special, is a page. */
static inline struct page *vm_normal_page(struct vm_area_struct *vma,
					  unsigned long addr, pte_t pte)
{
	if (pte_special(pte) || pte_pfn(pte) > highest_memmap_pfn)
		return NULL;
	return pfn_to_page(pte_pfn(pte));
}

static inline struct folio *page_folio(const struct page *page)
{
	return page->folio;
}

static inline unsigned long folio_pfn(const struct folio *folio)
{
	return page_to_pfn(folio->page);
}

static inline unsigned long folio_nr_pages(const struct folio *folio)
{
	return folio->nr;
}

static inline unsigned long folio_page_idx(const struct folio *folio,
					   const struct page *page)
{
	return page - folio->page;
}

static inline bool folio_test_large(const struct folio *folio)
{
	return folio->nr > 1;
}

static inline bool folio_test_anon(const struct folio *folio)
{
	return folio->anon;
}

static inline bool folio_test_swapcache(const struct folio *folio)
{
	return folio->swapcache;
}

static inline bool folio_test_ksm(const struct folio *folio)
{
	return folio->ksm;
}

static inline int folio_ref_count(const struct folio *folio)
{
	return folio->refs;
}

static inline int folio_mapcount(const struct folio *folio)
{
	return folio->mapcount;
}

static inline bool folio_trylock(struct folio *folio)
{
	if (folio->locked)
		return false;
	folio->locked = true;
	folio->refs += folio->late;
	return true;
}

static inline void folio_unlock(struct folio *folio)
{
	folio->locked = false;
}

static inline void folio_move_anon_rmap(struct folio *folio,
					struct vm_area_struct *vma)
{
	folio->owner = vma;
}

static inline bool test_bit(int nr, const unsigned long *word)
{
	return *word >> nr & 1;
}

static inline void SetPageAnonExclusive(struct page *page)
{
	__atomic_fetch_or(&page->flags, BIT(PG_anon_exclusive),
			  __ATOMIC_SEQ_CST);
}

static inline bool vma_soft_dirty_enabled(const struct vm_area_struct *vma)
{
	return vma->soft_dirty;
}

static inline bool userfaultfd_wp(const struct vm_area_struct *vma)
{
	return vma->uffd_wp;
}

static inline bool userfaultfd_rwp(const struct vm_area_struct *vma)
{
	return vma->uffd_rwp;
}

static inline unsigned int host_slot(unsigned long addr)
{
	return (addr - HOST_BASE) >> PAGE_SHIFT;
}

static inline void tlb_flush_pte_range(struct mmu_gather *tlb,
				       unsigned long addr, unsigned long size)
{
#ifdef HOST_TIMED
	tlb->start = min(tlb->start, addr);
	tlb->end = addr + size > tlb->end ? addr + size : tlb->end;
	tlb->cleared_ptes = true;
#else
	memset(tlb->flush + host_slot(addr), true, size >> PAGE_SHIFT);
#endif
}

static inline void update_mmu_cache_range(struct vm_fault *vmf,
					  struct vm_area_struct *vma,
					  unsigned long addr, pte_t *ptep,
					  unsigned int nr)
{
	/* Nothing on the one architecture that is timed. */
#ifndef HOST_TIMED
	memset(mmu_cache_updated + host_slot(addr), true, nr);
#endif
}

#ifndef pte_needs_flush
/* As the tree's own default. */
static inline bool pte_needs_flush(pte_t oldpte, pte_t newpte)
{
	return true;
}
#endif

#endif /* _LINUX_MM_H */
