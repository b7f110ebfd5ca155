// SPDX-License-Identifier: GPL-2.0
/*
 * mprotect, differential: the same random page table is changed once by the
 * pristine tree's change_protection() and once by this tree's, and whatever
 * either can leave behind is compared: every entry, every struct page, the
 * returned count, and the range that is to be flushed.
 *
 * Tables live in a real mm and point at real folios of all orders.  A table
 * is a function of the seed, the case and its number, so a single one can be
 * run again:
 *
 *	kunit.py run --kernel_args pte_batch_mprotect_kunit.seed=SEED
 *		     --kernel_args pte_batch_mprotect_kunit.table=NUMBER
 */
#include <kunit/test.h>
#include <linux/hash.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mm_inline.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>
#include <linux/sched/sysctl.h>
#include <linux/shmem_fs.h>
#include <linux/stringhash.h>
#include <linux/swapops.h>
#include <linux/userfaultfd_k.h>
#include <asm/tlb.h>
#include <asm/tlbflush.h>
#include "../../internal.h"
#include "callers_newer.h"
#include "mprotect_oracle.h"
#include "pte_batch_entry.h"

static unsigned long seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "where the random tables start (0: anywhere)");

static int table = -1;
module_param(table, int, 0444);
MODULE_PARM_DESC(table, "run only this table of each case");

static unsigned int percent = 100;
module_param(percent, uint, 0444);
MODULE_PARM_DESC(percent, "number of tables, in percent of the default");

#define MDT_SLOTS	(2 * PTRS_PER_PTE)
#define MDT_STRIPS	7
#define MDT_ORDER	min_t(unsigned int, 9, MAX_PAGE_ORDER)
#define MDT_PAGES	((unsigned int)BIT(MDT_ORDER))
#define MDT_REPORTS	3

/* Frames without a struct page, for mappings of device memory. */
#define MDT_RAW_PFN	(IS_ENABLED(CONFIG_64BIT) ? 0x1000000UL : 0xf0000UL)

enum mdt_map { MDT_ANON, MDT_SHMEM, MDT_FILE, MDT_MIXED, MDT_MAPS };

/**
 * struct mdt_kind - one kind of random tables
 * @map: what is mapped; MDT_MAPS for any but MDT_MIXED
 * @tables: how many tables the default run has
 * @numa: NUMA hinting, decisions made up by the test
 * @uffd: userfaultfd's write protection
 * @full: tables are filled from the first to the last slot
 * @holes: mostly entries that are not present
 */
struct mdt_kind {
	enum mdt_map map;
	unsigned int tables;
	bool numa;
	bool uffd;
	bool full;
	bool holes;
};

/* What one of the two left behind. */
struct mdt_shot {
	pte_t *pte;
	unsigned long *clean;
	long pages;
	unsigned long start;
	unsigned long end;
	unsigned int gather;
	unsigned long stamped;
	bool torn;
};

struct mdt {
	struct kunit *test;
	const struct mdt_kind *kind;
	unsigned long seed;
	unsigned int number;
	struct rnd_state rnd;

	struct mm_struct *mm;
	struct vm_area_struct *home;
	struct vm_area_struct *vma[MDT_MAPS];
	unsigned long vm_flags[MDT_MAPS];

	/* Runs of frames, cut into folios: see mdt_strips. */
	struct page *strip[MDT_STRIPS];
	struct page *saved;
	unsigned int used;

	/* The table at hand. */
	enum mdt_map map;
	unsigned long base;
	unsigned long start;
	unsigned long end;
	unsigned long cp_flags;
	unsigned int lo;
	unsigned int hi;
	bool settled;
	bool two_users;
	struct mdt_shot in;
	struct mdt_shot want;
	struct mdt_shot got;

	/* What the tables had to offer, lest the comparison be empty. */
	unsigned long changed;
	unsigned long flushed;
	unsigned long upgraded;
	unsigned long stamped;
	unsigned int differ;
};

static u32 mdt_rnd(struct mdt *m, u32 below)
{
	return prandom_u32_state(&m->rnd) % below;
}

static bool mdt_one_in(struct mdt *m, u32 n)
{
	return !mdt_rnd(m, n);
}

/*
 * Folios
 *
 * A strip is a physically contiguous run of frames, cut into folios that
 * follow each other without a gap: consecutive frame numbers alone do not
 * make a batch.
 */
enum mdt_folio { MDT_F_ANON, MDT_F_KSM, MDT_F_SHMEM, MDT_F_CACHE };

static const struct {
	bool whole;
	bool locked;
	u8 folios;
} mdt_strips[MDT_STRIPS] = {
	{ .folios = BIT(MDT_F_ANON), .whole = true },
	{ .folios = BIT(MDT_F_ANON) },
	{ .folios = BIT(MDT_F_ANON) | BIT(MDT_F_KSM) },
	{ .folios = BIT(MDT_F_ANON) | BIT(MDT_F_CACHE) },
	{ .folios = BIT(MDT_F_SHMEM) },
	{ .folios = BIT(MDT_F_SHMEM) | BIT(MDT_F_CACHE) },
	/* Under migration: folios are locked, entries do not map them. */
	{ .folios = BIT(MDT_F_ANON) | BIT(MDT_F_SHMEM), .locked = true },
};

#define MDT_ANY_STRIPS		6
#define MDT_SHARED_STRIPS	4
#define MDT_MIGRATION_STRIP	6

static void mdt_folio_add_anon(struct mdt *m, struct folio *folio)
{
	unsigned long addr = m->home->vm_start;

	folio_add_new_anon_rmap(folio, m->home, addr, RMAP_EXCLUSIVE);
	if (!folio_test_pmd_mappable(folio))
		return;
	/* As if split since: mapped by entries, not by a PMD. */
	folio_add_anon_rmap_ptes(folio, &folio->page, folio_nr_pages(folio),
				 m->home, addr, RMAP_EXCLUSIVE);
	folio_remove_rmap_pmd(folio, &folio->page, m->home);
}

static void mdt_folio_init(struct mdt *m, struct folio *folio, unsigned int s)
{
	unsigned int nr = folio_nr_pages(folio);
	enum mdt_folio type;

	do {
		type = mdt_rnd(m, 4);
	} while (!(mdt_strips[s].folios & BIT(type)) ||
		 (type == MDT_F_KSM && folio_test_large(folio)));

	if (mdt_strips[s].locked)
		__folio_set_locked(folio);

	if (type == MDT_F_ANON || type == MDT_F_KSM) {
		mdt_folio_add_anon(m, folio);
		if (type == MDT_F_KSM && IS_ENABLED(CONFIG_KSM)) {
			ClearPageAnonExclusive(&folio->page);
			folio->mapping = (void *)PAGE_MAPPING_KSM;
		}
		return;
	}
	if (type == MDT_F_SHMEM)
		__folio_set_swapbacked(folio);
	folio_add_file_rmap_ptes(folio, &folio->page, nr, m->home);
}

static bool mdt_strip_alloc(struct mdt *m, unsigned int s)
{
	struct page *first = alloc_pages(GFP_KERNEL | __GFP_NOWARN, MDT_ORDER);
	unsigned int at, order;

	if (!first)
		return false;

	for (at = 0; at < MDT_PAGES; at += 1U << order) {
		order = at ? min_t(unsigned int, __ffs(at), 6) : 6;
		order = mdt_strips[s].whole ? MDT_ORDER : mdt_rnd(m, order + 1);
		set_page_count(first + at, 1);
		if (order)
			prep_compound_page(first + at, order);
		mdt_folio_init(m, page_folio(first + at), s);
	}
	m->strip[s] = first;
	return true;
}

static void mdt_strip_free(struct mdt *m, unsigned int s)
{
	struct page *first = m->strip[s];
	struct folio *folio;
	unsigned int at, nr, i;

	for (at = 0; at < MDT_PAGES; at += nr) {
		folio = page_folio(first + at);
		nr = folio_nr_pages(folio);
		if (folio_test_ksm(folio))
			folio->mapping = (void *)((unsigned long)
				m->home->anon_vma + PAGE_MAPPING_ANON);
		for (i = 0; folio_test_anon(folio) && i < nr; i++)
			ClearPageAnonExclusive(folio_page(folio, i));
		folio_clear_dirty(folio);
		folio_remove_rmap_ptes(folio, &folio->page, nr, m->home);
		if (mdt_strips[s].locked)
			folio_unlock(folio);
		folio_put(folio);
	}
	m->strip[s] = NULL;
}

/* How the pages of a folio look is decided anew for every table. */
static void mdt_folio_dress(struct mdt *m, struct folio *folio)
{
	bool large = folio_test_large(folio);
	unsigned int nr = folio_nr_pages(folio);
	unsigned int exclusive = mdt_rnd(m, 5);
	struct page *page;
	unsigned int i, odd;

	if (!folio_test_anon(folio)) {
		if (mdt_one_in(m, 3))
			folio_set_dirty(folio);
		else
			folio_clear_dirty(folio);
	}

	/* One page may be mapped once more: "likely shared" is a guess. */
	atomic_set(&folio->_mapcount, mdt_one_in(m, 6));
	if (large)
		atomic_set(&folio->_large_mapcount,
			   nr - 1 + atomic_read(&folio->_mapcount));
	if (large)
		atomic_set(&folio->_pincount, mdt_one_in(m, 8));
	else
		folio_set_count(folio, mdt_one_in(m, 8) ?
				1 + GUP_PIN_COUNTING_BIAS : 1);

	if (!folio_test_anon(folio) || folio_test_ksm(folio))
		return;

	odd = mdt_rnd(m, nr);
	for (i = 0; i < nr; i++) {
		page = folio_page(folio, i);
		if (exclusive == 0 || (exclusive == 1 && i != odd) ||
		    (exclusive == 2 && i == odd) ||
		    (exclusive == 3 && mdt_one_in(m, 2)))
			SetPageAnonExclusive(page);
		else
			ClearPageAnonExclusive(page);
	}
}

static void mdt_folio_undress(struct folio *folio)
{
	atomic_set(&folio->_mapcount, 0);
	if (!folio_test_large(folio)) {
		folio_set_count(folio, 1);
		return;
	}
	atomic_set(&folio->_large_mapcount, folio_nr_pages(folio) - 1);
	atomic_set(&folio->_pincount, 0);
}

static void mdt_strip_undress(struct mdt *m, unsigned int s)
{
	struct folio *folio;
	unsigned int at;

	for (at = 0; at < MDT_PAGES; at += folio_nr_pages(folio)) {
		folio = page_folio(m->strip[s] + at);
		mdt_folio_undress(folio);
	}
}

static struct page *mdt_saved(struct mdt *m, unsigned int s)
{
	return m->saved + s * MDT_PAGES;
}

static void mdt_pages_save(struct mdt *m)
{
	unsigned int s;

	for (s = 0; s < MDT_STRIPS; s++)
		if (m->used & BIT(s))
			memcpy(mdt_saved(m, s), m->strip[s],
			       MDT_PAGES * sizeof(struct page));
}

/* A number, or the only member of a structure. */
static unsigned long *mdt_flags(struct page *page)
{
	return (unsigned long *)&page->flags;
}

/*
 * The one thing that either side may do to a page: where instructions are
 * cached apart, note that what it is about to make executable has been seen to.
 */
static void mdt_caches(struct mdt *m, unsigned long *clean)
{
	unsigned int s, i;

	for (s = 0; s < MDT_STRIPS; s++)
		for (i = 0; m->used & BIT(s) && i < MDT_PAGES; i++)
			__assign_bit(s * MDT_PAGES + i, clean,
				     test_and_clear_bit(PG_arch_1, mdt_flags(m->strip[s] + i)));
}

/* Beyond that, none has any business with a struct page but to read it. */
static struct page *mdt_pages_changed(struct mdt *m)
{
	unsigned int s, i;

	for (s = 0; s < MDT_STRIPS; s++) {
		if (!(m->used & BIT(s)) ||
		    !memcmp(mdt_saved(m, s), m->strip[s],
			    MDT_PAGES * sizeof(struct page)))
			continue;
		for (i = 0; i < MDT_PAGES - 1; i++)
			if (memcmp(mdt_saved(m, s) + i, m->strip[s] + i,
				   sizeof(struct page)))
				break;
		return m->strip[s] + i;
	}
	return NULL;
}

/*
 * Entries
 */
#define MDT_E_WRITE	BIT(0)
#define MDT_E_DIRTY	BIT(1)
#define MDT_E_YOUNG	BIT(2)
#define MDT_E_SOFT	BIT(3)
#define MDT_E_UFFD	BIT(4)
#define MDT_E_NONE	BIT(5)
#define MDT_E_PROT	BIT(6)
#define MDT_E_ALL	GENMASK(6, 0)

/* How entries of one segment differ from each other. */
enum mdt_mix { MDT_SAME, MDT_AD, MDT_ODD, MDT_ANY, MDT_MIXES };

struct mdt_segment {
	enum mdt_mix mix;
	unsigned int bits;
	unsigned int odd;
	pgprot_t prot[2];
};

static pgprot_t mdt_prot(struct mdt *m, unsigned long vm_flags)
{
	pgprot_t prot;

	/* Write notification, soft-dirty: mapped as if private. */
	if (mdt_one_in(m, 4))
		vm_flags &= ~VM_SHARED;
#ifdef CONFIG_ARCH_HAS_PKEYS
	if (mdt_one_in(m, 8))
		vm_flags |= mdt_rnd(m, 2) ? VM_PKEY_BIT0 : VM_PKEY_BIT1;
#endif
	prot = vm_get_page_prot(vm_flags);
	if (mdt_one_in(m, 16))
		prot = pgprot_writecombine(prot);
	else if (mdt_one_in(m, 16))
		prot = pgprot_noncached(prot);
#ifdef CONFIG_UML
	/* Here every protection says "accessed", which would hide the entry's. */
	if (mdt_one_in(m, 2))
		pgprot_val(prot) &= ~_PAGE_ACCESSED;
#endif
	return prot;
}

static unsigned long mdt_access(struct mdt *m)
{
	static const unsigned long access[] = {
		VM_NONE, VM_READ, VM_READ | VM_WRITE, VM_READ | VM_WRITE,
		VM_READ | VM_EXEC, VM_READ | VM_WRITE | VM_EXEC, VM_WRITE,
		VM_EXEC,
	};
	unsigned long flags = access[mdt_rnd(m, ARRAY_SIZE(access))];

	/* riscv takes every frame that is executable to have a struct page. */
	if (IS_ENABLED(CONFIG_RISCV) && m->map == MDT_MIXED)
		flags &= ~VM_EXEC;
	return flags;
}

static void mdt_segment_init(struct mdt *m, struct mdt_segment *seg,
			     unsigned int len)
{
	unsigned long flags = m->vm_flags[m->map] & ~VM_ACCESS_FLAGS;
	unsigned int i;

	seg->mix = mdt_rnd(m, MDT_MIXES);
	seg->bits = mdt_rnd(m, MDT_E_ALL + 1);
	if (!mdt_one_in(m, 8))
		seg->bits &= ~MDT_E_NONE;
	if (!m->kind->uffd && !mdt_one_in(m, 8))
		seg->bits &= ~MDT_E_UFFD;
	seg->odd = mdt_rnd(m, len);
	for (i = 0; i < ARRAY_SIZE(seg->prot); i++)
		seg->prot[i] = mdt_prot(m, flags | mdt_access(m));
}

static unsigned int mdt_segment_bits(struct mdt *m, struct mdt_segment *seg,
				     unsigned int i)
{
	switch (seg->mix) {
	case MDT_AD:
		return seg->bits ^ (mdt_rnd(m, MDT_E_ALL + 1) &
				    (MDT_E_DIRTY | MDT_E_YOUNG | MDT_E_SOFT));
	case MDT_ODD:
		return i == seg->odd ? seg->bits ^ BIT(mdt_rnd(m, 7)) :
				       seg->bits;
	case MDT_ANY:
		return mdt_rnd(m, MDT_E_ALL + 1);
	default:
		return seg->bits;
	}
}

static bool mdt_may_write(struct mdt *m, unsigned long pfn)
{
	struct vm_area_struct *vma = m->vma[m->map];
	struct page *page;

	if (is_zero_pfn(pfn) || !(vma->vm_flags & VM_WRITE))
		return false;
	if ((vma->vm_flags & VM_SHARED) || !pfn_valid(pfn))
		return true;
	page = pfn_to_page(pfn);
	return PageAnon(page) && PageAnonExclusive(page);
}

static pte_t mdt_present(struct mdt *m, struct mdt_segment *seg,
			 unsigned int i, unsigned long pfn)
{
	struct vm_area_struct *vma = m->vma[m->map];
	unsigned int bits = mdt_segment_bits(m, seg, i);
	pte_t pte = pfn_pte(pfn, seg->prot[!!(bits & MDT_E_PROT)]);

	if (is_zero_pfn(pfn) || !pfn_valid(pfn))
		pte = pte_mkspecial(pte);
	if (is_zero_pfn(pfn))
		bits &= ~MDT_E_DIRTY;

	pte = pte_wrprotect(pte);
	pte = bits & MDT_E_DIRTY ? pte_mkdirty(pte) : pte_mkclean(pte);
	pte = bits & MDT_E_YOUNG ? pte_mkyoung(pte) : pte_mkold(pte);
	if ((bits & MDT_E_WRITE) && mdt_may_write(m, pfn))
		pte = pte_mkwrite(pte, vma);
	if (bits & MDT_E_NONE)
		pte = pte_modify(pte, vm_get_page_prot(VM_NONE));
	if (bits & MDT_E_UFFD)
		pte = pte_mkuffd_wp(pte);
	return bits & MDT_E_SOFT ? pte_mksoft_dirty(pte) :
				   pte_clear_soft_dirty(pte);
}

static pte_t mdt_swp_bits(struct mdt *m, pte_t pte, bool may_be_exclusive)
{
	if (may_be_exclusive && mdt_one_in(m, 2))
		pte = pte_swp_mkexclusive(pte);
	if (mdt_one_in(m, 2))
		pte = pte_swp_mksoft_dirty(pte);
	if (mdt_one_in(m, 4))
		pte = pte_swp_mkuffd_wp(pte);
	return pte;
}

static pte_t mdt_migration(struct mdt *m, struct page *page)
{
	unsigned long pfn = page_to_pfn(page);
	swp_entry_t entry;

	switch (mdt_rnd(m, PageAnon(page) ? 3 : 2)) {
	case 0:
		entry = make_writable_migration_entry(pfn);
		break;
	case 1:
		entry = make_readable_migration_entry(pfn);
		break;
	default:
		entry = make_readable_exclusive_migration_entry(pfn);
		break;
	}
	if (mdt_one_in(m, 2))
		entry = make_migration_entry_young(entry);
	if (mdt_one_in(m, 2))
		entry = make_migration_entry_dirty(entry);
	return mdt_swp_bits(m, swp_entry_to_pte(entry), false);
}

static void mdt_dress_range(struct mdt *m, struct page *page, unsigned int nr)
{
	struct page *end = page + nr;
	struct folio *folio;

	while (page < end) {
		folio = page_folio(page);
		mdt_folio_dress(m, folio);
		page = &folio->page + folio_nr_pages(folio);
	}
}

/* A run of consecutive frames, now and then out of order. */
static void mdt_fill_pages(struct mdt *m, unsigned int at, unsigned int len)
{
	bool shared = m->map == MDT_SHMEM;
	unsigned int s = shared ? mdt_rnd(m, 2) + MDT_SHARED_STRIPS :
				  mdt_rnd(m, MDT_ANY_STRIPS);
	unsigned int from = mdt_rnd(m, MDT_PAGES - len + 1);
	unsigned int order = mdt_rnd(m, 12);
	struct page *page = m->strip[s] + from;
	struct mdt_segment seg;
	unsigned int i, nth;

	mdt_segment_init(m, &seg, len);
	mdt_dress_range(m, page, len);
	m->used |= BIT(s);
	for (i = 0; i < len; i++) {
		nth = i;
		if (order == 0)		/* backwards */
			nth = len - 1 - i;
		else if (order == 1)	/* one page over and over */
			nth = 0;
		else if (order == 2)	/* a step back in the middle */
			nth = i ^ (i > len / 2);
		if (nth >= len)
			nth = i;
		m->in.pte[at + i] = mdt_present(m, &seg, i,
						page_to_pfn(page + nth));
	}
}

static unsigned long mdt_zero_pfn(struct mdt *m)
{
	return page_to_pfn(ZERO_PAGE(m->base));
}

static void mdt_fill_special(struct mdt *m, unsigned int at, unsigned int len)
{
	bool raw = m->map == MDT_MIXED && mdt_one_in(m, 2);
	unsigned long pfn = raw ? MDT_RAW_PFN + mdt_rnd(m, 1024) : 0;
	struct mdt_segment seg;
	unsigned int i;

	mdt_segment_init(m, &seg, len);
	for (i = 0; i < len; i++)
		m->in.pte[at + i] = mdt_present(m, &seg, i, raw ? pfn + i :
						mdt_zero_pfn(m));
}

static void mdt_fill_swap(struct mdt *m, unsigned int at, unsigned int len)
{
	unsigned int type = mdt_rnd(m, MAX_SWAPFILES);
	unsigned int off = mdt_rnd(m, 1024);
	unsigned int i;
	pte_t pte;

	for (i = 0; i < len; i++) {
		pte = swp_entry_to_pte(swp_entry(type, off + i));
		m->in.pte[at + i] = mdt_swp_bits(m, pte, true);
	}
}

static void mdt_fill_migration(struct mdt *m, unsigned int at,
			       unsigned int len)
{
	unsigned int from = mdt_rnd(m, MDT_PAGES - len + 1);
	struct page *page = m->strip[MDT_MIGRATION_STRIP] + from;
	unsigned int i;

	m->used |= BIT(MDT_MIGRATION_STRIP);
	for (i = 0; i < len; i++)
		m->in.pte[at + i] = mdt_migration(m, page + i);
}

static void mdt_fill_marker(struct mdt *m, unsigned int at, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		m->in.pte[at + i] = make_pte_marker(mdt_one_in(m, 2) ?
				PTE_MARKER_UFFD_WP : PTE_MARKER_POISONED);
}

static unsigned int mdt_fill(struct mdt *m, unsigned int at, unsigned int room)
{
	/* How long a table is, powerpc finds out when it boots. */
	const unsigned int lengths[] = { 1, 2, 4, 16, 64, MDT_SLOTS };
	unsigned int longest = lengths[mdt_rnd(m, m->kind->full ? 6 : 5)];
	unsigned int len = 1 + mdt_rnd(m, longest);

	len = min3(len, room, MDT_PAGES);
	switch (mdt_rnd(m, m->kind->holes ? 8 : 20)) {
	case 0:
		/* nothing is mapped here */
		break;
	case 1:
		mdt_fill_special(m, at, len);
		break;
	case 2:
	case 3:
		if (IS_ENABLED(CONFIG_SWAP))
			mdt_fill_swap(m, at, len);
		break;
	case 4:
	case 5:
		if (IS_ENABLED(CONFIG_MIGRATION))
			mdt_fill_migration(m, at, len);
		break;
	case 6:
		mdt_fill_marker(m, at, len);
		break;
	default:
		mdt_fill_pages(m, at, len);
		break;
	}
	return len;
}

/*
 * Tables
 */
static bool mdt_uffd_flag(struct mdt *m)
{
	return mdt_one_in(m, m->kind->uffd ? 2 : 8);
}

/* The flags a caller in the kernel would come with, and no others. */
static unsigned long mdt_cp_flags(struct mdt *m, unsigned long vm_flags)
{
	unsigned long upgrade = 0;

	if (m->kind->numa)
		return MM_CP_PROT_NUMA;
	if ((vm_flags & VM_WRITE) && !mdt_one_in(m, 4))
		upgrade = MM_CP_TRY_CHANGE_WRITABLE;
	/* mprotect() meets write-protected entries as well. */
	if (!m->kind->uffd || mdt_one_in(m, 3))
		return upgrade;
	if (vm_flags & VM_UFFD_RWP)
		return mdt_one_in(m, 2) ? MM_CP_UFFD_RWP :
					  MM_CP_UFFD_RWP_RESOLVE | upgrade;
	return mdt_one_in(m, 2) ? MM_CP_UFFD_WP :
				  MM_CP_UFFD_WP_RESOLVE | upgrade;
}

static void mdt_pick_vma(struct mdt *m)
{
	struct vm_area_struct *vma;
	unsigned long flags;

	m->map = m->kind->map == MDT_MAPS ? mdt_rnd(m, MDT_MIXED) :
					    m->kind->map;
	vma = m->vma[m->map];
	m->base = ALIGN(vma->vm_start, PMD_SIZE);

	flags = m->vm_flags[m->map] & ~(VM_ACCESS_FLAGS | VM_SOFTDIRTY);
	flags |= mdt_access(m);
	if (mdt_one_in(m, 2))
		flags |= VM_SOFTDIRTY;
	if (mdt_uffd_flag(m))
		flags |= VM_UFFD_RWP && mdt_one_in(m, 2) ? VM_UFFD_RWP :
							   VM_UFFD_WP;
	if (m->map == MDT_ANON && mdt_one_in(m, 16))
		flags |= VM_SHADOW_STACK;
	vm_flags_reset(vma, flags);
	WRITE_ONCE(vma->vm_page_prot, mdt_prot(m, flags));
	m->cp_flags = mdt_cp_flags(m, flags);
}

/* Where entries are, and which of them are changed. */
static void mdt_pick_range(struct mdt *m)
{
	unsigned int first, last;

	if (m->kind->full) {
		m->lo = 0;
		m->hi = MDT_SLOTS;
	} else {
		unsigned int nr = 1 + mdt_rnd(m, mdt_one_in(m, 3) ? 8 : 64);
		/* Often around the end of the first table. */
		unsigned int at = mdt_one_in(m, 3) ?
			PTRS_PER_PTE - mdt_rnd(m, nr + 1) :
			mdt_rnd(m, MDT_SLOTS - nr + 1);

		m->lo = min_t(unsigned int, at, MDT_SLOTS - nr);
		m->hi = m->lo + nr;
	}

	first = m->lo;
	last = m->hi;
	if (mdt_one_in(m, 2)) {
		first = m->lo + mdt_rnd(m, m->hi - m->lo);
		last = first + 1 + mdt_rnd(m, m->hi - first);
	} else if (mdt_one_in(m, 2)) {
		first -= min_t(unsigned int, first, mdt_rnd(m, 4));
		last = min_t(unsigned int, last + mdt_rnd(m, 4), MDT_SLOTS);
	}
	m->start = m->base + (unsigned long)first * PAGE_SIZE;
	m->end = m->base + (unsigned long)last * PAGE_SIZE;
}

static void mdt_pick_numa(struct mdt *m)
{
	static const int modes[] = {
		NUMA_BALANCING_DISABLED, NUMA_BALANCING_NORMAL,
		NUMA_BALANCING_NORMAL, NUMA_BALANCING_MEMORY_TIERING,
		NUMA_BALANCING_NORMAL | NUMA_BALANCING_MEMORY_TIERING,
	};

	mprotect_numa.fake = m->kind->numa;
	mprotect_numa.mode = modes[mdt_rnd(m, ARRAY_SIZE(modes))];
	mprotect_numa.this_node = mdt_rnd(m, 4);
	mprotect_numa.salt = mdt_rnd(m, 1024);
	/* The target node depends on whether the mm has one user only. */
	m->two_users = mdt_one_in(m, 2);
}

static void mdt_generate(struct mdt *m)
{
	const char *name = m->test->name;
	u64 key = (u64)full_name_hash(NULL, name, strlen(name)) << 32;
	unsigned int at;

	/* hash_64() has no 64 bits to give where a long has 32. */
	key = (key | m->number) * GOLDEN_RATIO_64;
	prandom_seed_state(&m->rnd, m->seed ^ key);
	m->used = 0;
	mdt_pick_vma(m);
	mdt_pick_range(m);
	mdt_pick_numa(m);
	m->settled = mdt_one_in(m, 2);
	for (at = 0; at < MDT_SLOTS; at++)
		m->in.pte[at] = __pte(0);
	for (at = m->lo; at < m->hi; )
		at += mdt_fill(m, at, m->hi - at);
}

/* UML remembers in each entry whether the host has seen it. */
static void mdt_settle(pte_t *ptep)
{
#ifdef CONFIG_UML
	*ptep = pte_mkuptodate(*ptep);
#endif
}

typedef void (*mdt_visit_t)(struct mdt *m, pte_t *ptep, unsigned int slot,
			    struct mdt_shot *shot);

static void mdt_clear_slot(struct mdt *m, pte_t *ptep, unsigned int slot,
			   struct mdt_shot *shot)
{
	pte_clear(m->mm, m->base + (unsigned long)slot * PAGE_SIZE, ptep);
}

static void mdt_store_slot(struct mdt *m, pte_t *ptep, unsigned int slot,
			   struct mdt_shot *shot)
{
	if (pte_none(m->in.pte[slot]))
		return;
	set_pte_at(m->mm, m->base + (unsigned long)slot * PAGE_SIZE, ptep,
		   m->in.pte[slot]);
	if (m->settled)
		mdt_settle(ptep);
}

static void mdt_read_slot(struct mdt *m, pte_t *ptep, unsigned int slot,
			  struct mdt_shot *shot)
{
	shot->pte[slot] = ptep_get(ptep);
	if (slot % PTRS_PER_PTE == 0)
		shot->torn |= !entry_blocks_hold(ptep);
}

static bool mdt_tables(struct mdt *m, mdt_visit_t visit, struct mdt_shot *shot)
{
	unsigned int slot, i;
	unsigned long addr;
	spinlock_t *ptl = NULL;
	pte_t *ptep;

	for (slot = 0; slot < MDT_SLOTS; slot += PTRS_PER_PTE) {
		addr = m->base + (unsigned long)slot * PAGE_SIZE;
		ptep = pte_offset_map_lock(m->mm, pmd_off(m->mm, addr), addr,
					   &ptl);
		if (!ptep)
			return false;
		for (i = 0; i < PTRS_PER_PTE; i++)
			visit(m, ptep + i, slot + i, shot);
		pte_unmap_unlock(ptep, ptl);
	}
	return true;
}

/*
 * Empty first: not every value may follow every other without a break. And
 * pages that are executable before the change have been seen to, as in life.
 */
static void mdt_store(struct mdt *m)
{
	mdt_tables(m, mdt_clear_slot, NULL);
	mdt_caches(m, m->in.clean);
	mdt_tables(m, mdt_store_slot, NULL);
}

typedef long (*mdt_change_t)(struct mmu_gather *tlb,
			     struct vm_area_struct *vma, unsigned long start,
			     unsigned long end, unsigned long cp_flags);

/*
 * A gather that claims to cover the whole mm is not flushed in the middle,
 * whatever the architecture thinks of VMA ends: its range stays readable.
 */
static void mdt_run(struct mdt *m, mdt_change_t change, struct mdt_shot *shot)
{
	struct mmu_gather tlb;

	mprotect_numa.last = NULL;
	mprotect_numa.stamped = 0;
	tlb_gather_mmu(&tlb, m->mm);
	tlb.fullmm = 1;
	tlb.start = TASK_SIZE;
	tlb.end = 0;

	shot->pages = change(&tlb, m->vma[m->map], m->start, m->end,
			     m->cp_flags);
	shot->start = tlb.start;
	shot->end = tlb.end;
	shot->gather = tlb.fullmm | tlb.need_flush_all << 1 |
		       tlb.freed_tables << 2 | tlb.delayed_rmap << 3 |
		       tlb.cleared_ptes << 4 | tlb.cleared_pmds << 5 |
		       tlb.cleared_puds << 6 | tlb.cleared_p4ds << 7 |
		       tlb.vma_exec << 8 | tlb.vma_huge << 9 |
		       tlb.vma_pfn << 10;
	shot->stamped = mprotect_numa.stamped;
	mdt_caches(m, shot->clean);

	tlb.fullmm = 0;
	tlb.cleared_ptes = 0;
	tlb_finish_mmu(&tlb);
	shot->torn = false;
	mdt_tables(m, mdt_read_slot, shot);
}

/*
 * Reports
 */
static void mdt_decode(char *buf, size_t size, pte_t pte)
{
	swp_entry_t entry;

	if (pte_none(pte)) {
		scnprintf(buf, size, "none");
		return;
	}
	if (pte_present(pte)) {
		scnprintf(buf, size, "pfn %lx%s%s%s%s%s%s%s",
			  (unsigned long)pte_pfn(pte),
			  pte_write(pte) ? " write" : "",
			  pte_dirty(pte) ? " dirty" : "",
			  pte_young(pte) ? " young" : "",
			  pte_soft_dirty(pte) ? " soft-dirty" : "",
			  pte_uffd_wp(pte) ? " uffd-wp" : "",
			  pte_protnone(pte) ? " protnone" : "",
			  pte_special(pte) ? " special" : "");
		return;
	}
	entry = pte_to_swp_entry(pte);
	scnprintf(buf, size, "swap type %u offset %lx%s%s%s",
		  (unsigned int)swp_type(entry), swp_offset(entry),
		  pte_swp_exclusive(pte) ? " exclusive" : "",
		  pte_swp_soft_dirty(pte) ? " soft-dirty" : "",
		  pte_swp_uffd_wp(pte) ? " uffd-wp" : "");
}

static void mdt_show(struct mdt *m, const char *who, pte_t pte)
{
	char text[96];

	mdt_decode(text, sizeof(text), pte);
	kunit_err(m->test, "    %-7s %016llx  %s", who,
		  (unsigned long long)pte_val(pte), text);
}

static void mdt_report(struct mdt *m, struct page *page)
{
	struct vm_area_struct *vma = m->vma[m->map];
	unsigned int slot, shown = 0;

	kunit_err(m->test, "seed %lu table %u: map %d cp_flags %lx vm_flags %lx prot %llx, slots %lu to %lu of [%u, %u)",
		  m->seed, m->number, m->map, m->cp_flags, vma->vm_flags,
		  (unsigned long long)pgprot_val(vma->vm_page_prot),
		  (m->start - m->base) >> PAGE_SHIFT,
		  (m->end - m->base) >> PAGE_SHIFT, m->lo, m->hi);
	kunit_err(m->test, "  count %ld, oracle %ld; flush %lx-%lx, oracle %lx-%lx; gather %x, oracle %x; stamps %lx, oracle %lx",
		  m->got.pages, m->want.pages, m->got.start, m->got.end,
		  m->want.start, m->want.end, m->got.gather, m->want.gather,
		  m->got.stamped, m->want.stamped);
	if (page)
		kunit_err(m->test, "  page %lx was changed", page_to_pfn(page));
	if (m->got.torn)
		kunit_err(m->test, "  entries of one block were left different");
	for (slot = 0; slot < MDT_SLOTS && shown < 4; slot++) {
		if (pte_val(m->want.pte[slot]) == pte_val(m->got.pte[slot]))
			continue;
		kunit_err(m->test, "  slot %u", slot);
		mdt_show(m, "before", m->in.pte[slot]);
		mdt_show(m, "oracle", m->want.pte[slot]);
		mdt_show(m, "tree", m->got.pte[slot]);
		shown++;
	}
}

static bool mdt_tables_equal(const struct mdt_shot *a, const struct mdt_shot *b)
{
	unsigned int slot;

	for (slot = 0; slot < MDT_SLOTS; slot++)
		if (!entry_slot_equal(a->pte + slot, b->pte + slot))
			return false;
	return true;
}

static bool mdt_shots_equal(const struct mdt_shot *a, const struct mdt_shot *b)
{
	return a->pages == b->pages && a->start == b->start &&
	       a->end == b->end && a->gather == b->gather &&
	       a->stamped == b->stamped &&
	       bitmap_equal(a->clean, b->clean, MDT_STRIPS * MDT_PAGES) &&
	       (!memcmp(a->pte, b->pte, MDT_SLOTS * sizeof(pte_t)) ||
		mdt_tables_equal(a, b));
}

static void mdt_count(struct mdt *m)
{
	unsigned int slot;

	m->changed += m->want.pages > 0;
	m->flushed += m->want.end > 0;
	m->stamped += m->want.stamped != 0;
	for (slot = m->lo; slot < m->hi; slot++) {
		pte_t was = m->in.pte[slot], now = m->want.pte[slot];

		if (pte_present(now) && pte_write(now) && !pte_write(was)) {
			m->upgraded++;
			break;
		}
	}
}

static void mdt_one(struct mdt *m)
{
	mdt_change_t change = m->kind->numa ? subject_change_protection :
					      change_protection;
	struct page *page;

	mdt_generate(m);
	if (m->two_users)
		mmget(m->mm);
	mdt_tables(m, mdt_clear_slot, NULL);
	mdt_caches(m, m->in.clean);
	mdt_pages_save(m);
	mdt_store(m);
	mdt_run(m, oracle_change_protection, &m->want);
	mdt_store(m);
	mdt_tables(m, mdt_read_slot, &m->in);
	mdt_run(m, change, &m->got);
	if (m->two_users)
		mmput(m->mm);

	mdt_count(m);
	page = mdt_pages_changed(m);
	if (page || m->got.torn || !mdt_shots_equal(&m->want, &m->got)) {
		m->differ++;
		mdt_report(m, page);
	}
}

/*
 * Set-up
 */
static bool mdt_map_one(struct mdt *m, enum mdt_map map)
{
	unsigned long len = (MDT_SLOTS + PTRS_PER_PTE + 2) * PAGE_SIZE;
	unsigned long flags = MAP_PRIVATE, addr, at;
	struct file *file = NULL;
	spinlock_t *ptl = NULL;
	pte_t *ptep;

	if (map == MDT_SHMEM)
		flags = MAP_SHARED | MAP_ANONYMOUS;
	else if (map != MDT_FILE)
		flags |= MAP_ANONYMOUS;
	if (map == MDT_FILE) {
		file = newer_shmem_file("ptebatch", len);
		if (IS_ERR(file))
			return false;
	}
	addr = kunit_vm_mmap(m->test, file, 0, len, PROT_READ | PROT_WRITE,
			     flags, 0);
	if (file)
		fput(file);
	if (!addr || IS_ERR_VALUE(addr))
		return false;

	m->mm = current->mm;
	mmap_write_lock(m->mm);
	m->vma[map] = vma_lookup(m->mm, addr);
	if (map == MDT_MIXED)
		vm_flags_set(m->vma[map], VM_MIXEDMAP);
	m->vm_flags[map] = m->vma[map]->vm_flags;
	at = ALIGN(addr, PMD_SIZE);
	ptep = get_locked_pte(m->mm, at, &ptl);
	if (ptep)
		pte_unmap_unlock(ptep, ptl);
	if (ptep)
		ptep = get_locked_pte(m->mm, at + PMD_SIZE, &ptl);
	if (ptep)
		pte_unmap_unlock(ptep, ptl);
	mmap_write_unlock(m->mm);
	return ptep;
}

static bool mdt_shot_alloc(struct mdt *m, struct mdt_shot *shot)
{
	shot->pte = kunit_kcalloc(m->test, MDT_SLOTS, sizeof(pte_t),
				  GFP_KERNEL);
	shot->clean = kunit_kcalloc(m->test,
				    BITS_TO_LONGS(MDT_STRIPS * MDT_PAGES),
				    sizeof(long), GFP_KERNEL);
	return shot->pte && shot->clean;
}

static bool mdt_setup(struct mdt *m)
{
	size_t saved = MDT_STRIPS * MDT_PAGES * sizeof(struct page);
	unsigned int i;

	m->seed = seed ?: get_random_u32();
	m->saved = kunit_kmalloc(m->test, saved, GFP_KERNEL);
	if (!m->saved || !mdt_shot_alloc(m, &m->in) ||
	    !mdt_shot_alloc(m, &m->want) || !mdt_shot_alloc(m, &m->got))
		return false;
	for (i = 0; i < MDT_MAPS; i++)
		if (!mdt_map_one(m, i))
			return false;
	return true;
}

static bool mdt_strips_alloc(struct mdt *m)
{
	unsigned int s, i;

	for (i = 0; i < MDT_MAPS; i++)
		vma_start_write(m->vma[i]);
	m->home = m->vma[MDT_ANON];
	if (anon_vma_prepare(m->home))
		return false;
	prandom_seed_state(&m->rnd, m->seed);
	for (s = 0; s < MDT_STRIPS; s++)
		if (!mdt_strip_alloc(m, s))
			return false;
	return true;
}

/* Leave nothing in the tables for exit_mmap() to wonder about. */
static void mdt_teardown(struct mdt *m)
{
	unsigned int i;

	for (i = 0; i < MDT_MAPS; i++) {
		m->base = ALIGN(m->vma[i]->vm_start, PMD_SIZE);
		mdt_tables(m, mdt_clear_slot, NULL);
		vm_flags_reset(m->vma[i], m->vm_flags[i]);
		vma_set_page_prot(m->vma[i]);
	}
	flush_tlb_mm(m->mm);
	for (i = 0; i < MDT_STRIPS; i++) {
		if (!m->strip[i])
			continue;
		mdt_strip_undress(m, i);
		mdt_strip_free(m, i);
	}
	mprotect_numa.fake = false;
}

static unsigned int mdt_tables_to_run(const struct mdt_kind *kind)
{
	return max(1U, kind->tables * percent / 100);
}

static void mdt_loop(struct mdt *m)
{
	unsigned int first = table < 0 ? 0 : table;
	unsigned int end = table < 0 ? mdt_tables_to_run(m->kind) : first + 1;

	for (m->number = first; m->number < end; m->number++) {
		mdt_one(m);
		if (m->differ == MDT_REPORTS)
			break;
		cond_resched();
	}
	kunit_info(m->test, "seed %lu: %u tables, %lu changed, %lu flushed, %lu upgraded, %lu stamped, %u differ",
		   m->seed, m->number - first, m->changed, m->flushed,
		   m->upgraded, m->stamped, m->differ);
}

static void mdt_case(struct kunit *test, const struct mdt_kind *kind)
{
	struct mdt *m;
	bool ready;

	if (!mprotect_have_oracle)
		kunit_skip(test, "no oracle: scripts/mprotect-oracle was not run");

	m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m);
	m->test = test;
	m->kind = kind;
	KUNIT_ASSERT_TRUE(test, mdt_setup(m));

	mmap_write_lock(m->mm);
	ready = mdt_strips_alloc(m);
	if (ready)
		mdt_loop(m);
	mdt_teardown(m);
	mmap_write_unlock(m->mm);

	KUNIT_EXPECT_TRUE_MSG(test, ready, "no memory for the folios");
	KUNIT_EXPECT_EQ_MSG(test, m->differ, 0, "tables differ");
	if (table >= 0 || percent < 10)
		return;
	/* A comparison of tables that nothing touches proves nothing. */
	KUNIT_EXPECT_GT(test, m->changed, 0);
	KUNIT_EXPECT_GT(test, m->flushed, 0);
	if (kind->numa)
		KUNIT_EXPECT_GT(test, m->stamped, 0);
	else
		KUNIT_EXPECT_GT(test, m->upgraded, 0);
}

#define MDT_CASE(_name, ...)						\
static void _name(struct kunit *test)					\
{									\
	static const struct mdt_kind kind = { __VA_ARGS__ };		\
									\
	mdt_case(test, &kind);						\
}

MDT_CASE(mprotect_anon, .map = MDT_ANON, .tables = 6000)
MDT_CASE(mprotect_shmem, .map = MDT_SHMEM, .tables = 4000)
MDT_CASE(mprotect_file_private, .map = MDT_FILE, .tables = 3000)
MDT_CASE(mprotect_mixedmap, .map = MDT_MIXED, .tables = 2000)
MDT_CASE(mprotect_nonpresent, .map = MDT_MAPS, .tables = 2000, .holes = true)
MDT_CASE(mprotect_uffd_wp, .map = MDT_MAPS, .tables = 3000, .uffd = true)
MDT_CASE(mprotect_numa_hints, .map = MDT_MAPS, .tables = 3000, .numa = true)
MDT_CASE(mprotect_full_tables, .map = MDT_MAPS, .tables = 500, .full = true)

static struct kunit_case mdt_cases[] = {
	KUNIT_CASE_SLOW(mprotect_anon),
	KUNIT_CASE_SLOW(mprotect_shmem),
	KUNIT_CASE_SLOW(mprotect_file_private),
	KUNIT_CASE_SLOW(mprotect_mixedmap),
	KUNIT_CASE_SLOW(mprotect_nonpresent),
	KUNIT_CASE_SLOW(mprotect_uffd_wp),
	KUNIT_CASE_SLOW(mprotect_numa_hints),
	KUNIT_CASE_SLOW(mprotect_full_tables),
	{}
};

static struct kunit_suite mdt_suite = {
	.name = "pte_batch_mprotect",
	.test_cases = mdt_cases,
};

kunit_test_suite(mdt_suite);

MODULE_DESCRIPTION("KUnit: mprotect, this tree against the pristine one");
MODULE_LICENSE("GPL");
