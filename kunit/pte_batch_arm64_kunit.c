// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite: contiguous blocks (contpte) under batched helpers.
 *
 * The other suites see entries as ptep_get() shows them: gathered over the
 * block, which hides what is wrong inside it. Here the raw entries are looked
 * at, and the contiguous bit is counted.
 */
#include <kunit/test.h>

#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pgtable.h>

#include "pte_batch_entry.h"

#define BLOCKS		4
#define NR_ENTRIES	(BLOCKS * CONT_PTES)

/* The suite's own mm, table and pages: as many as @BLOCKS blocks have. */
static struct batch_env env;
static struct batch_table table;
static struct folio *folio;

/* What is left of a block that a helper was told to change in part only. */
enum edge {
	EDGE_UNFOLDED,		/* separate entries, the others as they were */
	EDGE_KEPT,		/* the whole block, changed as a whole */
};

/**
 * struct op - a helper and how it is called
 * @name: name of the helper
 * @bits: ENTRY_* flags of all entries before
 * @edge: what becomes of blocks at the ends of the range
 * @clears: the entries are gone afterwards
 * @merges: the raw entries of a whole block are equal afterwards, accessed and
 *	dirty included
 * @forgets: ENTRY_* flags that may be gone afterwards
 * @override: without the architecture's own version, blocks come apart
 * @call: calls it
 */
struct op {
	const char *name;
	unsigned int bits;
	enum edge edge;
	bool clears;
	bool merges;
	unsigned int forgets;
	bool override;
	void (*call)(unsigned int slot, unsigned int nr);
};

static pte_t raw(unsigned int slot)
{
	return __ptep_get(table.ptep + slot);
}

static void set_raw(unsigned int slot, pte_t pte)
{
	WRITE_ONCE(table.ptep[slot], pte);
}

static unsigned long nth_addr(unsigned int slot)
{
	return batch_addr(&env, slot);
}

static unsigned long nth_pfn(unsigned int slot)
{
	return folio_pfn(folio) + slot;
}

static unsigned int count_contiguous(void)
{
	unsigned int slot, nr = 0;

	for (slot = 0; slot < PTRS_PER_PTE; slot++)
		nr += pte_valid_cont(raw(slot));
	return nr;
}

/* All entries in folded blocks, all with the same bits. */
static void map_from(unsigned long pfn, unsigned int bits)
{
	memset(table.ptep, 0, PTRS_PER_PTE * sizeof(pte_t));
	set_ptes(env.mm, env.addr, table.ptep, entry_build(&env, pfn, bits),
		 NR_ENTRIES);
}

static void map_blocks(struct kunit *test, unsigned int bits)
{
	map_from(nth_pfn(0), bits);
	KUNIT_ASSERT_EQ(test, count_contiguous(),
			bits & ENTRY_PROTNONE ? 0 : NR_ENTRIES);
}

static void do_wrprotect(unsigned int slot, unsigned int nr)
{
	wrprotect_ptes(env.mm, nth_addr(slot), table.ptep + slot, nr);
}

static void do_clear_young_dirty(unsigned int slot, unsigned int nr)
{
	clear_young_dirty_ptes(env.vma, nth_addr(slot), table.ptep + slot, nr,
			       CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY);
}

static void do_clear(unsigned int slot, unsigned int nr)
{
	get_and_clear_full_ptes(env.mm, nth_addr(slot), table.ptep + slot, nr,
				0);
}

#ifdef HAVE_test_and_clear_young_ptes
static void do_test_and_clear_young(unsigned int slot, unsigned int nr)
{
	test_and_clear_young_ptes(env.vma, nth_addr(slot), table.ptep + slot,
				  nr);
}
#endif

#ifdef HAVE_clear_flush_young_ptes
static void do_clear_flush_young(unsigned int slot, unsigned int nr)
{
	clear_flush_young_ptes(env.vma, nth_addr(slot), table.ptep + slot, nr);
}
#endif

#ifdef HAVE_modify_prot_commit_ptes
static void start_commit(unsigned int slot, unsigned int nr,
			 unsigned long access)
{
	pte_t old = modify_prot_start_ptes(env.vma, nth_addr(slot),
					   table.ptep + slot, nr);

	modify_prot_commit_ptes(env.vma, nth_addr(slot), table.ptep + slot, old,
				pte_modify(old, vm_get_page_prot(access)), nr);
}

static void do_start_commit(unsigned int slot, unsigned int nr)
{
	start_commit(slot, nr, VM_READ);
}

static void do_start_commit_none(unsigned int slot, unsigned int nr)
{
	start_commit(slot, nr, VM_NONE);
}
#endif

#ifdef HAVE_modify_prot_ptes
static void modify_prot(unsigned int slot, unsigned int nr,
			unsigned long access)
{
	pte_t old = __pte(0), new = __pte(0);
	unsigned int end = slot + nr;

	for (; slot < end; slot += nr) {
		nr = modify_prot_ptes(env.vma, nth_addr(slot),
				      table.ptep + slot, end - slot,
				      vm_get_page_prot(access), MODPROT_NONE,
				      &old, &new);
		/* Another suite says that this is wrong. */
		if (!nr || nr > end - slot)
			return;
	}
}

static void do_modify_prot(unsigned int slot, unsigned int nr)
{
	modify_prot(slot, nr, VM_READ);
}

static void do_modify_prot_none(unsigned int slot, unsigned int nr)
{
	modify_prot(slot, nr, VM_NONE);
}
#endif

#ifdef HAVE_set_access_flags_ptes
static bool set_access(unsigned int slot, unsigned int nr, saf_t flags)
{
	return set_access_flags_ptes(env.vma, nth_addr(slot), table.ptep + slot,
				     nr, flags);
}

static void do_set_young_dirty(unsigned int slot, unsigned int nr)
{
	set_access(slot, nr, SAF_YOUNG | SAF_DIRTY);
}

static void do_set_write(unsigned int slot, unsigned int nr)
{
	set_access(slot, nr, SAF_WRITE);
}
#endif

static const struct op ops[] = {
	{
		.name = "wrprotect_ptes", .bits = ENTRY_WRITE,
		.call = do_wrprotect,
	}, {
		.name = "clear_young_dirty_ptes", .bits = ENTRY_WRITE,
		.edge = EDGE_KEPT, .merges = true,
		.forgets = ENTRY_YOUNG | ENTRY_DIRTY,
		.call = do_clear_young_dirty,
	}, {
		.name = "get_and_clear_full_ptes", .clears = true,
		.call = do_clear,
	},
#ifdef HAVE_test_and_clear_young_ptes
	{
		.name = "test_and_clear_young_ptes", .edge = EDGE_KEPT,
		.forgets = ENTRY_YOUNG, .call = do_test_and_clear_young,
	},
#endif
#ifdef HAVE_clear_flush_young_ptes
	{
		.name = "clear_flush_young_ptes", .edge = EDGE_KEPT,
		.forgets = ENTRY_YOUNG, .call = do_clear_flush_young,
	},
#endif
#ifdef HAVE_modify_prot_commit_ptes
	{
		.name = "modify_prot_start_ptes, modify_prot_commit_ptes",
		.bits = ENTRY_WRITE, .merges = true, .call = do_start_commit,
	},
#endif
#ifdef HAVE_modify_prot_ptes
	{
		.name = "modify_prot_ptes", .bits = ENTRY_WRITE,
		.merges = true, .call = do_modify_prot,
	},
#endif
#ifdef HAVE_set_access_flags_ptes
	{
		.name = "set_access_flags_ptes, young and dirty",
		.bits = ENTRY_WRITE, .edge = EDGE_KEPT, .merges = true,
		.call = do_set_young_dirty,
	}, {
		.name = "set_access_flags_ptes, write", .merges = true,
		.override = true, .call = do_set_write,
	},
#endif
};

static void op_desc(const struct op *op, char *desc)
{
	strscpy(desc, op->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(op, ops, op_desc);

static const struct op *param_op(struct kunit *test)
{
	const struct op *op = test->param_value;

	if (op->override && __is_defined(PTE_BATCH_FORCE_GENERIC))
		kunit_skip(test, "the fallback takes every block apart");
	return op;
}

/* How many of a block's entries are in the range. */
static unsigned int covered(unsigned int block, unsigned int slot,
			    unsigned int nr)
{
	unsigned int start = max_t(unsigned int, slot, block * CONT_PTES);
	unsigned int end = min_t(unsigned int, slot + nr,
				 (block + 1) * CONT_PTES);

	return start < end ? end - start : 0;
}

static bool stays_folded(const struct op *op, unsigned int part)
{
	if (!part)
		return true;
	if (part == CONT_PTES)
		return !op->clears;
	return op->edge == EDGE_KEPT;
}

/* Entries that the helper has no business with: as exact as blocks allow. */
static bool is_as_before(const struct op *op, pte_t pte, pte_t before)
{
	if (op->edge == EDGE_KEPT) {
		pte = pte_mkold(pte_mkclean(pte));
		before = pte_mkold(pte_mkclean(before));
	}
	return entry_exact(pte) == entry_exact(before);
}

static void check_range(struct kunit *test, const struct op *op,
			unsigned int slot, unsigned int nr)
{
	unsigned int i, part, contiguous = 0;

	map_blocks(test, op->bits);
	op->call(slot, nr);
	for (i = 0; i < NR_ENTRIES; i++) {
		pte_t before = entry_build(&env, nth_pfn(i), op->bits);

		part = covered(i / CONT_PTES, slot, nr);
		contiguous += stays_folded(op, part);
		if (pte_cont(raw(i)) != stays_folded(op, part)) {
			KUNIT_FAIL(test, "nr=%u at slot %u: slot %u is %s a block",
				   nr, slot, i,
				   pte_cont(raw(i)) ? "in" : "not in");
			return;
		}
		if ((i < slot || i >= slot + nr) &&
		    !is_as_before(op, raw(i), before)) {
			KUNIT_FAIL(test, "nr=%u at slot %u: slot %u is %#llx, was %#llx",
				   nr, slot, i, entry_raw(raw(i)),
				   entry_raw(before));
			return;
		}
	}
	KUNIT_EXPECT_EQ(test, count_contiguous(), contiguous);
	KUNIT_EXPECT_TRUE_MSG(test, entry_blocks_hold(table.ptep),
			      "nr=%u at slot %u: entries of one block differ",
			      nr, slot);
}

/* Ranges that begin or end inside a block, with whole blocks between or not. */
static void partial_ranges_unfold_only_the_edges(struct kunit *test)
{
	const struct op *op = param_op(test);
	unsigned int half = CONT_PTES / 2;

	check_range(test, op, half, 2 * CONT_PTES);
	check_range(test, op, half, CONT_PTES);
	check_range(test, op, CONT_PTES, CONT_PTES + half);
	check_range(test, op, 1, NR_ENTRIES - 2);
	check_range(test, op, CONT_PTES - 1, 2);
	check_range(test, op, CONT_PTES + 3, half);
	check_range(test, op, CONT_PTES - 1, CONT_PTES + 1);
	check_range(test, op, half, 1);
}

static void whole_blocks_stay_folded(struct kunit *test)
{
	const struct op *op = param_op(test);
	unsigned int block, nr;

	for (block = 0; block < BLOCKS; block++)
		for (nr = 1; block + nr <= BLOCKS; nr++)
			check_range(test, op, block * CONT_PTES,
				    nr * CONT_PTES);
}

/* What hardware does on behalf of the whole block: in any one entry of it. */
static void hardware_accesses(unsigned int slot)
{
	set_raw(slot, pte_mkyoung(raw(slot)));
}

static void hardware_writes(unsigned int slot)
{
	set_raw(slot, __pte(pte_val(raw(slot)) & ~PTE_RDONLY));
}

/* Accessed and dirty of the whole block, from its raw entries. */
static unsigned int block_has(unsigned int first)
{
	unsigned int i, bits = 0;

	for (i = first; i < first + CONT_PTES; i++) {
		if (pte_young(raw(i)))
			bits |= ENTRY_YOUNG;
		if (pte_dirty(raw(i)))
			bits |= ENTRY_DIRTY;
	}
	return bits;
}

static bool block_is_uniform(unsigned int first)
{
	unsigned int i;

	for (i = 1; i < CONT_PTES; i++)
		if (entry_raw(raw(first + i)) !=
		    entry_raw(pte_advance_pfn(raw(first), i)))
			return false;
	return true;
}

static void check_marked_block(struct kunit *test, const struct op *op,
			       unsigned int accessed, unsigned int written)
{
	unsigned int had;

	map_blocks(test, op->bits);
	hardware_accesses(CONT_PTES + accessed);
	if (op->bits & ENTRY_WRITE)
		hardware_writes(CONT_PTES + written);
	had = block_has(CONT_PTES);
	op->call(CONT_PTES, CONT_PTES);
	KUNIT_EXPECT_TRUE_MSG(test, entry_blocks_hold(table.ptep),
			      "entries of one block differ");
	if (op->clears)
		return;
	KUNIT_EXPECT_EQ_MSG(test, had & ~op->forgets & ~block_has(CONT_PTES), 0,
			    "slot %u accessed, slot %u written: the block has lost it",
			    accessed, written);
	if (op->merges)
		KUNIT_EXPECT_TRUE_MSG(test, block_is_uniform(CONT_PTES),
				      "slot %u accessed, slot %u written: raw entries differ",
				      accessed, written);
}

static void entries_of_a_block_stay_equal(struct kunit *test)
{
	const struct op *op = param_op(test);
	unsigned int i;

	for (i = 0; i < CONT_PTES; i++)
		check_marked_block(test, op, i, CONT_PTES - 1 - i);
}

#ifdef HAVE_set_access_flags_ptes
/*
 * One raw entry lacks what its siblings have. The gathered value says that
 * nothing is to be done, but a walker that looks at single descriptors (an
 * SMMU without HTTU) would fault for ever.
 */
static void check_one_lacks(struct kunit *test, unsigned int odd, bool dirty)
{
	saf_t flags = dirty ? SAF_DIRTY : SAF_YOUNG;
	pte_t pte;

	map_blocks(test, ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY);
	pte = raw(CONT_PTES + odd);
	set_raw(CONT_PTES + odd, dirty ? pte_mkclean(pte) : pte_mkold(pte));
	KUNIT_EXPECT_TRUE_MSG(test, set_access(CONT_PTES, CONT_PTES, flags),
			      "slot %u of the block lacks %s: nothing done",
			      odd, dirty ? "dirty" : "accessed");
	KUNIT_EXPECT_TRUE_MSG(test, block_is_uniform(CONT_PTES),
			      "slot %u of the block lacked %s: raw entries differ",
			      odd, dirty ? "dirty" : "accessed");
	KUNIT_EXPECT_FALSE_MSG(test, set_access(CONT_PTES, CONT_PTES, flags),
			       "nothing was left to do");
	KUNIT_EXPECT_EQ(test, count_contiguous(), NR_ENTRIES);
}

static void raw_entries_decide_a_no_op(struct kunit *test)
{
	unsigned int odd;

	if (__is_defined(PTE_BATCH_FORCE_GENERIC))
		kunit_skip(test, "which is the tree's own business then");
	for (odd = 0; odd < CONT_PTES; odd++) {
		check_one_lacks(test, odd, false);
		check_one_lacks(test, odd, true);
	}
}
#endif

#ifdef HAVE_modify_prot_ptes
/* An entry that is not valid is no part of a block, whatever it was before. */
static void expect_none_contiguous(struct kunit *test, unsigned int slot,
				   unsigned int nr)
{
	unsigned int i;

	for (i = slot; i < slot + nr; i++) {
		if (pte_protnone(raw(i)) && !pte_cont(raw(i)) &&
		    pte_pfn(raw(i)) == nth_pfn(i))
			continue;
		KUNIT_FAIL(test, "slot %u of a range of %u at %u is %#llx", i,
			   nr, slot, entry_raw(raw(i)));
		return;
	}
	KUNIT_EXPECT_TRUE(test, entry_blocks_hold(table.ptep));
}

static void check_protnone(struct kunit *test, unsigned int slot,
			   unsigned int nr)
{
	map_blocks(test, ENTRY_WRITE | ENTRY_YOUNG);
	do_modify_prot_none(slot, nr);
	expect_none_contiguous(test, slot, nr);
	do_modify_prot(slot, nr);
	KUNIT_EXPECT_TRUE(test, entry_blocks_hold(table.ptep));

	map_blocks(test, ENTRY_WRITE | ENTRY_YOUNG);
	do_start_commit_none(slot, nr);
	expect_none_contiguous(test, slot, nr);
	do_start_commit(slot, nr);
	KUNIT_EXPECT_TRUE(test, entry_blocks_hold(table.ptep));
}

static void protnone_is_never_contiguous(struct kunit *test)
{
	check_protnone(test, 0, NR_ENTRIES);
	check_protnone(test, CONT_PTES, CONT_PTES);
	check_protnone(test, CONT_PTES / 2, 2 * CONT_PTES);
	check_protnone(test, CONT_PTES - 1, 2);
}

/* No folio says how far a block of special entries may reach. */
static void check_special(struct kunit *test, const char *what,
			  void (*call)(unsigned int slot, unsigned int nr))
{
	unsigned int i;

	memset(table.ptep, 0, PTRS_PER_PTE * sizeof(pte_t));
	for (i = 0; i < NR_ENTRIES; i++)
		entry_set(&env, table.ptep, i,
			  pte_mkspecial(entry_build(&env, nth_pfn(i),
						    ENTRY_WRITE)));
	KUNIT_ASSERT_EQ(test, count_contiguous(), 0);
	call(0, NR_ENTRIES);
	KUNIT_EXPECT_EQ_MSG(test, count_contiguous(), 0, "after %s", what);
	for (i = 0; i < NR_ENTRIES; i++)
		if (!pte_special(raw(i)) || pte_pfn(raw(i)) != nth_pfn(i))
			break;
	KUNIT_EXPECT_EQ_MSG(test, i, NR_ENTRIES, "%s: slot %u is %#llx", what,
			    i, entry_raw(raw(i)));
}

static void special_entries_never_fold(struct kunit *test)
{
	check_special(test, "wrprotect_ptes", do_wrprotect);
	check_special(test, "modify_prot_ptes", do_modify_prot);
	check_special(test, "modify_prot_commit_ptes", do_start_commit);
	check_special(test, "set_access_flags_ptes", do_set_young_dirty);
}

/* Dirty as software says it, as hardware says it, and as both do. */
static const struct {
	const char *name;
	unsigned int bits;
	pteval_t clear;
} dirty_forms[] = {
	{ "software's", ENTRY_DIRTY, 0 },
	{ "both", ENTRY_WRITE | ENTRY_DIRTY, 0 },
	{ "hardware's", ENTRY_WRITE | ENTRY_DIRTY, PTE_DIRTY },
};

static void dirty_form_desc(const typeof(dirty_forms[0]) *form, char *desc)
{
	strscpy(desc, form->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(dirty_form, dirty_forms, dirty_form_desc);

static pte_t dirty_entry(const typeof(dirty_forms[0]) *form, unsigned int slot)
{
	pte_t pte = entry_build(&env, nth_pfn(slot), form->bits);

	return __pte(pte_val(pte) & ~form->clear);
}

/* Separate entries: each keeps its own. The odd ones are dirty. */
static void check_dirty_entries(struct kunit *test,
				const typeof(dirty_forms[0]) *form,
				void (*call)(unsigned int slot,
					     unsigned int nr))
{
	unsigned int i;

	memset(table.ptep, 0, PTRS_PER_PTE * sizeof(pte_t));
	for (i = 1; i < CONT_PTES - 1; i++)
		set_raw(i, i & 1 ? dirty_entry(form, i) :
			   entry_build(&env, nth_pfn(i),
				       form->bits & ~ENTRY_DIRTY));
	call(1, CONT_PTES - 2);
	for (i = 1; i < CONT_PTES - 1; i++) {
		if (pte_dirty(raw(i)) == (i & 1))
			continue;
		KUNIT_FAIL(test, "slot %u is %#llx", i, entry_raw(raw(i)));
		return;
	}
}

/* A block: what one entry has, all have. A block without it gets none. */
static void check_dirty_block(struct kunit *test,
			      const typeof(dirty_forms[0]) *form,
			      void (*call)(unsigned int slot, unsigned int nr),
			      unsigned int nr, unsigned int slot)
{
	map_blocks(test, form->bits & ~ENTRY_DIRTY);
	set_raw(slot, pte_mkcont(dirty_entry(form, slot)));
	call(CONT_PTES, nr);
	KUNIT_EXPECT_TRUE(test, block_has(CONT_PTES) & ENTRY_DIRTY);
	KUNIT_EXPECT_FALSE(test, block_has(0) & ENTRY_DIRTY);
	KUNIT_EXPECT_FALSE(test, block_has(2 * CONT_PTES) & ENTRY_DIRTY);
}

static void both_forms_of_dirty_are_kept(struct kunit *test)
{
	void (*const calls[])(unsigned int slot, unsigned int nr) = {
		do_wrprotect, do_modify_prot, do_modify_prot_none,
	};
	const typeof(dirty_forms[0]) *form = test->param_value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		check_dirty_entries(test, form, calls[i]);
		check_dirty_block(test, form, calls[i], 2 * CONT_PTES,
				  CONT_PTES);
		check_dirty_block(test, form, calls[i], 2 * CONT_PTES,
				  CONT_PTES + 5);
	}
	/* By its contract, this gives to all what one of them has. */
	check_dirty_block(test, form, do_start_commit, CONT_PTES, CONT_PTES);
	check_dirty_block(test, form, do_start_commit, CONT_PTES,
			  CONT_PTES + 5);
}

/* The frame's high part sits elsewhere in the entry; no memory is behind it. */
static void expect_frames(struct kunit *test, unsigned long pfn,
			  const char *what)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++) {
		if (pte_pfn(raw(i)) == pfn + i)
			continue;
		KUNIT_FAIL(test, "%s: slot %u maps frame %#llx, not %#lx", what,
			   i, (u64)pte_pfn(raw(i)), pfn + i);
		return;
	}
}

static void addresses_beyond_48_bits(struct kunit *test)
{
	unsigned long pfn = (BIT_ULL(50) | BIT_ULL(48)) >> PAGE_SHIFT;

	if (!IS_ENABLED(CONFIG_ARM64_PA_BITS_52) || !(PHYS_MASK >> 50))
		kunit_skip(test, "built for addresses up to 48 bits");
	/* One by one, each block's last entry asks for a struct page. */
	if (__is_defined(PTE_BATCH_FORCE_GENERIC))
		kunit_skip(test, "there is no such page to look at");
	map_from(pfn, ENTRY_WRITE);
	expect_frames(test, pfn, "set_ptes");
	do_modify_prot(0, NR_ENTRIES);
	expect_frames(test, pfn, "modify_prot_ptes");
	do_modify_prot(CONT_PTES / 2, CONT_PTES);
	expect_frames(test, pfn, "modify_prot_ptes of parts");

	map_from(pfn, 0);
	do_set_write(0, NR_ENTRIES);
	expect_frames(test, pfn, "set_access_flags_ptes");
	do_start_commit_none(0, NR_ENTRIES);
	expect_frames(test, pfn, "modify_prot_commit_ptes to PROT_NONE");
	do_start_commit(0, NR_ENTRIES);
	expect_frames(test, pfn, "modify_prot_commit_ptes from PROT_NONE");
	memset(table.ptep, 0, PTRS_PER_PTE * sizeof(pte_t));
}
#endif

static struct kunit_case pte_batch_arm64_cases[] = {
	KUNIT_CASE_PARAM(whole_blocks_stay_folded, op_gen_params),
	KUNIT_CASE_PARAM(partial_ranges_unfold_only_the_edges, op_gen_params),
	KUNIT_CASE_PARAM(entries_of_a_block_stay_equal, op_gen_params),
#ifdef HAVE_set_access_flags_ptes
	KUNIT_CASE(raw_entries_decide_a_no_op),
#endif
#ifdef HAVE_modify_prot_ptes
	KUNIT_CASE(protnone_is_never_contiguous),
	KUNIT_CASE(special_entries_never_fold),
	KUNIT_CASE_PARAM(both_forms_of_dirty_are_kept, dirty_form_gen_params),
	KUNIT_CASE(addresses_beyond_48_bits),
#endif
	{}
};

static void pte_batch_arm64_exit(struct kunit_suite *suite)
{
	if (folio)
		folio_put(folio);
	folio = NULL;
	batch_table_exit(&table);
	batch_env_exit(&env);
}

static int pte_batch_arm64_init(struct kunit_suite *suite)
{
	folio = folio_alloc(GFP_KERNEL, ilog2(NR_ENTRIES));
	if (!folio || batch_env_init(&env) || batch_table_init(&table)) {
		pte_batch_arm64_exit(suite);
		return -ENOMEM;
	}
	return 0;
}

static struct kunit_suite pte_batch_arm64_suite = {
	.name = "pte_batch_arm64",
	.suite_init = pte_batch_arm64_init,
	.suite_exit = pte_batch_arm64_exit,
	.test_cases = pte_batch_arm64_cases,
};

kunit_test_suite(pte_batch_arm64_suite);
