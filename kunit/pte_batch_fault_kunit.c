// SPDX-License-Identifier: GPL-2.0
/*
 * Write faults on a large anonymous folio as fork() and the child's exit leave
 * it: mapped read-only, no page marked exclusive.  If nobody else holds a
 * reference, one fault makes the whole folio ours; with any other reference
 * the fault copies one page, as it always did.
 *
 * And NUMA hinting faults: one fault makes all of a large folio's entries
 * accessible again that this table maps in this VMA.
 */
#include <kunit/test.h>
#include <linux/highmem.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mm_inline.h>
#include <linux/mmu_notifier.h>
#include <linux/prandom.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>
#include "../../internal.h"
#include "callers_newer.h"

#define FAULT_ORDER	4
#define FAULT_NR	((unsigned int)BIT(FAULT_ORDER))
/* Where the folio starts: away from any alignment of its own. */
#define FAULT_OFFSET	(3 * PAGE_SIZE)

struct fault {
	struct kunit *test;
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	struct folio *folio;
	unsigned long addr;
	unsigned int nr;
	int refs;
	bool dirty[FAULT_NR];
};

static pte_t *fault_slot(struct fault *f, unsigned int i, spinlock_t **ptl)
{
	unsigned long addr = f->addr + i * PAGE_SIZE;

	return pte_offset_map_lock(f->mm, pmd_off(f->mm, addr), addr, ptl);
}

static pte_t fault_pte(struct fault *f, unsigned int i)
{
	spinlock_t *ptl = NULL;
	pte_t *ptep = fault_slot(f, i, &ptl);
	pte_t pte;

	if (!ptep)
		return __pte(0);
	pte = ptep_get(ptep);
	pte_unmap_unlock(ptep, ptl);
	return pte;
}

static void fault_set_pte(struct fault *f, unsigned int i, pte_t pte)
{
	spinlock_t *ptl = NULL;
	pte_t *ptep = fault_slot(f, i, &ptl);

	if (!ptep)
		return;
	/* Not every value may follow every other without a break. */
	pte_clear(f->mm, f->addr + i * PAGE_SIZE, ptep);
	set_pte_at(f->mm, f->addr + i * PAGE_SIZE, ptep, pte);
	pte_unmap_unlock(ptep, ptl);
}

static bool fault_map_page(struct fault *f, unsigned int i)
{
	unsigned long addr = f->addr + i * PAGE_SIZE;
	pte_t pte = mk_pte(folio_page(f->folio, i), f->vma->vm_page_prot);
	spinlock_t *ptl = NULL;
	pte_t *ptep = get_locked_pte(f->mm, addr, &ptl);

	if (!ptep)
		return false;
	f->dirty[i] = i % 3;
	pte = pte_wrprotect(f->dirty[i] ? pte_mkdirty(pte) : pte_mkclean(pte));
	pte = i % 2 ? pte_mkyoung(pte) : pte_mkold(pte);
	pte_clear(f->mm, addr, ptep);
	set_pte_at(f->mm, addr, ptep, pte);
	pte_unmap_unlock(ptep, ptl);
	return true;
}

/* mmap lock held for writing. */
static bool fault_map_folio(struct fault *f, unsigned int order)
{
	unsigned int i;

	f->nr = 1U << order;
	if (anon_vma_prepare(f->vma))
		return false;
	f->folio = folio_alloc(GFP_HIGHUSER_MOVABLE, order);
	if (!f->folio || mem_cgroup_charge(f->folio, f->mm, GFP_KERNEL))
		return false;
	for (i = 0; i < f->nr; i++)
		memset_page(folio_page(f->folio, i), 0, 'a' + i, PAGE_SIZE);
	__folio_mark_uptodate(f->folio);
	folio_add_new_anon_rmap(f->folio, f->vma, f->addr, RMAP_EXCLUSIVE);
	folio_add_lru_vma(f->folio, f->vma);
	lru_add_drain();
	folio_ref_add(f->folio, f->nr - 1);
	add_mm_counter(f->mm, MM_ANONPAGES, f->nr);
	for (i = 0; i < f->nr; i++) {
		ClearPageAnonExclusive(folio_page(f->folio, i));
		if (!fault_map_page(f, i))
			return false;
	}
	f->refs = folio_ref_count(f->folio);
	return true;
}

/* A folio of @order, its first entry @before bytes before a table's end. */
static struct fault *fault_setup(struct kunit *test, unsigned int order,
				 unsigned long before)
{
	struct fault *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned long addr;
	bool mapped;

	/* Then nobody made ready for the unmapping of a part of one. */
	if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) &&
	    !has_transparent_hugepage())
		kunit_skip(test, "no large anonymous folios on this machine");
	KUNIT_ASSERT_NOT_NULL(test, f);
	f->test = test;
	addr = kunit_vm_mmap(test, NULL, 0, 3 * PMD_SIZE,
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_FALSE(test, !addr || IS_ERR_VALUE(addr));
	f->mm = current->mm;
	addr = ALIGN(addr, PMD_SIZE);
	f->addr = before ? addr + PMD_SIZE - before : addr + FAULT_OFFSET;
	mmap_write_lock(f->mm);
	f->vma = vma_lookup(f->mm, f->addr);
	mapped = fault_map_folio(f, order);
	mmap_write_unlock(f->mm);
	KUNIT_ASSERT_TRUE(test, mapped);
	return f;
}

/* Unmapping a part has split the VMA: entry @i is in the one that is left. */
static void fault_find_vma(struct fault *f, unsigned int i)
{
	mmap_read_lock(f->mm);
	f->vma = vma_lookup(f->mm, f->addr + i * PAGE_SIZE);
	mmap_read_unlock(f->mm);
}

static void fault_take(struct fault *f, unsigned int i, unsigned int flags)
{
	vm_fault_t ret;

	mmap_read_lock(f->mm);
	ret = handle_mm_fault(f->vma, f->addr + i * PAGE_SIZE, flags, NULL);
	mmap_read_unlock(f->mm);
	KUNIT_EXPECT_FALSE(f->test, ret & (VM_FAULT_ERROR | VM_FAULT_RETRY));
}

static bool fault_maps(struct fault *f, unsigned int i)
{
	return pte_pfn(fault_pte(f, i)) == folio_pfn(f->folio) + i;
}

static bool fault_exclusive(struct fault *f, unsigned int i)
{
	return PageAnonExclusive(folio_page(f->folio, i));
}

/* Entry @i still maps its page, and its page is (or is not) marked. */
static void fault_expect(struct fault *f, unsigned int i, bool write,
			 bool exclusive)
{
	struct kunit *test = f->test;
	pte_t pte = fault_pte(f, i);

	KUNIT_EXPECT_TRUE_MSG(test, fault_maps(f, i), "entry %u", i);
	KUNIT_EXPECT_EQ_MSG(test, !!pte_write(pte), write, "entry %u", i);
	KUNIT_EXPECT_EQ_MSG(test, fault_exclusive(f, i), exclusive,
			    "entry %u", i);
}

/* A neighbour: its accessed and dirty bits are its own. */
static void fault_expect_other(struct fault *f, unsigned int i, bool write,
			       bool exclusive)
{
	pte_t pte = fault_pte(f, i);

	fault_expect(f, i, write, exclusive);
	KUNIT_EXPECT_EQ_MSG(f->test, !!pte_dirty(pte), f->dirty[i],
			    "entry %u", i);
	KUNIT_EXPECT_EQ_MSG(f->test, !!pte_young(pte), i % 2, "entry %u", i);
}

static void fault_expect_reused(struct fault *f, unsigned int hit)
{
	struct kunit *test = f->test;
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, pte_dirty(fault_pte(f, hit)));
	KUNIT_EXPECT_EQ(test, folio_ref_count(f->folio), f->refs);
	KUNIT_EXPECT_EQ(test, folio_mapcount(f->folio), f->refs);
	for (i = 0; i < f->nr; i++) {
		if (i == hit)
			fault_expect(f, i, true, true);
		else
			fault_expect_other(f, i, true, true);
	}
}

static void fault_expect_one(struct fault *f, unsigned int hit, bool kept)
{
	struct kunit *test = f->test;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, fault_maps(f, hit), kept);
	KUNIT_EXPECT_EQ(test, fault_exclusive(f, hit), kept);
	for (i = 0; i < f->nr; i++)
		if (i != hit)
			fault_expect_other(f, i, false, false);
}

/* One page was copied, and nothing is known about the others. */
static void fault_expect_copied(struct fault *f, unsigned int hit)
{
	fault_expect_one(f, hit, false);
}

/*
 * Not the whole folio: one page was copied, or kept by a tree that tells pages
 * of a folio apart by counting who maps it, whoever that is in this mm.
 */
static void fault_expect_alone(struct fault *f, unsigned int hit)
{
	fault_expect_one(f, hit, __is_defined(HAVE_wp_can_reuse_large_anon_folio));
}

static void fault_need_reuse(struct kunit *test)
{
	if (!__is_defined(HAVE_wp_reuse_large_folio))
		kunit_skip(test, "this tree copies each page of a large folio");
}

static void fault_reuse(struct kunit *test)
{
	static const unsigned int orders[] = { 1, 2, 3, 4 };
	unsigned int o, hit;
	struct fault *f;

	fault_need_reuse(test);
	for (o = 0; o < ARRAY_SIZE(orders); o++) {
		for (hit = 0; hit < 1U << orders[o]; hit++) {
			f = fault_setup(test, orders[o], 0);
			fault_take(f, hit, FAULT_FLAG_WRITE);
			fault_expect_reused(f, hit);
		}
	}
}

/* What was unmapped since no longer counts. */
static void fault_reuse_partly_mapped(struct kunit *test)
{
	struct fault *f;
	unsigned int i;

	fault_need_reuse(test);
	f = fault_setup(test, FAULT_ORDER, 0);
	vm_munmap(f->addr + 12 * PAGE_SIZE, 4 * PAGE_SIZE);
	vm_munmap(f->addr, 2 * PAGE_SIZE);
	fault_find_vma(f, 2);
	fault_take(f, 5, FAULT_FLAG_WRITE);
	fault_expect(f, 5, true, true);
	for (i = 2; i < 12; i++)
		if (i != 5)
			fault_expect_other(f, i, true, true);
	KUNIT_EXPECT_EQ(test, folio_ref_count(f->folio), 10);
}

/* The contents and the neighbours in the table stay what they were. */
static void fault_reuse_neighbours(struct kunit *test)
{
	struct fault *f, *g;
	unsigned int i;
	u8 *text;

	fault_need_reuse(test);
	f = fault_setup(test, FAULT_ORDER, 0);
	g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, g);
	*g = *f;
	g->addr = f->addr + FAULT_NR * PAGE_SIZE;
	mmap_write_lock(f->mm);
	KUNIT_EXPECT_TRUE(test, fault_map_folio(g, FAULT_ORDER));
	mmap_write_unlock(f->mm);

	fault_take(f, FAULT_NR - 1, FAULT_FLAG_WRITE);
	fault_expect_reused(f, FAULT_NR - 1);
	for (i = 0; i < FAULT_NR; i++) {
		fault_expect_other(g, i, false, false);
		text = kmap_local_page(folio_page(f->folio, i));
		KUNIT_EXPECT_EQ(test, text[17], 'a' + i);
		kunmap_local(text);
	}
}

static void fault_copy_extra_ref(struct kunit *test)
{
	struct fault *f = fault_setup(test, FAULT_ORDER, 0);

	folio_get(f->folio);
	fault_take(f, 3, FAULT_FLAG_WRITE);
	fault_expect_copied(f, 3);
	folio_put(f->folio);
}

/* One reference too many and one entry too few do not make it right. */
static void fault_copy_ref_for_entry(struct kunit *test)
{
	struct fault *f = fault_setup(test, FAULT_ORDER, 0);

	folio_get(f->folio);
	vm_munmap(f->addr + 15 * PAGE_SIZE, PAGE_SIZE);
	f->nr--;
	fault_find_vma(f, 0);
	fault_take(f, 3, FAULT_FLAG_WRITE);
	fault_expect_copied(f, 3);
	folio_put(f->folio);
}

static void fault_copy_pinned(struct kunit *test)
{
	struct fault *f = fault_setup(test, FAULT_ORDER, 0);

	folio_ref_add(f->folio, 1);
	atomic_inc(&f->folio->_pincount);
	fault_take(f, 3, FAULT_FLAG_WRITE);
	fault_expect_copied(f, 3);
	atomic_dec(&f->folio->_pincount);
	folio_put(f->folio);
}

static void fault_copy_swapcache(struct kunit *test)
{
	struct fault *f;

	if (__is_defined(HAVE_wp_can_reuse_large_anon_folio))
		kunit_skip(test, "this tree asks the swap device, and there is none");
	f = fault_setup(test, FAULT_ORDER, 0);
	/* The swap cache holds one reference for each page. */
	folio_ref_add(f->folio, f->nr);
	folio_set_swapcache(f->folio);
	fault_take(f, 3, FAULT_FLAG_WRITE);
	fault_expect_copied(f, 3);
	folio_clear_swapcache(f->folio);
	folio_put_refs(f->folio, f->nr);
}

/*
 * Mapped by somebody else: another process's entry looks like this to us. The
 * first page, because without THP DEBUG_VM does not know a tail's place.
 */
static void fault_copy_other_mapping(struct kunit *test)
{
	struct fault *f = fault_setup(test, FAULT_ORDER, 0);
	struct page *page = folio_page(f->folio, 0);

	folio_get(f->folio);
	folio_add_anon_rmap_pte(f->folio, page, f->vma, f->addr, RMAP_NONE);
	fault_take(f, 3, FAULT_FLAG_WRITE);
	fault_expect_alone(f, 3);
	folio_remove_rmap_pte(f->folio, page, f->vma);
	folio_put(f->folio);
}

/* The rest of the folio is mapped by the next table. */
static void fault_copy_across_tables(struct kunit *test)
{
	struct fault *f = fault_setup(test, FAULT_ORDER, 6 * PAGE_SIZE);

	fault_take(f, 3, FAULT_FLAG_WRITE);
	fault_expect_alone(f, 3);
}

static void fault_split_vma(struct fault *f, unsigned int at)
{
	struct vm_area_struct *vma;
	struct vma_iterator vmi;

	vma_iter_init(&vmi, f->mm, f->addr);
	mmap_write_lock(f->mm);
	vma = newer_vma_dontdump(&vmi, f->vma, f->addr + at * PAGE_SIZE,
				 f->vma->vm_end);
	KUNIT_EXPECT_FALSE(f->test, IS_ERR(vma));
	if (!IS_ERR(vma))
		vm_flags_set(vma, VM_DONTDUMP);
	f->vma = vma_lookup(f->mm, f->addr);
	mmap_write_unlock(f->mm);
}

/* The rest of the folio is mapped by the next VMA. */
static void fault_copy_across_vmas(struct kunit *test)
{
	struct fault *f = fault_setup(test, FAULT_ORDER, 0);

	fault_split_vma(f, 11);
	fault_take(f, 3, FAULT_FLAG_WRITE);
	fault_expect_alone(f, 3);
}

/* An unsharing fault does not make anything writable, nor others exclusive. */
static void fault_unshare(struct kunit *test)
{
	struct fault *f = fault_setup(test, FAULT_ORDER, 0);

	fault_take(f, 3, FAULT_FLAG_UNSHARE);
	KUNIT_EXPECT_FALSE(test, pte_write(fault_pte(f, 3)));
	fault_expect_alone(f, 3);
}

static void fault_vma_flags(struct fault *f, unsigned long set,
			    unsigned long clear)
{
	mmap_write_lock(f->mm);
	vm_flags_mod(f->vma, set, clear);
	mmap_write_unlock(f->mm);
}

/* Entries that must fault on the first write keep doing so. */
static void fault_keep(struct fault *f, pte_t (*kept)(pte_t pte),
		       pte_t (*other)(pte_t pte))
{
	pte_t (*mark)(pte_t pte);
	unsigned int i;

	for (i = 0; i < FAULT_NR; i++) {
		mark = i >= 4 && i < 8 ? kept : other;
		fault_set_pte(f, i, mark(fault_pte(f, i)));
	}
	fault_take(f, 3, FAULT_FLAG_WRITE);
	fault_expect(f, 3, true, true);
	for (i = 0; i < FAULT_NR; i++)
		if (i != 3)
			fault_expect_other(f, i, i < 4 || i >= 8, true);
}

static pte_t fault_mark_not(pte_t pte)
{
	return pte;
}

/* The protection of no access itself is an accessed one on powerpc. */
static pte_t fault_mark_none(pte_t pte)
{
	const bool young = pte_young(pte);

	pte = pte_modify(pte, vm_get_page_prot(VM_NONE));
	return young ? pte : pte_mkold(pte);
}

static pte_t fault_mark_uffd_wp(pte_t pte)
{
	return pte_mkuffd_wp(pte);
}

static pte_t fault_mark_soft_dirty(pte_t pte)
{
	return pte_mksoft_dirty(pte);
}

static pte_t fault_mark_soft_clean(pte_t pte)
{
	return pte_clear_soft_dirty(pte);
}

static pte_t fault_any_pte(void)
{
	return pfn_pte(1, vm_get_page_prot(VM_READ));
}

static void fault_need_numa(struct kunit *test)
{
	if (!pte_protnone(fault_mark_none(fault_any_pte())))
		kunit_skip(test, "no NUMA hinting entries here");
}

static void fault_reuse_protnone(struct kunit *test)
{
	fault_need_reuse(test);
	fault_need_numa(test);
	fault_keep(fault_setup(test, FAULT_ORDER, 0), fault_mark_none,
		   fault_mark_not);
}

static void fault_reuse_uffd_wp(struct kunit *test)
{
	struct fault *f;

	fault_need_reuse(test);
	if (!pte_uffd_wp(pte_mkuffd_wp(fault_any_pte())))
		kunit_skip(test, "no uffd-wp entries here");
	f = fault_setup(test, FAULT_ORDER, 0);
	fault_vma_flags(f, VM_UFFD_WP, 0);
	fault_keep(f, fault_mark_uffd_wp, fault_mark_not);
	fault_vma_flags(f, 0, VM_UFFD_WP);
}

static void fault_reuse_soft_dirty(struct kunit *test)
{
	struct fault *f;

	fault_need_reuse(test);
	if (!IS_ENABLED(CONFIG_MEM_SOFT_DIRTY))
		kunit_skip(test, "no soft-dirty entries here");
	f = fault_setup(test, FAULT_ORDER, 0);
	fault_vma_flags(f, 0, VM_SOFTDIRTY);
	fault_keep(f, fault_mark_soft_clean, fault_mark_soft_dirty);
}

#define FAULT_NUMA_ROUNDS	64

/* Any bits, three entries in four without access, pages exclusive or not. */
static void fault_numa_mix(struct fault *f, struct rnd_state *rnd, bool uffd)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++) {
		u32 bits = prandom_u32_state(rnd);
		pte_t pte = fault_pte(f, i);

		pte = bits & BIT(0) ? pte_mkdirty(pte) : pte_mkclean(pte);
		pte = bits & BIT(1) ? pte_mkyoung(pte) : pte_mkold(pte);
		pte = bits & BIT(2) ? pte_mksoft_dirty(pte) :
				      pte_clear_soft_dirty(pte);
		if (uffd && (bits & BIT(3)))
			pte = pte_mkuffd_wp(pte);
		if (bits & (BIT(4) | BIT(5)))
			pte = fault_mark_none(pte);
		fault_set_pte(f, i, pte);
		if (bits & BIT(6))
			SetPageAnonExclusive(folio_page(f->folio, i));
	}
}

/* Two pages of the folio that are not mapped in order. */
static void fault_numa_swap(struct fault *f, unsigned int i)
{
	pte_t first = fault_pte(f, i), second = fault_pte(f, i + 1);

	fault_set_pte(f, i, second);
	fault_set_pte(f, i + 1, first);
}

/* What becomes of one entry, by itself. */
static pte_t fault_numa_want(struct fault *f, unsigned int i)
{
	pte_t pte = fault_pte(f, i);
	bool write;

	if (!pte_protnone(pte))
		return pte;
	pte = pte_modify(pte, f->vma->vm_page_prot);
	write = pte_write(pte) ||
		can_change_pte_writable(f->vma, f->addr + i * PAGE_SIZE, pte);
	pte = pte_mkyoung(pte);
	return write ? pte_mkwrite(pte, f->vma) : pte;
}

/*
 * One fault on one of the first @reach entries: it does not change others, nor
 * any that is out of the folio's reach as seen from the page that faults.
 */
static void fault_numa_take(struct fault *f, struct rnd_state *rnd,
			    unsigned int reach, unsigned int round)
{
	unsigned int i, hit = prandom_u32_state(rnd) % reach;
	pte_t got, want[FAULT_NR];
	unsigned int page;

	page = pte_pfn(fault_pte(f, hit)) - folio_pfn(f->folio);
	fault_set_pte(f, hit, fault_mark_none(fault_pte(f, hit)));
	for (i = 0; i < f->nr; i++)
		want[i] = i < reach && i + page - hit < f->nr ?
				  fault_numa_want(f, i) : fault_pte(f, i);
	fault_take(f, hit, 0);
	for (i = 0; i < f->nr; i++) {
		got = fault_pte(f, i);
		KUNIT_EXPECT_TRUE_MSG(f->test, pte_same(got, want[i]),
				      "round %u, fault %u, entry %u: %#llx, not %#llx",
				      round, hit, i, (u64)pte_val(got),
				      (u64)pte_val(want[i]));
	}
}

static void fault_numa_rounds(struct kunit *test, unsigned long before,
			      unsigned int split, unsigned int reach)
{
	struct rnd_state rnd;
	unsigned int round;
	struct fault *f;
	bool uffd;

	fault_need_numa(test);
	for (round = 0; round < FAULT_NUMA_ROUNDS; round++) {
		prandom_seed_state(&rnd, round);
		f = fault_setup(test, FAULT_ORDER, before);
		if (split)
			fault_split_vma(f, split);
		uffd = (round & 1) &&
		       pte_uffd_wp(pte_mkuffd_wp(fault_any_pte()));
		fault_vma_flags(f, uffd ? VM_UFFD_WP : 0,
				round & 2 ? VM_SOFTDIRTY : 0);
		fault_numa_mix(f, &rnd, uffd);
		if (round & 4)
			fault_numa_swap(f, prandom_u32_state(&rnd) % (f->nr - 1));
		fault_numa_take(f, &rnd, reach, round);
		fault_vma_flags(f, 0, VM_UFFD_WP);
	}
}

static void fault_numa_rebuild(struct kunit *test)
{
	fault_numa_rounds(test, 0, 0, FAULT_NR);
}

/* The rest of the folio is mapped by the next table. */
static void fault_numa_across_tables(struct kunit *test)
{
	fault_numa_rounds(test, 6 * PAGE_SIZE, 0, 6);
}

/* The rest of the folio is mapped by the next VMA. */
static void fault_numa_across_vmas(struct kunit *test)
{
	fault_numa_rounds(test, 0, 11, 11);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(fault_reuse),
	KUNIT_CASE(fault_reuse_partly_mapped),
	KUNIT_CASE(fault_reuse_neighbours),
	KUNIT_CASE(fault_reuse_protnone),
	KUNIT_CASE(fault_reuse_uffd_wp),
	KUNIT_CASE(fault_reuse_soft_dirty),
	KUNIT_CASE(fault_copy_extra_ref),
	KUNIT_CASE(fault_copy_ref_for_entry),
	KUNIT_CASE(fault_copy_pinned),
	KUNIT_CASE(fault_copy_swapcache),
	KUNIT_CASE(fault_copy_other_mapping),
	KUNIT_CASE(fault_copy_across_tables),
	KUNIT_CASE(fault_copy_across_vmas),
	KUNIT_CASE(fault_unshare),
	KUNIT_CASE(fault_numa_rebuild),
	KUNIT_CASE(fault_numa_across_tables),
	KUNIT_CASE(fault_numa_across_vmas),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "pte_batch_fault",
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);

MODULE_DESCRIPTION("KUnit: write and NUMA hinting faults on large folios");
MODULE_LICENSE("GPL");
