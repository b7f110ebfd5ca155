// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite: each batched page-table helper against the loop that handles
 * one entry at a time.
 *
 * Two tables hold the same entries. The helper runs on one, the loop over the
 * kernel's single-entry function on the other; then every slot of both tables,
 * the memory around them and what both returned must be equal.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/pgtable.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include <asm/tlb.h>

#include "../../internal.h"
#ifdef HAVE_folio_pte_batch_header
#include <linux/folio_pte_batch.h>
#endif

#include "pte_batch_entry.h"

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Where the random mixes of bits start");

/* Random runs for each place and variant, besides every run of equal bits. */
#define NR_MIXES	32

/* What the slots of a run hold before the helper is called. */
enum run_kind {
	RUN_MIXED,		/* present, any bits in any entry */
	RUN_YOUNG_DIRTY,	/* present, equal but for young and dirty */
	RUN_EMPTY,		/* nothing yet, equal bits are about to be set */
	RUN_OTHER,		/* another page with all the other bits */
	RUN_SWAP,		/* swap entries */
	RUN_WIDENED,		/* as RUN_MIXED; whole blocks may be changed */
};

/**
 * struct run - one call of a helper, or of the loop it is compared with
 * @vma: VMA, whose mm the entries belong to
 * @addr: address of the first entry
 * @ptep: first entry
 * @nr: number of entries
 * @variant: which of the helper's flag values, from zero
 * @pfn: page frame of the first entry
 * @bits: ENTRY_* flags of each entry
 * @pte: returned: an entry
 * @ret: returned: anything else
 * @start: returned: first address that must be flushed
 * @end: returned: end of what must be flushed
 */
struct run {
	struct vm_area_struct *vma;
	unsigned long addr;
	pte_t *ptep;
	unsigned int nr;
	unsigned int variant;
	unsigned long pfn;
	const u8 *bits;
	pte_t pte;
	unsigned long ret;
	unsigned long start;
	unsigned long end;
};

/**
 * struct helper - a batched helper and the loop it stands for
 * @name: name of the helper
 * @kind: what it may be called on
 * @variants: number of flag values to try
 * @batch: calls the helper
 * @single: does the same one entry at a time
 */
struct helper {
	const char *name;
	enum run_kind kind;
	unsigned int variants;
	void (*batch)(struct run *run);
	void (*single)(struct run *run);
};

/* Where a run sits; negative numbers count from the end of the table. */
struct place {
	int nr;
	int slot;
};

static const struct place places[] = {
	{ 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 0 }, { 15, 0 },
	{ 16, 0 }, { 17, 0 }, { 31, 0 }, { 32, 0 }, { -2, 0 }, { -1, 0 },
	{ 1, 1 }, { 2, 1 }, { 3, 1 }, { 4, 1 }, { 15, 1 },
	{ 16, 1 }, { 17, 1 }, { 31, 1 }, { 32, 1 }, { -2, 1 }, { -1, 1 },
	{ 1, 15 }, { 2, 15 }, { 3, 15 }, { 4, 15 }, { 15, 15 },
	{ 16, 15 }, { 17, 15 }, { 31, 15 }, { 32, 15 }, { -2, 15 }, { -1, 15 },
	{ 1, 16 }, { 2, 16 }, { 3, 16 }, { 4, 16 }, { 15, 16 },
	{ 16, 16 }, { 17, 16 }, { 31, 16 }, { 32, 16 }, { -2, 16 }, { -1, 16 },
	{ -1, -1 },
};

static unsigned int place_slot(const struct place *place)
{
	return place->slot < 0 ? PTRS_PER_PTE + place->slot : place->slot;
}

static unsigned int place_nr(const struct place *place)
{
	if (place->nr > 0)
		return place->nr;
	return PTRS_PER_PTE - place_slot(place) + place->nr + 1;
}

static void place_desc(const struct place *place, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "nr=%u at slot %u",
		 place_nr(place), place_slot(place));
}

KUNIT_ARRAY_PARAM(place, places, place_desc);

/* The suite's own mm, pages and tables; made once, used by every case. */
static struct batch_env env;
static struct batch_table clean, batched, singled;
static u8 *bits;
static char text[2][ENTRY_TEXT];

static void fill_run(const struct helper *helper, pte_t *table,
		     const struct run *run, unsigned int slot)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++) {
		entry_set(&env, table, slot + i, __pte(0));
		if (helper->kind == RUN_EMPTY)
			continue;
		if (helper->kind == RUN_OTHER)
			entry_set(&env, table, slot + i,
				  entry_build(&env, run->pfn + run->nr - i,
					      entry_fix_bits(~run->bits[i] &
							     ENTRY_ALL_BITS)));
		else if (helper->kind == RUN_SWAP)
			entry_set(&env, table, slot + i,
				  __swp_entry_to_pte(__swp_entry(1, 8 + i)));
		else
			entry_set(&env, table, slot + i,
				  entry_build(&env, run->pfn + i,
					      run->bits[i]));
	}
}

/*
 * Helpers that take accessed or dirty away may widen the range to the blocks
 * at its ends. One entry at a time that means as many entries more.
 */
static void widen_run(const struct helper *helper, struct run *run)
{
	unsigned int head, tail, size;
	pte_t *last = run->ptep + run->nr - 1;

	if (helper->kind != RUN_WIDENED || !run->nr)
		return;
	size = entry_block(run->ptep);
	head = ((unsigned long)run->ptep / sizeof(pte_t)) % size;
	size = entry_block(last);
	tail = size - 1 - ((unsigned long)last / sizeof(pte_t)) % size;
	run->ptep -= head;
	run->addr -= head * PAGE_SIZE;
	run->nr += head + tail;
}

static void call_on(const struct helper *helper, struct batch_table *table,
		    void (*call)(struct run *run), struct run *run,
		    unsigned int slot)
{
	memcpy((void *)table->pages, (void *)clean.pages, 3 * PAGE_SIZE);
	run->vma = env.vma;
	run->addr = batch_addr(&env, slot);
	run->ptep = table->ptep + slot;
	run->pte = __pte(0);
	run->ret = 0;
	run->start = ULONG_MAX;
	run->end = 0;
	fill_run(helper, table->ptep, run, slot);
	if (call == helper->single)
		widen_run(helper, run);
	spin_lock(env.ptl);
	call(run);
	spin_unlock(env.ptl);
}

/* Say which slot of which run went wrong, with what is and what should be. */
static void fail_slot(struct kunit *test, const struct helper *helper,
		      const struct run *run, unsigned int first,
		      unsigned int slot)
{
	bool inside = slot >= first && slot < first + run->nr;

	KUNIT_FAIL(test,
		   "%s, variant %u, seed %u, nr=%u at slot %u, bits %#x %#x ...: slot %u (%s the run) is %s, one at a time gives %s",
		   helper->name, run->variant, seed, run->nr, first,
		   run->bits[0], run->bits[run->nr > 1], slot,
		   inside ? "in" : "outside",
		   entry_text(text[0], ptep_get(batched.ptep + slot)),
		   entry_text(text[1], ptep_get(singled.ptep + slot)));
}

static void fail_return(struct kunit *test, const struct helper *helper,
			const struct run *is, const struct run *want,
			unsigned int first)
{
	KUNIT_FAIL(test,
		   "%s, variant %u, seed %u, nr=%u at slot %u, bits %#x %#x ...: returns %s, %lu, flush %#lx-%#lx; one at a time gives %s, %lu, flush %#lx-%#lx",
		   helper->name, is->variant, seed, is->nr, first,
		   is->bits[0], is->bits[is->nr > 1],
		   entry_text(text[0], is->pte), is->ret, is->start, is->end,
		   entry_text(text[1], want->pte), want->ret, want->start,
		   want->end);
}

static bool returns_equal(const struct run *a, const struct run *b)
{
	return entry_exact(a->pte) == entry_exact(b->pte) &&
	       a->ret == b->ret && a->start == b->start && a->end == b->end;
}

/* Returns false after the first difference: one message for each case. */
static bool check_run(struct kunit *test, const struct helper *helper,
		      unsigned int nr, unsigned int slot, unsigned int variant)
{
	struct run batch = {
		.nr = nr, .variant = variant, .bits = bits,
		.pfn = batch_pfn(&env, slot),
	};
	struct run single = batch;
	unsigned int i;

	call_on(helper, &batched, helper->batch, &batch, slot);
	call_on(helper, &singled, helper->single, &single, slot);

	i = entry_table_differs(batched.ptep, singled.ptep);
	if (i != PTRS_PER_PTE) {
		fail_slot(test, helper, &batch, slot, i);
		return false;
	}
	if (!entry_blocks_hold(batched.ptep)) {
		KUNIT_FAIL(test, "%s: nr=%u at slot %u leaves entries of one block different",
			   helper->name, nr, slot);
		return false;
	}
	if (!batch_table_guards_hold(&batched)) {
		KUNIT_FAIL(test, "%s: nr=%u at slot %u writes outside the table",
			   helper->name, nr, slot);
		return false;
	}
	if (!returns_equal(&batch, &single)) {
		fail_return(test, helper, &batch, &single, slot);
		return false;
	}
	return true;
}

/*
 * Dense mixes put every combination next to every other, sparse ones leave one
 * entry among many that decides alone what is returned.
 */
static void mix_bits(struct rnd_state *rnd, enum run_kind kind, unsigned int nr,
		     bool sparse)
{
	unsigned int may_differ = ENTRY_ALL_BITS;
	unsigned int base, flip, i;

	if (kind == RUN_YOUNG_DIRTY)
		may_differ = ENTRY_YOUNG | ENTRY_DIRTY;
	if (kind == RUN_EMPTY)
		may_differ = 0;
	base = prandom_u32_state(rnd) & ENTRY_ALL_BITS;
	if (sparse)
		base &= ~(ENTRY_YOUNG | ENTRY_DIRTY);
	for (i = 0; i < nr; i++) {
		flip = prandom_u32_state(rnd) & may_differ;
		if (sparse && prandom_u32_state(rnd) % nr)
			flip = 0;
		bits[i] = entry_fix_bits(base ^ flip);
	}
}

static bool check_variant(struct kunit *test, const struct helper *helper,
			  unsigned int nr, unsigned int slot,
			  unsigned int variant)
{
	struct rnd_state rnd;
	unsigned int i;

	if (helper->kind == RUN_SWAP)
		return check_run(test, helper, nr, slot, variant);

	for (i = 0; i <= ENTRY_ALL_BITS; i++) {
		if (!entry_bits_possible(i))
			continue;
		memset(bits, i, nr);
		if (!check_run(test, helper, nr, slot, variant))
			return false;
	}
	prandom_seed_state(&rnd, (u64)seed << 32 | slot << 16 | nr);
	for (i = 0; i < NR_MIXES; i++) {
		mix_bits(&rnd, helper->kind, nr, i & 1);
		if (!check_run(test, helper, nr, slot, variant))
			return false;
	}
	return true;
}

static void check_helper(struct kunit *test, const struct helper *helper)
{
	const struct place *place = test->param_value;
	unsigned int i;

	for (i = 0; i < helper->variants; i++)
		if (!check_variant(test, helper, place_nr(place),
				   place_slot(place), i))
			return;
}

static unsigned long nth_addr(const struct run *run, unsigned int i)
{
	return run->addr + i * PAGE_SIZE;
}

/* What a batch returns: the first entry, dirty or young if any entry was. */
static void gather(struct run *run, unsigned int i, pte_t pte)
{
	if (!i) {
		run->pte = pte;
		return;
	}
	if (pte_dirty(pte))
		run->pte = pte_mkdirty(run->pte);
	if (pte_young(pte))
		run->pte = pte_mkyoung(run->pte);
}

/*
 * Accessed and dirty and nothing else: pte_mkdirty() sets soft-dirty as well.
 * The tree's own helpers do that, ours do not.
 */
static void gather_exactly(struct run *run, unsigned int i, pte_t pte)
{
	bool soft_dirty = i && pte_soft_dirty(run->pte);

	gather(run, i, pte);
	if (__is_defined(HAVE_folio_pte_batch_header) && i && !soft_dirty)
		run->pte = pte_clear_soft_dirty(run->pte);
}

/*
 * pte_advance_pfn(): what the run should hold is built from the page frame, so
 * that an arch which stores frames in another form is seen to step right.
 * A08: on x86 the frame of an inaccessible entry is stored inverted.
 */
static void pte_advance_pfn_batch(struct run *run)
{
	pte_t pte = entry_build(&env, run->pfn, run->bits[0]);
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		set_pte_at(env.mm, nth_addr(run, i), run->ptep + i,
			   pte_advance_pfn(pte, i));
}

static void pte_next_pfn_batch(struct run *run)
{
	pte_t pte = entry_build(&env, run->pfn, run->bits[0]);
	unsigned int i;

	for (i = 0; i < run->nr; i++) {
		set_pte_at(env.mm, nth_addr(run, i), run->ptep + i, pte);
		pte = pte_next_pfn(pte);
	}
}

static void build_single(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		set_pte_at(env.mm, nth_addr(run, i), run->ptep + i,
			   entry_build(&env, run->pfn + i, run->bits[0]));
}

static const struct helper pte_advance_pfn_helper = {
	"pte_advance_pfn", RUN_EMPTY, 1, pte_advance_pfn_batch, build_single,
};

static const struct helper pte_next_pfn_helper = {
	"pte_next_pfn", RUN_EMPTY, 1, pte_next_pfn_batch, build_single,
};

static void set_ptes_batch(struct run *run)
{
	set_ptes(env.mm, run->addr, run->ptep,
		 entry_build(&env, run->pfn, run->bits[0]), run->nr);
}

static const struct helper set_ptes_helper = {
	"set_ptes", RUN_EMPTY, 1, set_ptes_batch, build_single,
};

/* With one entry, something else may be there before. */
static const struct helper set_ptes_over_helper = {
	"set_ptes", RUN_OTHER, 1, set_ptes_batch, build_single,
};

static void wrprotect_ptes_batch(struct run *run)
{
	wrprotect_ptes(env.mm, run->addr, run->ptep, run->nr);
}

static void wrprotect_ptes_single(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		ptep_set_wrprotect(env.mm, nth_addr(run, i), run->ptep + i);
}

static const struct helper wrprotect_ptes_helper = {
	"wrprotect_ptes", RUN_MIXED, 1, wrprotect_ptes_batch,
	wrprotect_ptes_single,
};

static cydp_t cydp_flags(const struct run *run)
{
	static const cydp_t flags[] = {
		CYDP_CLEAR_YOUNG, CYDP_CLEAR_DIRTY,
		CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY,
	};

	return flags[run->variant];
}

static void clear_young_dirty_ptes_batch(struct run *run)
{
	clear_young_dirty_ptes(run->vma, run->addr, run->ptep, run->nr,
			       cydp_flags(run));
}

static void clear_young_dirty_ptes_single(struct run *run)
{
	cydp_t flags = cydp_flags(run);
	unsigned int i;
	pte_t pte;

	for (i = 0; i < run->nr; i++) {
		if (flags == CYDP_CLEAR_YOUNG) {
			ptep_test_and_clear_young(run->vma, nth_addr(run, i),
						  run->ptep + i);
			continue;
		}
		pte = ptep_get_and_clear(env.mm, nth_addr(run, i),
					 run->ptep + i);
		pte = pte_mkclean(pte);
		if (flags & CYDP_CLEAR_YOUNG)
			pte = pte_mkold(pte);
		set_pte_at(env.mm, nth_addr(run, i), run->ptep + i, pte);
	}
}

static const struct helper clear_young_dirty_ptes_helper = {
	"clear_young_dirty_ptes", RUN_WIDENED, 3, clear_young_dirty_ptes_batch,
	clear_young_dirty_ptes_single,
};

/* The variant is the last argument: is the whole mm about to go away? */
static void get_and_clear_full_ptes_batch(struct run *run)
{
	run->pte = get_and_clear_full_ptes(env.mm, run->addr, run->ptep,
					   run->nr, run->variant);
}

static void get_and_clear_full_ptes_single(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		gather(run, i, ptep_get_and_clear_full(env.mm, nth_addr(run, i),
						       run->ptep + i,
						       run->variant));
}

static const struct helper get_and_clear_full_ptes_helper = {
	"get_and_clear_full_ptes", RUN_MIXED, 2, get_and_clear_full_ptes_batch,
	get_and_clear_full_ptes_single,
};

static void clear_full_ptes_batch(struct run *run)
{
	clear_full_ptes(env.mm, run->addr, run->ptep, run->nr, run->variant);
}

static void clear_full_ptes_single(struct run *run)
{
	get_and_clear_full_ptes_single(run);
	run->pte = __pte(0);
}

static const struct helper clear_full_ptes_helper = {
	"clear_full_ptes", RUN_MIXED, 2, clear_full_ptes_batch,
	clear_full_ptes_single,
};

static void clear_nonpresent_single(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++)
#ifdef HAVE_pte_clear_not_present_full
		pte_clear_not_present_full(env.mm, nth_addr(run, i),
					   run->ptep + i, run->variant);
#else
		pte_clear(env.mm, nth_addr(run, i), run->ptep + i);
#endif
}

#ifdef HAVE_clear_not_present_full_ptes
static void clear_not_present_full_ptes_batch(struct run *run)
{
	clear_not_present_full_ptes(env.mm, run->addr, run->ptep, run->nr,
				    run->variant);
}

static const struct helper clear_not_present_full_ptes_helper = {
	"clear_not_present_full_ptes", RUN_SWAP, 2,
	clear_not_present_full_ptes_batch, clear_nonpresent_single,
};
#endif

#ifdef HAVE_clear_nonpresent_ptes
static void clear_nonpresent_ptes_batch(struct run *run)
{
	clear_nonpresent_ptes(env.mm, run->addr, run->ptep, run->nr);
}

static const struct helper clear_nonpresent_ptes_helper = {
	"clear_nonpresent_ptes", RUN_SWAP, 1, clear_nonpresent_ptes_batch,
	clear_nonpresent_single,
};
#endif

#ifdef HAVE_get_and_clear_ptes
static void get_and_clear_ptes_batch(struct run *run)
{
	run->pte = get_and_clear_ptes(env.mm, run->addr, run->ptep, run->nr);
}

static const struct helper get_and_clear_ptes_helper = {
	"get_and_clear_ptes", RUN_MIXED, 1, get_and_clear_ptes_batch,
	get_and_clear_full_ptes_single,
};
#endif

#ifdef HAVE_clear_ptes
static void clear_ptes_batch(struct run *run)
{
	clear_ptes(env.mm, run->addr, run->ptep, run->nr);
}

static const struct helper clear_ptes_helper = {
	"clear_ptes", RUN_MIXED, 1, clear_ptes_batch, clear_full_ptes_single,
};
#endif

/* B03: the answer is "was any young", and all are old afterwards. */
#ifdef HAVE_test_and_clear_young_ptes
static void test_and_clear_young_ptes_batch(struct run *run)
{
	run->ret = test_and_clear_young_ptes(run->vma, run->addr, run->ptep,
					     run->nr);
}

static void test_and_clear_young_ptes_single(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		run->ret |= !!ptep_test_and_clear_young(run->vma,
							nth_addr(run, i),
							run->ptep + i);
}

static const struct helper test_and_clear_young_ptes_helper = {
	"test_and_clear_young_ptes", RUN_WIDENED, 1,
	test_and_clear_young_ptes_batch, test_and_clear_young_ptes_single,
};
#endif

#ifdef HAVE_clear_flush_young_ptes
static void clear_flush_young_ptes_batch(struct run *run)
{
	run->ret = clear_flush_young_ptes(run->vma, run->addr, run->ptep,
					  run->nr);
}

static void clear_flush_young_ptes_single(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		run->ret |= !!ptep_clear_flush_young(run->vma, nth_addr(run, i),
						     run->ptep + i);
}

static const struct helper clear_flush_young_ptes_helper = {
	"clear_flush_young_ptes", RUN_WIDENED, 1, clear_flush_young_ptes_batch,
	clear_flush_young_ptes_single,
};
#endif

#ifdef HAVE_modify_prot_start_ptes
static void modify_prot_start_ptes_batch(struct run *run)
{
	run->pte = modify_prot_start_ptes(run->vma, run->addr, run->ptep,
					  run->nr);
}

static void modify_prot_start_ptes_single(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		gather_exactly(run, i,
			       ptep_modify_prot_start(run->vma,
						      nth_addr(run, i),
						      run->ptep + i));
}

static const struct helper __maybe_unused modify_prot_start_ptes_helper = {
	"modify_prot_start_ptes", RUN_YOUNG_DIRTY, 1,
	modify_prot_start_ptes_batch, modify_prot_start_ptes_single,
};
#endif

/* One value, and so its young and dirty bits, goes to every entry. */
#ifdef HAVE_modify_prot_commit_ptes
static pgprot_t variant_prot(const struct run *run)
{
	static const unsigned long access[] = {
		VM_READ, VM_READ | VM_WRITE, VM_NONE,
		VM_READ | VM_WRITE | VM_SHARED,
	};

	return vm_get_page_prot(access[run->variant % ARRAY_SIZE(access)]);
}

static void modify_prot_commit_ptes_batch(struct run *run)
{
	pte_t old = modify_prot_start_ptes(run->vma, run->addr, run->ptep,
					   run->nr);

	modify_prot_commit_ptes(run->vma, run->addr, run->ptep, old,
				pte_modify(old, variant_prot(run)), run->nr);
}

static void modify_prot_commit_ptes_single(struct run *run)
{
	pte_t old, new;
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		gather_exactly(run, i,
			       ptep_modify_prot_start(run->vma,
						      nth_addr(run, i),
						      run->ptep + i));
	for (i = 0; i < run->nr; i++) {
		old = pte_advance_pfn(run->pte, i);
		new = pte_modify(old, variant_prot(run));
		ptep_modify_prot_commit(run->vma, nth_addr(run, i),
					run->ptep + i, old, new);
	}
	run->pte = __pte(0);
}

static const struct helper __maybe_unused modify_prot_commit_ptes_helper = {
	"modify_prot_commit_ptes", RUN_YOUNG_DIRTY, 4,
	modify_prot_commit_ptes_batch, modify_prot_commit_ptes_single,
};
#endif

/*
 * modify_prot_ptes(): each entry keeps its own bits, and what must be flushed
 * is known for each. The loop below says what "each for itself" means.
 */
#ifdef HAVE_modify_prot_ptes
static const struct {
	unsigned long access;
	modprot_t flags;
} modprot_variants[] = {
	{ VM_READ, MODPROT_NONE },
	{ VM_NONE, MODPROT_NONE },
	{ VM_READ | VM_WRITE | VM_SHARED, MODPROT_NONE },
	{ VM_READ, MODPROT_UFFD_WP },
	{ VM_READ, MODPROT_UFFD_WP_RESOLVE },
	{ VM_READ, MODPROT_UFFD_WP | MODPROT_UFFD_WP_RESOLVE },
	{ VM_READ, MODPROT_MKYOUNG },
	{ VM_READ | VM_WRITE, MODPROT_MKWRITE },
	{ VM_READ | VM_WRITE, MODPROT_MKWRITE | MODPROT_SOFT_DIRTY_WP },
	{ VM_READ | VM_WRITE, MODPROT_MKWRITE | MODPROT_KEEP_UFFD_WP },
	{ VM_READ | VM_WRITE, MODPROT_MKWRITE | MODPROT_SOFT_DIRTY_WP |
			      MODPROT_KEEP_UFFD_WP | MODPROT_MKYOUNG },
	{ VM_READ | VM_WRITE, MODPROT_MKWRITE_DIRTY },
	{ VM_READ | VM_WRITE, MODPROT_MKWRITE_DIRTY | MODPROT_SOFT_DIRTY_WP |
			      MODPROT_KEEP_UFFD_WP },
	{ VM_READ | VM_WRITE, MODPROT_MKWRITE | MODPROT_UFFD_WP_RESOLVE |
			      MODPROT_KEEP_UFFD_WP },
	{ VM_READ | VM_WRITE, MODPROT_MKWRITE | MODPROT_UFFD_WP |
			      MODPROT_KEEP_UFFD_WP },
	{ VM_NONE, MODPROT_MKWRITE },
#ifdef CONFIG_USERFAULTFD_RWP
	{ VM_READ, MODPROT_UFFD_RWP },
	{ VM_READ | VM_WRITE, MODPROT_UFFD_RWP | MODPROT_MKWRITE },
	{ VM_READ | VM_WRITE, MODPROT_UFFD_RWP | MODPROT_UFFD_WP |
			      MODPROT_MKYOUNG | MODPROT_MKWRITE },
	{ VM_READ | VM_WRITE, MODPROT_UFFD_RWP | MODPROT_UFFD_WP_RESOLVE |
			      MODPROT_MKWRITE },
#endif
};

static void note_flush(struct run *run, unsigned int i, unsigned int nr,
		       pte_t old, pte_t new)
{
	if (!pte_needs_flush(old, new))
		return;
	run->start = min(run->start, nth_addr(run, i));
	run->end = max(run->end, nth_addr(run, i + nr));
}

static void modify_prot_ptes_batch(struct run *run)
{
	pgprot_t prot = vm_get_page_prot(modprot_variants[run->variant].access);
	pte_t old = __pte(0), new = __pte(0);
	unsigned int i, nr;

	for (i = 0; i < run->nr; i += nr) {
		nr = modify_prot_ptes(run->vma, nth_addr(run, i), run->ptep + i,
				      run->nr - i, prot,
				      modprot_variants[run->variant].flags,
				      &old, &new);
		/* Anything else would end in the wrong place, or never. */
		if (!nr || nr > run->nr - i) {
			run->ret = nr ?: ULONG_MAX;
			return;
		}
		note_flush(run, i, nr, old, new);
	}
}

static bool may_be_writable(pte_t pte, modprot_t flags)
{
	if (!(flags & (MODPROT_MKWRITE | MODPROT_MKWRITE_DIRTY)) ||
	    pte_write(pte) || pte_protnone(pte))
		return false;
	if ((flags & MODPROT_SOFT_DIRTY_WP) && !pte_soft_dirty(pte))
		return false;
	if ((flags & MODPROT_KEEP_UFFD_WP) && pte_uffd_wp(pte))
		return false;
	return flags & MODPROT_MKWRITE ? true : pte_dirty(pte);
}

static pte_t modified_entry(const struct run *run, pte_t pte)
{
	modprot_t flags = modprot_variants[run->variant].flags;

	pte = pte_modify(pte, vm_get_page_prot(modprot_variants[run->variant].access));
	if (flags & MODPROT_UFFD_WP)
		pte = pte_mkuffd_wp(pte);
	else if (flags & MODPROT_UFFD_WP_RESOLVE)
		pte = pte_clear_uffd_wp(pte);
	/* What the bit stops is readable for nobody, and never writable. */
	if ((flags & MODPROT_UFFD_RWP) && pte_uffd_wp(pte))
		pte = pte_modify(pte, PAGE_NONE);
	if (flags & MODPROT_MKYOUNG)
		pte = pte_mkyoung(pte);
	if (may_be_writable(pte, flags))
		pte = pte_mkwrite(pte, run->vma);
	return pte;
}

static void modify_prot_ptes_single(struct run *run)
{
	unsigned int i;
	pte_t old, new;

	for (i = 0; i < run->nr; i++) {
		old = ptep_modify_prot_start(run->vma, nth_addr(run, i),
					     run->ptep + i);
		new = modified_entry(run, old);
		ptep_modify_prot_commit(run->vma, nth_addr(run, i),
					run->ptep + i, old, new);
		note_flush(run, i, 1, old, new);
	}
}

static const struct helper modify_prot_ptes_helper = {
	"modify_prot_ptes", RUN_MIXED, ARRAY_SIZE(modprot_variants),
	modify_prot_ptes_batch, modify_prot_ptes_single,
};
#endif

/* B05: adding the right to write must not make a clean entry dirty. */
#ifdef HAVE_set_access_flags_ptes
static const saf_t saf_variants[] = {
	SAF_YOUNG, SAF_YOUNG | SAF_DIRTY, SAF_WRITE, SAF_YOUNG | SAF_WRITE,
	SAF_DIRTY | SAF_WRITE, SAF_YOUNG | SAF_DIRTY | SAF_WRITE,
};

static void set_access_flags_ptes_batch(struct run *run)
{
	run->ret = set_access_flags_ptes(run->vma, run->addr, run->ptep,
					 run->nr, saf_variants[run->variant]);
}

static void set_access_flags_ptes_single(struct run *run)
{
	saf_t flags = saf_variants[run->variant];
	unsigned int i;
	pte_t pte;

	for (i = 0; i < run->nr; i++) {
		pte = ptep_get(run->ptep + i);
		if (flags & SAF_YOUNG)
			pte = pte_mkyoung(pte);
		if (flags & SAF_DIRTY)
			pte = pte_mkdirty(pte);
		if (flags & SAF_WRITE)
			pte = pte_mkwrite(pte, run->vma);
		run->ret |= !!ptep_set_access_flags(run->vma, nth_addr(run, i),
						    run->ptep + i, pte, 1);
	}
}

static const struct helper set_access_flags_ptes_helper = {
	"set_access_flags_ptes", RUN_MIXED, ARRAY_SIZE(saf_variants),
	set_access_flags_ptes_batch, set_access_flags_ptes_single,
};
#endif

static __maybe_unused void change_nothing(struct run *run)
{
}

/* A flush on this CPU must be callable for any mm, and change no entry. */
#ifdef HAVE_flush_tlb_local_ptes
static void flush_tlb_local_ptes_batch(struct run *run)
{
	flush_tlb_local_ptes(run->vma, run->addr, run->nr);
}

static const struct helper flush_tlb_local_ptes_helper = {
	"flush_tlb_local_ptes", RUN_MIXED, 1, flush_tlb_local_ptes_batch,
	change_nothing,
};
#endif

#define HELPER_TEST(helper)						\
static void helper##_equals_single(struct kunit *test)			\
{									\
	check_helper(test, &helper##_helper);				\
}

/* What a batched tree brings itself is not ours to mend: make findings. */
#define HELPER_TEST_NOT_OURS(helper)					\
static void helper##_equals_single(struct kunit *test)			\
{									\
	kunit_skip(test, "the tree's own spreads dirty and soft-dirty");	\
}

#define HELPER_CASE(helper)						\
	KUNIT_CASE_PARAM(helper##_equals_single, place_gen_params)

HELPER_TEST(pte_advance_pfn)
HELPER_TEST(pte_next_pfn)
HELPER_TEST(set_ptes)
HELPER_TEST(wrprotect_ptes)
HELPER_TEST(clear_young_dirty_ptes)
HELPER_TEST(get_and_clear_full_ptes)
HELPER_TEST(clear_full_ptes)
#ifdef HAVE_clear_not_present_full_ptes
HELPER_TEST(clear_not_present_full_ptes)
#endif
#ifdef HAVE_clear_nonpresent_ptes
HELPER_TEST(clear_nonpresent_ptes)
#endif
#ifdef HAVE_get_and_clear_ptes
HELPER_TEST(get_and_clear_ptes)
#endif
#ifdef HAVE_clear_ptes
HELPER_TEST(clear_ptes)
#endif
#ifdef HAVE_test_and_clear_young_ptes
HELPER_TEST(test_and_clear_young_ptes)
#endif
#ifdef HAVE_clear_flush_young_ptes
HELPER_TEST(clear_flush_young_ptes)
#endif
#ifdef THEIRS_modify_prot_start_ptes
HELPER_TEST_NOT_OURS(modify_prot_start_ptes)
#elif defined(HAVE_modify_prot_start_ptes)
HELPER_TEST(modify_prot_start_ptes)
#endif
#ifdef THEIRS_modify_prot_commit_ptes
HELPER_TEST_NOT_OURS(modify_prot_commit_ptes)
#elif defined(HAVE_modify_prot_commit_ptes)
HELPER_TEST(modify_prot_commit_ptes)
#endif
#ifdef HAVE_modify_prot_ptes
HELPER_TEST(modify_prot_ptes)
#endif
#ifdef HAVE_set_access_flags_ptes
HELPER_TEST(set_access_flags_ptes)
#endif
#ifdef HAVE_flush_tlb_local_ptes
HELPER_TEST(flush_tlb_local_ptes)
#endif

/* Each slot of the table, present or not, before it is overwritten alone. */
static void set_ptes_over_present_entry(struct kunit *test)
{
	unsigned int slot;

	if (IS_ENABLED(CONFIG_PPC))
		kunit_skip(test, "powerpc warns: an entry is made invalid first");
	for (slot = 0; slot < PTRS_PER_PTE; slot++)
		if (!check_variant(test, &set_ptes_over_helper, 1, slot, 0))
			return;
}

#ifdef HAVE_modify_prot_ptes
/*
 * What follows the entries handled: the hole in the run, and all behind it. A
 * block may have been taken apart.
 */
static void expect_rest_untouched(struct kunit *test, unsigned int first)
{
	unsigned int i;

	for (i = first; i < PTRS_PER_PTE; i++) {
		if (entry_slot_equal(batched.ptep + i, singled.ptep + i))
			continue;
		KUNIT_FAIL(test, "slot %u, behind the entries handled, is %s, was %s",
			   i, entry_text(text[0], ptep_get(batched.ptep + i)),
			   entry_text(text[1], ptep_get(singled.ptep + i)));
		return;
	}
}

static void check_hole(struct kunit *test, unsigned int nr, unsigned int slot,
		       pte_t hole)
{
	struct run run = {
		.nr = nr, .bits = bits, .pfn = batch_pfn(&env, slot),
	};
	pte_t old = __pte(0), new = __pte(0);
	unsigned int at = slot + nr / 2;
	unsigned int done;

	call_on(&modify_prot_ptes_helper, &singled, change_nothing, &run, slot);
	call_on(&modify_prot_ptes_helper, &batched, change_nothing, &run, slot);
	entry_set(&env, batched.ptep, at, hole);
	entry_set(&env, singled.ptep, at, hole);
	spin_lock(env.ptl);
	done = modify_prot_ptes(env.vma, run.addr, run.ptep, nr,
				vm_get_page_prot(VM_READ), MODPROT_NONE, &old,
				&new);
	spin_unlock(env.ptl);
	KUNIT_EXPECT_GE_MSG(test, done, 1, "nr=%u at slot %u", nr, slot);
	KUNIT_EXPECT_LE_MSG(test, done, nr / 2, "nr=%u at slot %u", nr, slot);
	expect_rest_untouched(test, slot + done);
}

/* The caller's run was shorter than it thought: nothing is made present. */
static void modify_prot_ptes_stops_at_hole(struct kunit *test)
{
	const struct place *place = test->param_value;
	unsigned int nr = place_nr(place);

	if (nr < 2)
		kunit_skip(test, "no room for a hole behind the first entry");
	memset(bits, ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY, nr);
	check_hole(test, nr, place_slot(place), __pte(0));
	check_hole(test, nr, place_slot(place),
		   __swp_entry_to_pte(__swp_entry(1, 8)));
}
#endif

/* Our own loops must not run away if a caller counts down to nothing. */
#ifdef HAVE_folio_pte_batch_header
static void batch_of_none_changes_nothing(struct kunit *test)
{
	static const struct helper *const helpers[] = {
#ifndef THEIRS_clear_nonpresent_ptes
		&clear_nonpresent_ptes_helper,
#endif
#ifndef THEIRS_test_and_clear_young_ptes
		&test_and_clear_young_ptes_helper,
#endif
#ifndef THEIRS_clear_flush_young_ptes
		&clear_flush_young_ptes_helper,
#endif
		&set_access_flags_ptes_helper, &flush_tlb_local_ptes_helper,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(helpers); i++)
		check_run(test, helpers[i], 0, 5, 0);
}
#endif

/* A hint covers at least its own entry, and never entries that differ. */
static void pte_batch_hint_covers_equal_entries(struct kunit *test)
{
	const struct place *place = test->param_value;
	unsigned int slot = place_slot(place);
	struct run run = {
		.addr = batch_addr(&env, slot),
		.ptep = batched.ptep + slot,
		.nr = place_nr(place),
		.pfn = batch_pfn(&env, slot),
		.bits = bits,
	};
	unsigned int i, hint;
	pte_t pte;

	memset(bits, ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY, run.nr);
	memcpy((void *)batched.pages, (void *)clean.pages, 3 * PAGE_SIZE);
	fill_run(&set_ptes_helper, batched.ptep, &run, slot);
	set_ptes_batch(&run);
	pte = ptep_get(run.ptep);
	hint = pte_batch_hint(run.ptep, pte);
	KUNIT_EXPECT_GE_MSG(test, hint, 1, "hint %u at slot %u", hint, slot);
	for (i = 1; i < min(hint, run.nr); i++) {
		if (pte_same(pte_mkold(ptep_get(run.ptep + i)),
			     pte_mkold(pte_advance_pfn(pte, i))))
			continue;
		KUNIT_FAIL(test, "hint %u at slot %u covers slot %u, which is %s",
			   hint, slot, slot + i,
			   entry_text(text[0], ptep_get(run.ptep + i)));
		return;
	}
}

static struct kunit_case pte_batch_helper_cases[] = {
	HELPER_CASE(pte_advance_pfn),
	HELPER_CASE(pte_next_pfn),
	KUNIT_CASE_PARAM(pte_batch_hint_covers_equal_entries, place_gen_params),
	HELPER_CASE(set_ptes),
	KUNIT_CASE(set_ptes_over_present_entry),
	HELPER_CASE(wrprotect_ptes),
	HELPER_CASE(clear_young_dirty_ptes),
	HELPER_CASE(get_and_clear_full_ptes),
	HELPER_CASE(clear_full_ptes),
#ifdef HAVE_clear_not_present_full_ptes
	HELPER_CASE(clear_not_present_full_ptes),
#endif
#ifdef HAVE_clear_nonpresent_ptes
	HELPER_CASE(clear_nonpresent_ptes),
#endif
#ifdef HAVE_get_and_clear_ptes
	HELPER_CASE(get_and_clear_ptes),
#endif
#ifdef HAVE_clear_ptes
	HELPER_CASE(clear_ptes),
#endif
#ifdef HAVE_test_and_clear_young_ptes
	HELPER_CASE(test_and_clear_young_ptes),
#endif
#ifdef HAVE_clear_flush_young_ptes
	HELPER_CASE(clear_flush_young_ptes),
#endif
#ifdef HAVE_modify_prot_start_ptes
	HELPER_CASE(modify_prot_start_ptes),
#endif
#ifdef HAVE_modify_prot_commit_ptes
	HELPER_CASE(modify_prot_commit_ptes),
#endif
#ifdef HAVE_modify_prot_ptes
	HELPER_CASE(modify_prot_ptes),
	KUNIT_CASE_PARAM(modify_prot_ptes_stops_at_hole, place_gen_params),
#endif
#ifdef HAVE_set_access_flags_ptes
	HELPER_CASE(set_access_flags_ptes),
#endif
#ifdef HAVE_flush_tlb_local_ptes
	HELPER_CASE(flush_tlb_local_ptes),
#endif
#ifdef HAVE_folio_pte_batch_header
	KUNIT_CASE(batch_of_none_changes_nothing),
#endif
	{}
};

static void pte_batch_helper_exit(struct kunit_suite *suite)
{
	kfree(bits);
	bits = NULL;
	batch_table_exit(&singled);
	batch_table_exit(&batched);
	batch_table_exit(&clean);
	batch_env_exit(&env);
}

static int pte_batch_helper_init(struct kunit_suite *suite)
{
	kunit_info(suite, "seed=%u\n", seed);
	bits = kcalloc(PTRS_PER_PTE, sizeof(*bits), GFP_KERNEL);
	if (!bits || batch_env_init(&env) || batch_table_init(&clean) ||
	    batch_table_init(&batched) || batch_table_init(&singled)) {
		pte_batch_helper_exit(suite);
		return -ENOMEM;
	}
	if (env.folio)
		batch_table_fill(&env, &clean);
	return 0;
}

static int pte_batch_helper_case_init(struct kunit *test)
{
	if (!env.folio)
		kunit_skip(test, "no memory for a folio as large as a table");
	return 0;
}

static struct kunit_suite pte_batch_helper_suite = {
	.name = "pte_batch_helper",
	.suite_init = pte_batch_helper_init,
	.suite_exit = pte_batch_helper_exit,
	.init = pte_batch_helper_case_init,
	.test_cases = pte_batch_helper_cases,
};

kunit_test_suite(pte_batch_helper_suite);
