// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite: what only powerpc entries have, under batched helpers: the place
 * of the hash entry (hash MMU), an entry that is present but not valid between
 * the two halves of a change, and coprocessors that remember translations.
 *
 * Which MMU it is, is known at run time. Flushes of ranges and single commits,
 * which flush by themselves if they are told that rights grow, are looked at on
 * their way: the helpers are inline functions, so they call what is named here.
 */
#include <linux/mm_types.h>
#include <asm/tlbflush.h>
/* Not <linux/pgtable.h>, which comes with the helpers. */
#include "asm/pgtable.h"

#if defined(_LINUX_PGTABLE_BATCH_H) && defined(HAVE_folio_pte_batch_header)
#error "too late to look at commits and flushes"
#endif

#define NR_ENTRIES	16

#ifdef CONFIG_PPC_BOOK3S_64
/**
 * struct watch - what has been seen since it was cleared
 * @ptep: the entries, @NR_ENTRIES of them
 * @addr: address of the first one
 * @commits: single commits
 * @upgrades: those of them that were told that rights grow
 * @flushes: flushes of a range
 * @exposed: entries that were valid to the hardware during such a flush
 * @start: where the last one started
 * @end: where it ended
 */
static struct watch {
	pte_t *ptep;
	unsigned long addr;
	unsigned int commits;
	unsigned int upgrades;
	unsigned int flushes;
	unsigned int exposed;
	unsigned long start;
	unsigned long end;
} watch;

/* Between the halves: not valid to the hardware, present to the kernel. */
static bool is_between(pte_t pte)
{
	return pte_present(pte) && !pte_hw_valid(pte);
}

static inline void watched_commit(struct vm_area_struct *vma,
				  unsigned long addr, pte_t *ptep,
				  pte_t old_pte, pte_t pte)
{
	watch.commits++;
	watch.upgrades += is_pte_rw_upgrade(pte_val(old_pte), pte_val(pte));
	ptep_modify_prot_commit(vma, addr, ptep, old_pte, pte);
}

static inline void watched_flush(struct vm_area_struct *vma,
				 unsigned long start, unsigned long end)
{
	unsigned int i;

	watch.flushes++;
	watch.start = start;
	watch.end = end;
	for (i = 0; i < NR_ENTRIES; i++)
		if (watch.addr + i * PAGE_SIZE >= start &&
		    watch.addr + i * PAGE_SIZE < end)
			watch.exposed += !is_between(READ_ONCE(watch.ptep[i]));
	radix__flush_tlb_range(vma, start, end);
}

#define ptep_modify_prot_commit	watched_commit
#define radix__flush_tlb_range	watched_flush
#endif

#include <kunit/test.h>

#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/pgtable.h>

#include "pte_batch_entry.h"

#if defined(CONFIG_PPC_8xx) && defined(CONFIG_PPC_16K_PAGES)
/* No value stands for the entry: the fallbacks, which are built here, do without. */
static_assert(sizeof(pte_t) == 4 * sizeof(pte_basic_t));
#endif

/* The suite's own mm and table. */
static struct batch_env env;
static struct batch_table table;

static __maybe_unused unsigned long nth_addr(unsigned int slot)
{
	return batch_addr(&env, slot);
}

static __maybe_unused void map_entries(unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++)
		entry_set(&env, table.ptep, i,
			  entry_build(&env, batch_pfn(&env, i), bits));
}

#ifdef HAVE_modify_prot_ptes
/* Whatever a helper is told to do, by calls as long as it wants them. */
static void modify_prot(unsigned int nr, unsigned long access, modprot_t flags)
{
	pte_t old = __pte(0), new = __pte(0);
	unsigned int i, done;

	spin_lock(env.ptl);
	for (i = 0; i < nr; i += done) {
		done = modify_prot_ptes(env.vma, nth_addr(i), table.ptep + i,
					nr - i, vm_get_page_prot(access), flags,
					&old, &new);
		/* Another suite says that this is wrong. */
		if (!done || done > nr - i)
			break;
	}
	spin_unlock(env.ptl);
}

static void modify_read(unsigned int nr)
{
	modify_prot(nr, VM_READ, MODPROT_NONE);
}

static void modify_write(unsigned int nr)
{
	modify_prot(nr, VM_READ, MODPROT_MKWRITE);
}

/* Every platform of powerpc builds this, and most boot it. */
static void entries_change_one_by_one(struct kunit *test)
{
	unsigned int i;

	map_entries(ENTRY_WRITE | ENTRY_YOUNG);
	modify_read(NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++) {
		pte_t pte = ptep_get(table.ptep + i);

		KUNIT_EXPECT_TRUE(test, pte_present(pte));
		KUNIT_EXPECT_FALSE(test, pte_write(pte));
		KUNIT_EXPECT_EQ(test, pte_pfn(pte), batch_pfn(&env, i));
	}
	modify_write(NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++)
		KUNIT_EXPECT_TRUE(test, pte_write(ptep_get(table.ptep + i)));
}
#endif

#if defined(CONFIG_PPC_BOOK3S_64) && defined(HAVE_modify_prot_ptes)
static pte_t start(unsigned int nr)
{
	pte_t old;

	spin_lock(env.ptl);
	old = modify_prot_start_ptes(env.vma, nth_addr(0), table.ptep, nr);
	spin_unlock(env.ptl);
	return old;
}

static void commit(unsigned int nr, pte_t old, pte_t new)
{
	spin_lock(env.ptl);
	modify_prot_commit_ptes(env.vma, nth_addr(0), table.ptep, old, new, nr);
	spin_unlock(env.ptl);
}

static void commit_read(unsigned int nr)
{
	pte_t old = start(nr);

	commit(nr, old, pte_modify(old, vm_get_page_prot(VM_READ)));
}

static void commit_write(unsigned int nr)
{
	pte_t old = start(nr);

	commit(nr, old, pte_mkwrite(old, env.vma));
}

static void set_access(unsigned int nr, saf_t flags)
{
	spin_lock(env.ptl);
	set_access_flags_ptes(env.vma, nth_addr(0), table.ptep, nr, flags);
	spin_unlock(env.ptl);
}

static void set_write(unsigned int nr)
{
	set_access(nr, SAF_WRITE);
}

static void set_all(unsigned int nr)
{
	set_access(nr, SAF_YOUNG | SAF_DIRTY | SAF_WRITE);
}

static void set_young(unsigned int nr)
{
	set_access(nr, SAF_YOUNG);
}

static void wrprotect(unsigned int nr)
{
	spin_lock(env.ptl);
	wrprotect_ptes(env.mm, nth_addr(0), table.ptep, nr);
	spin_unlock(env.ptl);
}

static void clear_young_dirty(unsigned int nr)
{
	spin_lock(env.ptl);
	clear_young_dirty_ptes(env.vma, nth_addr(0), table.ptep, nr,
			       CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY);
	spin_unlock(env.ptl);
}

static void test_and_clear_young(unsigned int nr)
{
	spin_lock(env.ptl);
	test_and_clear_young_ptes(env.vma, nth_addr(0), table.ptep, nr);
	spin_unlock(env.ptl);
}

/**
 * struct op - a helper and how it is called
 * @name: name of the helper
 * @call: calls it for the first entries of the table
 */
struct op {
	const char *name;
	void (*call)(unsigned int nr);
};

static void op_desc(const struct op *op, char *desc)
{
	strscpy(desc, op->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct op ops[] = {
	{ "wrprotect_ptes", wrprotect },
	{ "clear_young_dirty_ptes", clear_young_dirty },
	{ "test_and_clear_young_ptes", test_and_clear_young },
	{ "modify_prot_start_ptes, modify_prot_commit_ptes", commit_read },
	{ "modify_prot_ptes, read", modify_read },
	{ "modify_prot_ptes, write", modify_write },
	{ "set_access_flags_ptes, young", set_young },
	{ "set_access_flags_ptes, write", set_write },
	{ "set_access_flags_ptes, young dirty write", set_all },
};

KUNIT_ARRAY_PARAM(op, ops, op_desc);

/*
 * Where the hash entry of one page is says nothing about another page. With
 * 4K pages the place is in the entry, a nibble; with 64K the entry says whether
 * there is one, and where is written behind the table.
 */
static unsigned long hash_bits(unsigned int slot)
{
	if (H_PAGE_COMBO)
		return slot & 1 ? H_PAGE_HASHPTE : 0;
	return H_PAGE_HASHPTE |
	       (((slot * 5 + 3) & 0xfUL) << _PAGE_PA_MAX &
		_PAGE_HPTEFLAGS & ~H_PAGE_HASHPTE & ~H_PAGE_BUSY);
}

static void hash_bits_stay_with_their_entry(struct kunit *test)
{
	const struct op *op = test->param_value;
	unsigned int i;

	if (radix_enabled())
		kunit_skip(test, "the radix MMU has none");
	map_entries(ENTRY_YOUNG);
	for (i = 0; i < NR_ENTRIES; i++)
		table.ptep[i] = __pte(pte_val(table.ptep[i]) | hash_bits(i));
	op->call(NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++) {
		unsigned long now = pte_val(table.ptep[i]) & _PAGE_HPTEFLAGS;

		if (!now || now == hash_bits(i))
			continue;
		KUNIT_FAIL(test, "slot %u had hash bits %#lx, has %#lx", i,
			   hash_bits(i), now);
		return;
	}
}

static void soft_dirty_survives(struct kunit *test)
{
	const struct op *op = test->param_value;
	unsigned int i;

	if (!IS_ENABLED(CONFIG_MEM_SOFT_DIRTY))
		kunit_skip(test, "built without soft-dirty");
	/* To make dirty is to make soft-dirty; the commit gives one to all. */
	if (op->call == set_all || op->call == commit_read)
		kunit_skip(test, "which sets it by its contract");
	for (i = 0; i < NR_ENTRIES; i++)
		entry_set(&env, table.ptep, i,
			  entry_build(&env, batch_pfn(&env, i),
				      i % 3 ? ENTRY_YOUNG : ENTRY_YOUNG |
							    ENTRY_SOFT_DIRTY));
	op->call(NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++)
		KUNIT_EXPECT_EQ_MSG(test, pte_soft_dirty(table.ptep[i]),
				    i % 3 == 0, "slot %u", i);
}

/* What one start gathered goes to all: also that the first one was soft-dirty. */
static void commit_keeps_soft_dirty(struct kunit *test)
{
	unsigned int i;

	if (!IS_ENABLED(CONFIG_MEM_SOFT_DIRTY))
		kunit_skip(test, "built without soft-dirty");
	map_entries(ENTRY_YOUNG | ENTRY_SOFT_DIRTY);
	commit_read(NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++)
		KUNIT_EXPECT_TRUE(test, pte_soft_dirty(table.ptep[i]));
}

static void entry_is_not_valid_between_the_halves(struct kunit *test)
{
	unsigned int i;
	pte_t old;

	map_entries(ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY);
	old = start(NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++) {
		pte_t pte = ptep_get(table.ptep + i);

		KUNIT_EXPECT_TRUE_MSG(test, is_between(pte), "slot %u", i);
		KUNIT_EXPECT_TRUE(test, pte_young(pte) && pte_dirty(pte));
		KUNIT_EXPECT_EQ(test, pte_pfn(pte), batch_pfn(&env, i));
	}
	commit(NR_ENTRIES, old, pte_wrprotect(old));
	for (i = 0; i < NR_ENTRIES; i++)
		KUNIT_EXPECT_TRUE_MSG(test,
				      pte_hw_valid(ptep_get(table.ptep + i)),
				      "slot %u", i);
}

/*
 * Page table checking counts a page when it is mapped and when its entry is
 * cleared. A started change has cleared nothing, so a commit by set_ptes(),
 * which maps, would count every page twice. The single commit knows that.
 */
static void commit_does_not_map_again(struct kunit *test)
{
	map_entries(ENTRY_WRITE | ENTRY_YOUNG);
	watch.commits = 0;
	commit_read(NR_ENTRIES);
	KUNIT_EXPECT_EQ(test, watch.commits, NR_ENTRIES);
	watch.commits = 0;
	modify_write(NR_ENTRIES);
	KUNIT_EXPECT_EQ(test, watch.commits, NR_ENTRIES);
}

/* These let entries be written that could be read before. */
static const struct op growing_ops[] = {
	{ "modify_prot_start_ptes, modify_prot_commit_ptes", commit_write },
	{ "modify_prot_ptes", modify_write },
	{ "set_access_flags_ptes", set_write },
};

KUNIT_ARRAY_PARAM(growing_op, growing_ops, op_desc);

/* All entries readable; then one call, with or without coprocessors. */
static void call_and_watch(const struct op *op, unsigned int nr, bool copros)
{
	map_entries(ENTRY_YOUNG);
	if (copros)
		mm_context_add_copro(env.mm);
	watch = (struct watch){ .ptep = table.ptep, .addr = nth_addr(0) };
	op->call(nr);
	if (copros)
		mm_context_remove_copro(env.mm);
}

static void needs_old_nest_mmu(struct kunit *test)
{
	if (!radix_enabled() || cpu_has_feature(CPU_FTR_ARCH_31))
		kunit_skip(test, "no coprocessor here has to be flushed for");
	if (__is_defined(PTE_BATCH_FORCE_GENERIC))
		kunit_skip(test, "the fallback flushes page by page");
}

/*
 * The nest MMU of POWER9 does not take up rights that grow by itself: the
 * entries have to be invalid, then flushed, then valid again. Once for all.
 */
static void coprocessor_flush_is_once_per_range(struct kunit *test)
{
	const struct op *op = test->param_value;
	unsigned int nr, i;

	needs_old_nest_mmu(test);
	for (nr = 2; nr <= NR_ENTRIES; nr++) {
		call_and_watch(op, nr, true);
		KUNIT_EXPECT_EQ_MSG(test, watch.flushes, 1, "nr=%u: flushes", nr);
		KUNIT_EXPECT_EQ_MSG(test, watch.upgrades, 0,
				    "nr=%u: flushes of single pages", nr);
		KUNIT_EXPECT_EQ(test, watch.start, nth_addr(0));
		KUNIT_EXPECT_EQ(test, watch.end, nth_addr(nr));
		KUNIT_EXPECT_EQ_MSG(test, watch.exposed, 0,
				    "nr=%u: entries valid during the flush", nr);
		for (i = 0; i < NR_ENTRIES; i++) {
			pte_t pte = ptep_get(table.ptep + i);

			KUNIT_EXPECT_TRUE(test, pte_hw_valid(pte));
			KUNIT_EXPECT_EQ(test, !!pte_write(pte), i < nr);
		}
	}
}

/* Nobody remembers translations, or none of them grows: no flush is needed. */
static void no_flush_without_need(struct kunit *test)
{
	static const struct op shrinking = { "", modify_read };
	unsigned int i;

	needs_old_nest_mmu(test);
	for (i = 0; i < ARRAY_SIZE(growing_ops); i++) {
		call_and_watch(growing_ops + i, NR_ENTRIES, false);
		KUNIT_EXPECT_EQ_MSG(test, watch.flushes, 0, "%s",
				    growing_ops[i].name);
	}
	call_and_watch(&shrinking, NR_ENTRIES, true);
	KUNIT_EXPECT_EQ(test, watch.flushes, 0);
	KUNIT_EXPECT_EQ(test, watch.upgrades, 0);
}

#endif

static struct kunit_case pte_batch_powerpc_cases[] = {
#ifdef HAVE_modify_prot_ptes
	KUNIT_CASE(entries_change_one_by_one),
#endif
#if defined(CONFIG_PPC_BOOK3S_64) && defined(HAVE_modify_prot_ptes)
	KUNIT_CASE_PARAM(hash_bits_stay_with_their_entry, op_gen_params),
	KUNIT_CASE_PARAM(soft_dirty_survives, op_gen_params),
	KUNIT_CASE(commit_keeps_soft_dirty),
	KUNIT_CASE(entry_is_not_valid_between_the_halves),
	KUNIT_CASE(commit_does_not_map_again),
	KUNIT_CASE_PARAM(coprocessor_flush_is_once_per_range,
			 growing_op_gen_params),
	KUNIT_CASE(no_flush_without_need),
#endif
	{}
};

static void pte_batch_powerpc_exit(struct kunit_suite *suite)
{
	batch_table_exit(&table);
	batch_env_exit(&env);
}

static int pte_batch_powerpc_init(struct kunit_suite *suite)
{
	if (batch_env_init(&env) || !env.folio || batch_table_init(&table)) {
		pte_batch_powerpc_exit(suite);
		return -ENOMEM;
	}
	return 0;
}

static struct kunit_suite pte_batch_powerpc_suite = {
	.name = "pte_batch_powerpc",
	.suite_init = pte_batch_powerpc_init,
	.suite_exit = pte_batch_powerpc_exit,
	.test_cases = pte_batch_powerpc_cases,
};

kunit_test_suite(pte_batch_powerpc_suite);
