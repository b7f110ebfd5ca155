// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite: where a batch of page-table entries ends.
 *
 * Each case writes down what a table shall hold, fills a real table with it
 * and asks the tree's own code how long the batch is. What the answer must be
 * is counted from the written list, never from the entries.
 *
 * A01 and the like in the comments are faults that kernels were shipped with:
 * a batch past the end of its folio, of its table, over a change of rights.
 */
#include <kunit/test.h>

#include <linux/cacheflush.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/pgtable.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../../internal.h"
#ifdef HAVE_swap_cgroup_record_entry
#include <linux/swap_cgroup.h>
#include <linux/swapops.h>
#endif
#ifdef HAVE_folio_pte_batch_header
#include <linux/folio_pte_batch.h>
#endif

#include "pte_batch_entry.h"

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Where the random tables start");

#define NR_RANDOM_TABLES	400

/* An entry that maps nothing, and one that is in swap. */
#define MAPS_NOTHING	ULONG_MAX
#define IS_SWAPPED	(ULONG_MAX - 1)

/* What one slot shall hold. */
struct slot {
	unsigned long pfn;
	unsigned int bits;
};

/* Which bits end a batch, and which the first entry shall collect. */
#define RESPECT_DIRTY		BIT(0)
#define RESPECT_SOFT_DIRTY	BIT(1)
#define RESPECT_WRITE		BIT(2)
#define RESPECT_ALL		GENMASK(2, 0)
#define MERGE_WRITE		BIT(3)
#define MERGE_YOUNG_DIRTY	BIT(4)
#define MERGE_ALL		GENMASK(4, 3)

static struct batch_env env;
static struct batch_table table;
static struct slot *slots;
static char text[2][ENTRY_TEXT];

/* Orders of the folios that the cases are run with. */
static const unsigned int orders[] = { 2, 3, 4, 5, 6, 7, 8, 9 };

static void order_desc(const unsigned int *order, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "folio of %u pages", 1U << *order);
}

KUNIT_ARRAY_PARAM(order, orders, order_desc);

/* Sets of bits that end a batch: every one of them. */
static const unsigned int respected[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static void respected_desc(const unsigned int *flags, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "respecting%s%s%s%s",
		 *flags ? "" : " nothing",
		 *flags & RESPECT_DIRTY ? " dirty" : "",
		 *flags & RESPECT_SOFT_DIRTY ? " soft-dirty" : "",
		 *flags & RESPECT_WRITE ? " write" : "");
}

KUNIT_ARRAY_PARAM(respected, respected, respected_desc);

/*
 * The finder comes in two forms. The older one takes flags that say what to
 * ignore, never stops at a change of the write bit, and reports what others in
 * the batch had through pointers.
 */
#ifdef HAVE_folio_pte_batch_flags
#define FINDER_CAN_RESPECT_WRITE	1

static unsigned int find_batch(struct folio *folio, pte_t *ptep, pte_t *pte,
			       unsigned int max_nr, unsigned int flags)
{
	fpb_t fpb = 0;

	if (flags & RESPECT_DIRTY)
		fpb |= FPB_RESPECT_DIRTY;
	if (flags & RESPECT_SOFT_DIRTY)
		fpb |= FPB_RESPECT_SOFT_DIRTY;
	if (flags & RESPECT_WRITE)
		fpb |= FPB_RESPECT_WRITE;
	if (flags & MERGE_WRITE)
		fpb |= FPB_MERGE_WRITE;
	if (flags & MERGE_YOUNG_DIRTY)
		fpb |= FPB_MERGE_YOUNG_DIRTY;
	return folio_pte_batch_flags(folio, env.vma, ptep, pte, max_nr, fpb);
}
#else
#define FINDER_CAN_RESPECT_WRITE	0

static unsigned int find_batch(struct folio *folio, pte_t *ptep, pte_t *pte,
			       unsigned int max_nr, unsigned int flags)
{
	bool write, young, dirty;
	fpb_t fpb = 0;
	int nr;

	if (!(flags & RESPECT_DIRTY))
		fpb |= FPB_IGNORE_DIRTY;
	if (!(flags & RESPECT_SOFT_DIRTY))
		fpb |= FPB_IGNORE_SOFT_DIRTY;
	nr = folio_pte_batch(folio, env.addr, ptep, *pte, max_nr, fpb, &write,
			     &young, &dirty);
	if (flags & MERGE_WRITE && write)
		*pte = pte_mkwrite(*pte, env.vma);
	if (flags & MERGE_YOUNG_DIRTY && young)
		*pte = pte_mkyoung(*pte);
	if (flags & MERGE_YOUNG_DIRTY && dirty)
		*pte = pte_mkdirty(*pte);
	return nr;
}
#endif

static pte_t slot_pte(const struct slot *slot)
{
	if (slot->pfn == MAPS_NOTHING)
		return __pte(0);
	if (slot->pfn == IS_SWAPPED)
		return __swp_entry_to_pte(__swp_entry(1, 8));
	return entry_build(&env, slot->pfn, slot->bits);
}

static void clear_slots(void)
{
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++)
		slots[i].pfn = MAPS_NOTHING;
}

static void map_pages(unsigned int first, unsigned int nr, unsigned long pfn,
		      unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < nr && first + i < PTRS_PER_PTE; i++) {
		slots[first + i].pfn = pfn + i;
		slots[first + i].bits = entry_fix_bits(bits);
	}
}

static bool is_present(const struct slot *slot)
{
	return slot->pfn != MAPS_NOTHING && slot->pfn != IS_SWAPPED;
}

/*
 * Some slots map frames that are somebody else's.  What set_pte_at() notes on
 * their pages, that instruction caches have been seen to, may not stay there.
 */
static void forget_caches(void)
{
#ifdef PG_dcache_clean
	unsigned int i;
	struct folio *folio;

	for (i = 0; i < PTRS_PER_PTE; i++) {
		if (!is_present(slots + i) || !pfn_valid(slots[i].pfn))
			continue;
		folio = page_folio(pfn_to_page(slots[i].pfn));
		clear_bit(PG_dcache_clean, folio_flags(folio, 0));
	}
#endif
}

static void fill_table(void)
{
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++)
		entry_set(&env, table.ptep, i,
			  slots[i].pfn == MAPS_NOTHING ? __pte(0) :
							 slot_pte(slots + i));
	forget_caches();
	/* What any entry of an arm64 block has, they all have. */
	for (i = 0; i < PTRS_PER_PTE; i++) {
		pte_t pte = ptep_get(table.ptep + i);

		if (entry_block(table.ptep + i) == 1)
			continue;
		if (pte_young(pte))
			slots[i].bits |= ENTRY_YOUNG;
		if (pte_dirty(pte))
			slots[i].bits |= ENTRY_DIRTY;
	}
}

/* How long the batch at @first is, by the definition. */
static unsigned int count_batch(struct folio *folio, unsigned int first,
				unsigned int max_nr, unsigned int flags)
{
	unsigned int ignored = ENTRY_YOUNG;
	unsigned int i;

	if (!(flags & RESPECT_DIRTY))
		ignored |= ENTRY_DIRTY;
	if (!(flags & RESPECT_SOFT_DIRTY))
		ignored |= ENTRY_SOFT_DIRTY;
	if (!(flags & RESPECT_WRITE))
		ignored |= ENTRY_WRITE;
	for (i = 1; i < max_nr && first + i < PTRS_PER_PTE; i++) {
		const struct slot *slot = slots + first + i;

		if (!is_present(slot) || slot->pfn != slots[first].pfn + i ||
		    slot->pfn >= folio_pfn(folio) + folio_nr_pages(folio) ||
		    (slot->bits ^ slots[first].bits) & ~ignored)
			break;
		/* The contiguous bit is compared as well. */
		if (entry_block(table.ptep + first + i) !=
		    entry_block(table.ptep + first))
			break;
	}
	return i;
}

/* The tree's own finder gives soft-dirty along with dirty, ours does not. */
#ifdef HAVE_folio_pte_batch_header
#define FINDER_MERGES_EXACTLY	1
#else
#define FINDER_MERGES_EXACTLY	0
#endif

/* What the first entry has become if it collects bits of the others. */
static pte_t count_merged(unsigned int first, unsigned int nr,
			  unsigned int flags)
{
	pte_t pte = ptep_get(table.ptep + first);
	bool soft_dirty = pte_soft_dirty(pte);
	unsigned int any = 0;
	unsigned int i;

	for (i = 1; i < nr; i++)
		any |= slots[first + i].bits;
	if (flags & MERGE_WRITE && any & ENTRY_WRITE)
		pte = pte_mkwrite(pte, env.vma);
	if (flags & MERGE_YOUNG_DIRTY && any & ENTRY_YOUNG)
		pte = pte_mkyoung(pte);
	if (flags & MERGE_YOUNG_DIRTY && any & ENTRY_DIRTY)
		pte = pte_mkdirty(pte);
	if (FINDER_MERGES_EXACTLY && !soft_dirty)
		pte = pte_clear_soft_dirty(pte);
	return pte;
}

/* The one check of this suite: false, and a message, if the answer is wrong. */
static bool check_batch(struct kunit *test, struct folio *folio,
			unsigned int first, unsigned int max_nr,
			unsigned int flags)
{
	unsigned int want = count_batch(folio, first, max_nr, flags);
	pte_t *ptep = table.ptep + first;
	pte_t pte = ptep_get(ptep);
	unsigned int nr = find_batch(folio, ptep, &pte, max_nr, flags);
	pte_t merged;

	if (nr != want) {
		KUNIT_FAIL(test,
			   "seed %u, slot %u, max %u, flags %#x: batch of %u, want %u; the first is %s, the one behind the batch %s",
			   seed, first, max_nr, flags, nr, want,
			   entry_text(text[0], slot_pte(slots + first)),
			   entry_text(text[1], first + want < PTRS_PER_PTE ?
				      slot_pte(slots + first + want) :
				      __pte(0)));
		return false;
	}
	merged = count_merged(first, nr, flags);
	/* Without a flag to merge, the caller's copy is not to be relied on. */
	if (flags & MERGE_ALL && !pte_same(pte, merged)) {
		KUNIT_FAIL(test,
			   "seed %u, slot %u, batch of %u, flags %#x: merged to %s, want %s",
			   seed, first, nr, flags, entry_text(text[0], pte),
			   entry_text(text[1], merged));
		return false;
	}
	return true;
}

static struct folio *get_folio(struct kunit *test, unsigned int order)
{
	struct folio *folio = NULL;

	if (order <= MAX_PAGE_ORDER && 1U << order <= PTRS_PER_PTE)
		folio = folio_alloc(GFP_KERNEL | __GFP_COMP | __GFP_NOWARN,
				    order);
	if (!folio)
		kunit_skip(test, "no folio of order %u to be had", order);
	return folio;
}

static struct folio *param_folio(struct kunit *test)
{
	const unsigned int *order = test->param_value;

	return get_folio(test, *order);
}

#define PLAIN	(ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY)

/*
 * Pages that lie right behind the folio are mapped right behind it: all bits
 * agree, only the end of the folio can end the batch.
 */
static void folio_pte_batch_stops_at_folio_end(struct kunit *test)
{
	struct folio *folio = param_folio(test);
	unsigned int size = folio_nr_pages(folio);
	unsigned int page;

	for (page = 0; page < size; page++) {
		clear_slots();
		map_pages(0, PTRS_PER_PTE, folio_pfn(folio) + page, PLAIN);
		fill_table();
		if (!check_batch(test, folio, 0, PTRS_PER_PTE, 0))
			break;
	}
	folio_put(folio);
}

/*
 * A01: the slot behind the folio is empty. Where the next frame cannot be
 * expressed, what is expected there could look like an empty slot.
 */
static void folio_pte_batch_stops_before_empty_slot(struct kunit *test)
{
	struct folio *folio = param_folio(test);
	unsigned int size = folio_nr_pages(folio);
	unsigned int nr;

	for (nr = 1; nr <= size; nr++) {
		clear_slots();
		map_pages(0, nr, folio_pfn(folio) + size - nr, PLAIN);
		fill_table();
		if (!check_batch(test, folio, 0, nr + 3, 0))
			break;
	}
	folio_put(folio);
}

/*
 * A04: the folio goes on behind the end of the table. The memory there holds
 * entries that would fit, so a look at them makes the batch longer.
 */
static void folio_pte_batch_stops_at_table_end(struct kunit *test)
{
	struct folio *folio = param_folio(test);
	unsigned int size = folio_nr_pages(folio);
	unsigned int nr, i;

	for (nr = 1; nr < size; nr++) {
		clear_slots();
		map_pages(PTRS_PER_PTE - nr, nr, folio_pfn(folio), PLAIN);
		fill_table();
		for (i = 0; i < size - nr; i++)
			table.ptep[PTRS_PER_PTE + i] =
				entry_build(&env, folio_pfn(folio) + nr + i,
					    PLAIN);
		if (!check_batch(test, folio, PTRS_PER_PTE - nr, nr, 0))
			break;
	}
	folio_put(folio);
}

/* The caller's limit: what is left of the VMA, for one. */
static void folio_pte_batch_stops_at_limit(struct kunit *test)
{
	struct folio *folio = param_folio(test);
	unsigned int size = folio_nr_pages(folio);
	unsigned int max_nr;

	clear_slots();
	map_pages(0, size, folio_pfn(folio), PLAIN);
	fill_table();
	for (max_nr = 1; max_nr <= size; max_nr++)
		if (!check_batch(test, folio, 0, max_nr, 0))
			break;
	folio_put(folio);
}

/* One entry in the middle is missing, in swap, or maps another page. */
static void folio_pte_batch_stops_at_other_entry(struct kunit *test)
{
	struct folio *folio = param_folio(test);
	unsigned int size = folio_nr_pages(folio);
	const unsigned long others[] = {
		MAPS_NOTHING, IS_SWAPPED, folio_pfn(folio),
		folio_pfn(folio) + size - 1, folio_pfn(folio) + size,
	};
	unsigned int odd, i;

	for (odd = 1; odd < size; odd++) {
		for (i = 0; i < ARRAY_SIZE(others); i++) {
			clear_slots();
			map_pages(0, size, folio_pfn(folio), PLAIN);
			slots[odd].pfn = others[i];
			fill_table();
			if (!check_batch(test, folio, 0, size, 0))
				goto out;
		}
	}
out:
	folio_put(folio);
}

/*
 * A12, A02, A07: every bit that one entry can have and another not, for every
 * set of bits that end a batch. A bit that is not known to be ignored ends it.
 */
static void folio_pte_batch_flags_stop_at_bit(struct kunit *test)
{
	const unsigned int *flags = test->param_value;
	unsigned int base, bit, odd;
	struct folio *folio;

	if (*flags & RESPECT_WRITE && !FINDER_CAN_RESPECT_WRITE)
		kunit_skip(test, "this tree's finder cannot respect write");
	folio = get_folio(test, 4);

	for (base = 0; base <= ENTRY_ALL_BITS; base++) {
		for (bit = 1; bit <= ENTRY_ALL_BITS; bit <<= 1) {
			if (!entry_bits_possible(base) ||
			    !entry_bits_possible(base ^ bit))
				continue;
			odd = 1 + (base + bit) % 15;
			clear_slots();
			map_pages(0, 16, folio_pfn(folio), base);
			slots[odd].bits ^= bit;
			fill_table();
			if (!check_batch(test, folio, 0, 16, *flags))
				goto out;
		}
	}
out:
	folio_put(folio);
}

/* A02 as it was shipped: one writable page, then three that are not. */
static void folio_pte_batch_flags_keep_rights_apart(struct kunit *test)
{
	struct folio *folio;

	if (!FINDER_CAN_RESPECT_WRITE)
		kunit_skip(test, "this tree's finder cannot respect write");
	folio = get_folio(test, 2);
	clear_slots();
	map_pages(0, 1, folio_pfn(folio), PLAIN);
	map_pages(1, 3, folio_pfn(folio) + 1, ENTRY_YOUNG | ENTRY_DIRTY);
	fill_table();
	if (check_batch(test, folio, 0, 4, RESPECT_WRITE))
		check_batch(test, folio, 1, 3, RESPECT_WRITE);
	folio_put(folio);
}

/* A08: entries without access, whose frames an arch may store inverted. */
static void folio_pte_batch_follows_protnone(struct kunit *test)
{
	struct folio *folio = param_folio(test);
	unsigned int size = folio_nr_pages(folio);

	clear_slots();
	map_pages(0, PTRS_PER_PTE, folio_pfn(folio), ENTRY_PROTNONE);
	fill_table();
	check_batch(test, folio, 0, PTRS_PER_PTE, 0);
	check_batch(test, folio, size - 1, PTRS_PER_PTE - size + 1, 0);
	folio_put(folio);
}

/* What to do with the next slot of a random table. */
static void random_slot(struct rnd_state *rnd, struct folio *folio,
			unsigned int i, unsigned int *page, unsigned int *bits)
{
	unsigned int dice = prandom_u32_state(rnd) % 64;
	unsigned int all = prandom_u32_state(rnd) & ENTRY_ALL_BITS;

	if (dice < 2)
		*page = prandom_u32_state(rnd) % folio_nr_pages(folio);
	if (dice < 8)
		*bits = all;
	else if (dice < 32)
		*bits ^= all & (ENTRY_YOUNG | ENTRY_DIRTY | ENTRY_WRITE |
				ENTRY_SOFT_DIRTY);
	slots[i].pfn = dice == 63 ? MAPS_NOTHING :
		       dice == 62 ? IS_SWAPPED : folio_pfn(folio) + *page;
	slots[i].bits = entry_fix_bits(*bits);
	*page = (*page + 1) % folio_nr_pages(folio);
}

/* A random set of flags that the tree's finder knows. */
static unsigned int random_flags(struct rnd_state *rnd)
{
	unsigned int flags = prandom_u32_state(rnd) & (RESPECT_ALL | MERGE_ALL);

	if (!FINDER_CAN_RESPECT_WRITE)
		flags &= ~RESPECT_WRITE;
	/* To respect a bit and to merge it exclude each other. */
	if (flags & MERGE_WRITE)
		flags &= ~RESPECT_WRITE;
	if (flags & MERGE_YOUNG_DIRTY)
		flags &= ~RESPECT_DIRTY;
	return flags;
}

static bool check_random_table(struct kunit *test, struct rnd_state *rnd,
			       struct folio *folio)
{
	unsigned int bits = prandom_u32_state(rnd) & ENTRY_ALL_BITS;
	unsigned int page = 0;
	unsigned int i, max_nr;

	for (i = 0; i < PTRS_PER_PTE; i++)
		random_slot(rnd, folio, i, &page, &bits);
	fill_table();
	for (i = 0; i < PTRS_PER_PTE; i++) {
		if (!is_present(slots + i))
			continue;
		max_nr = 1 + prandom_u32_state(rnd) % (PTRS_PER_PTE - i);
		if (!check_batch(test, folio, i, max_nr, random_flags(rnd)))
			return false;
	}
	return true;
}

static void folio_pte_batch_flags_match_definition(struct kunit *test)
{
	struct folio *folio;
	struct rnd_state rnd;
	unsigned int i;

#ifdef THEIRS_folio_pte_batch_flags
	kunit_skip(test, "the tree's own spreads soft-dirty");
#endif
	folio = param_folio(test);
	prandom_seed_state(&rnd, (u64)seed << 32 | folio_nr_pages(folio));
	for (i = 0; i < NR_RANDOM_TABLES; i++)
		if (!check_random_table(test, &rnd, folio))
			break;
	folio_put(folio);
}

/* Swap entries: type, consecutive offsets and all bits must agree. */
static pte_t swap_pte(unsigned int type, unsigned long offset,
		      bool exclusive, bool soft_dirty)
{
	pte_t pte = __swp_entry_to_pte(__swp_entry(type, offset));

	if (exclusive)
		pte = pte_swp_mkexclusive(pte);
	if (soft_dirty)
		pte = pte_swp_mksoft_dirty(pte);
	return pte;
}

/* A table that holds nothing but four swap entries, one of them odd. */
static void set_swap_run(unsigned int odd, pte_t pte)
{
	unsigned int i;

	clear_slots();
	fill_table();
	for (i = 0; i < 4; i++)
		entry_set(&env, table.ptep, i,
			  i == odd ? pte : swap_pte(1, 10 + i, false, false));
}

static void expect_swap_batch(struct kunit *test, const char *what,
			      unsigned int first, unsigned int max_nr,
			      unsigned int want)
{
	pte_t pte = ptep_get(table.ptep + first);
	unsigned int nr = swap_pte_batch(table.ptep + first, max_nr, pte);

	KUNIT_EXPECT_EQ_MSG(test, nr, want, "%s, slot %u, max %u, first is %s",
			    what, first, max_nr, entry_text(text[0], pte));
}

static void swap_pte_batch_stops_at_limit(struct kunit *test)
{
	unsigned int max_nr;

	set_swap_run(4, __pte(0));
	for (max_nr = 1; max_nr <= 4; max_nr++)
		expect_swap_batch(test, "all alike", 0, max_nr, max_nr);
	expect_swap_batch(test, "empty slot behind", 0, PTRS_PER_PTE, 4);
}

static void swap_pte_batch_stops_at_other_entry(struct kunit *test)
{
	const struct {
		const char *what;
		pte_t pte;
		bool differs;
	} odd[] = {
		{ "empty", __pte(0), true },
		{ "other type", swap_pte(2, 12, false, false), true },
		{ "same offset", swap_pte(1, 11, false, false), true },
		{ "offset skipped", swap_pte(1, 13, false, false), true },
		{ "exclusive", swap_pte(1, 12, true, false), true },
		{ "soft-dirty", swap_pte(1, 12, false, true),
		  IS_ENABLED(CONFIG_MEM_SOFT_DIRTY) },
		{ "present", entry_build(&env, 12, PLAIN), true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		set_swap_run(2, odd[i].pte);
		expect_swap_batch(test, odd[i].what, 0, 4,
				  odd[i].differs ? 2 : 4);
	}
}

static void swap_pte_batch_stops_at_table_end(struct kunit *test)
{
	unsigned int first = PTRS_PER_PTE - 3;
	unsigned int i;

	clear_slots();
	fill_table();
	for (i = 0; i < 3; i++)
		entry_set(&env, table.ptep, first + i,
			  swap_pte(1, 10 + i, false, false));
	table.ptep[PTRS_PER_PTE] = swap_pte(1, 13, false, false);
	expect_swap_batch(test, "table end", first, 3, 3);
}

/*
 * A10: neighbours in swap that are charged to different groups. Who owns an
 * entry is kept outside the table, and not at all if groups are off.
 */
#if defined(HAVE_swap_cgroup_record_entry) && defined(CONFIG_MEMCG) && \
	defined(CONFIG_SWAP)
static void swap_pte_batch_stops_at_other_owner(struct kunit *test)
{
	const unsigned int type = MAX_SWAPFILES - 1;
	unsigned int i;

	if (swap_cgroup_swapon(type, 64))
		kunit_skip(test, "no memory for a table of owners");
	clear_slots();
	fill_table();
	for (i = 0; i < 4; i++)
		entry_set(&env, table.ptep, i,
			  swap_pte(type, 10 + i, false, false));
	if (mem_cgroup_disabled()) {
		expect_swap_batch(test, "no owners", 0, 4, 4);
		return;
	}
	swap_cgroup_record(swp_entry(type, 10), 1, 2);
	swap_cgroup_record(swp_entry(type, 12), 2, 2);
	expect_swap_batch(test, "first owner", 0, 4, 2);
	expect_swap_batch(test, "second owner", 2, 2, 2);
	swap_cgroup_record(swp_entry(type, 10), 0, 2);
	swap_cgroup_record(swp_entry(type, 12), 0, 2);
	swap_cgroup_swapoff(type);
}
#else
static void swap_pte_batch_stops_at_other_owner(struct kunit *test)
{
	kunit_skip(test, "this kernel does not record who owns a swap entry");
}
#endif

#ifdef HAVE_pte_run_present
static void pte_run_present_matches_definition(struct kunit *test)
{
	struct folio *folio = param_folio(test);
	unsigned int page = 0, bits = 0;
	struct rnd_state rnd;
	unsigned int i, nr, max_nr, want;

	prandom_seed_state(&rnd, (u64)seed << 32 | folio_nr_pages(folio));
	for (i = 0; i < PTRS_PER_PTE; i++)
		random_slot(&rnd, folio, i, &page, &bits);
	fill_table();
	for (i = 0; i < PTRS_PER_PTE; i++) {
		if (!is_present(slots + i))
			continue;
		max_nr = 1 + prandom_u32_state(&rnd) % (PTRS_PER_PTE - i);
		for (want = 1; want < max_nr; want++)
			if (!is_present(slots + i + want))
				break;
		nr = pte_run_present(table.ptep + i, ptep_get(table.ptep + i),
				     max_nr);
		if (nr != want) {
			KUNIT_FAIL(test, "seed %u, slot %u, max %u: run of %u, want %u",
				   seed, i, max_nr, nr, want);
			break;
		}
	}
	folio_put(folio);
}

/* A04 for runs: present entries behind the table are not part of it. */
static void pte_run_present_stops_at_table_end(struct kunit *test)
{
	unsigned int nr, i;

	clear_slots();
	map_pages(0, PTRS_PER_PTE, 1, PLAIN);
	fill_table();
	for (i = 0; i < 8; i++)
		table.ptep[PTRS_PER_PTE + i] =
			entry_build(&env, PTRS_PER_PTE + i + 1, PLAIN);
	for (i = 0; i < PTRS_PER_PTE; i++) {
		nr = pte_run_present(table.ptep + i, ptep_get(table.ptep + i),
				     PTRS_PER_PTE - i);
		if (nr != PTRS_PER_PTE - i) {
			KUNIT_FAIL(test, "slot %u: run of %u", i, nr);
			return;
		}
	}
}
#endif

#ifdef HAVE_pte_run_none
/* Empty slots by chance, and some behind the table, which are not part of it. */
static void pte_run_none_matches_definition(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int i, nr, max_nr, want;

	prandom_seed_state(&rnd, seed);
	clear_slots();
	for (i = 0; i < PTRS_PER_PTE; i++)
		if (!(prandom_u32_state(&rnd) % 8))
			map_pages(i, 1, i + 1, PLAIN);
	fill_table();
	/*
	 * On s390 an empty entry is not zero.  The table hangs in no address
	 * space, which powerpc accepts of the kernel's own alone.
	 */
	for (i = 0; i < PTRS_PER_PTE + 8; i++)
		if (i >= PTRS_PER_PTE || !is_present(slots + i))
			pte_clear(&init_mm, batch_addr(&env, i),
				  table.ptep + i);
	for (i = 0; i < PTRS_PER_PTE; i++) {
		if (is_present(slots + i))
			continue;
		max_nr = PTRS_PER_PTE - i;
		if (prandom_u32_state(&rnd) % 4)
			max_nr = 1 + prandom_u32_state(&rnd) % max_nr;
		for (want = 1; want < max_nr; want++)
			if (is_present(slots + i + want))
				break;
		nr = pte_run_none(table.ptep + i, max_nr);
		if (nr != want) {
			KUNIT_FAIL(test, "seed %u, slot %u, max %u: run of %u, want %u",
				   seed, i, max_nr, nr, want);
			break;
		}
	}
}
#endif

#ifdef HAVE_folio_run_ptes
/* No folio, and a small one: one entry, whatever follows. */
static void folio_run_ptes_is_one_without_large_folio(struct kunit *test)
{
	struct folio *folio = get_folio(test, 0);
	pte_t pte;

	clear_slots();
	map_pages(0, PTRS_PER_PTE, folio_pfn(folio), PLAIN);
	fill_table();
	pte = ptep_get(table.ptep);
	KUNIT_EXPECT_EQ(test, folio_run_ptes(NULL, table.ptep, pte, 8), 1);
	KUNIT_EXPECT_EQ(test, folio_run_ptes(folio, table.ptep, pte, 8), 1);
	folio_put(folio);
}

/*
 * All of the folio that is mapped in a row, whatever its bits are; never more
 * than the folio, the table or the limit.
 */
static void folio_run_ptes_stays_in_folio(struct kunit *test)
{
	struct folio *folio = param_folio(test);
	unsigned int size = folio_nr_pages(folio);
	unsigned int page, nr, want, max_nr;

	for (page = 0; page < size; page++) {
		clear_slots();
		map_pages(0, PTRS_PER_PTE, folio_pfn(folio) + page, PLAIN);
		fill_table();
		for (max_nr = 1; max_nr <= PTRS_PER_PTE; max_nr *= 2) {
			want = min(max_nr, size - page);
			nr = folio_run_ptes(folio, table.ptep,
					    ptep_get(table.ptep), max_nr);
			if (nr == want)
				continue;
			KUNIT_FAIL(test, "page %u, max %u: run of %u, want %u",
				   page, max_nr, nr, want);
			goto out;
		}
	}
out:
	folio_put(folio);
}
#endif

static struct kunit_case pte_batch_detect_cases[] = {
	KUNIT_CASE_PARAM(folio_pte_batch_stops_at_folio_end, order_gen_params),
	KUNIT_CASE_PARAM(folio_pte_batch_stops_before_empty_slot,
			 order_gen_params),
	KUNIT_CASE_PARAM(folio_pte_batch_stops_at_table_end, order_gen_params),
	KUNIT_CASE_PARAM(folio_pte_batch_stops_at_limit, order_gen_params),
	KUNIT_CASE_PARAM(folio_pte_batch_stops_at_other_entry,
			 order_gen_params),
	KUNIT_CASE_PARAM(folio_pte_batch_flags_stop_at_bit,
			 respected_gen_params),
	KUNIT_CASE(folio_pte_batch_flags_keep_rights_apart),
	KUNIT_CASE_PARAM(folio_pte_batch_follows_protnone, order_gen_params),
	KUNIT_CASE_PARAM(folio_pte_batch_flags_match_definition,
			 order_gen_params),
	KUNIT_CASE(swap_pte_batch_stops_at_limit),
	KUNIT_CASE(swap_pte_batch_stops_at_other_entry),
	KUNIT_CASE(swap_pte_batch_stops_at_table_end),
	KUNIT_CASE(swap_pte_batch_stops_at_other_owner),
#ifdef HAVE_pte_run_present
	KUNIT_CASE_PARAM(pte_run_present_matches_definition, order_gen_params),
	KUNIT_CASE(pte_run_present_stops_at_table_end),
#endif
#ifdef HAVE_pte_run_none
	KUNIT_CASE(pte_run_none_matches_definition),
#endif
#ifdef HAVE_folio_run_ptes
	KUNIT_CASE(folio_run_ptes_is_one_without_large_folio),
	KUNIT_CASE_PARAM(folio_run_ptes_stays_in_folio, order_gen_params),
#endif
	{}
};

static void pte_batch_detect_exit(struct kunit_suite *suite)
{
	kfree(slots);
	slots = NULL;
	batch_table_exit(&table);
	batch_env_exit(&env);
}

static int pte_batch_detect_init(struct kunit_suite *suite)
{
	kunit_info(suite, "seed=%u\n", seed);
	slots = kcalloc(PTRS_PER_PTE, sizeof(*slots), GFP_KERNEL);
	if (!slots || batch_env_init(&env) || batch_table_init(&table)) {
		pte_batch_detect_exit(suite);
		return -ENOMEM;
	}
	return 0;
}

static struct kunit_suite pte_batch_detect_suite = {
	.name = "pte_batch_detect",
	.suite_init = pte_batch_detect_init,
	.suite_exit = pte_batch_detect_exit,
	.test_cases = pte_batch_detect_cases,
};

kunit_test_suite(pte_batch_detect_suite);
