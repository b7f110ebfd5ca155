// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite: where a tree's own batched helpers leave something else than
 * the single-PTE loop does, or than their description says.
 *
 * Each case states one rule and prints one line, FINDING with what was seen or
 * CLEAN, and passes either way: which of the two is right for which tree is in
 * Documentation/upstream-findings.rst, and scripts/findings compares.
 */
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/pgtable.h>
#include <linux/sched/task.h>
#include <linux/vmalloc.h>

#include "../../internal.h"
#ifdef HAVE_folio_pte_batch_header
#include <linux/folio_pte_batch.h>
#endif

#include "pte_batch_entry.h"

/* Seconds until a helper that does not come back is given up. */
#define PATIENCE	20

static struct batch_env env;
static struct batch_table batched, singled;
static char text[2][ENTRY_TEXT];

/* The one line that scripts/findings looks for. */
#define verdict(test, shown, name, fmt, ...)				\
	kunit_info(test, "%s %s: " fmt "\n", (shown) ? "FINDING" : "CLEAN",	\
		   name, ##__VA_ARGS__)

static void fill(struct batch_table *table, unsigned int nr,
		 const unsigned int *bits)
{
	unsigned int i;

	batch_table_fill(&env, table);
	for (i = 0; i < nr; i++)
		entry_set(&env, table->ptep, i,
			  entry_build(&env, batch_pfn(&env, i), bits[i]));
}

#ifdef HAVE_modify_prot_start_ptes
/* Start and commit without a change, as the pair and one at a time. */
static void run_transactions(unsigned int nr)
{
	unsigned long addr = env.addr;
	unsigned int i;
	pte_t pte;

	spin_lock(env.ptl);
	pte = modify_prot_start_ptes(env.vma, addr, batched.ptep, nr);
	modify_prot_commit_ptes(env.vma, addr, batched.ptep, pte, pte, nr);
	for (i = 0; i < nr; i++, addr += PAGE_SIZE) {
		pte = ptep_modify_prot_start(env.vma, addr, singled.ptep + i);
		ptep_modify_prot_commit(env.vma, addr, singled.ptep + i, pte,
					pte);
	}
	spin_unlock(env.ptl);
}

/* The first slot that the pair left different; the number of slots if none. */
static unsigned int first_difference(unsigned int nr, bool (*state)(pte_t pte))
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (state(ptep_get(batched.ptep + i)) !=
		    state(ptep_get(singled.ptep + i)))
			break;
	return i;
}

static void judge_transactions(struct kunit *test, const char *name,
			       unsigned int nr, bool (*state)(pte_t pte))
{
	unsigned int slot;

	run_transactions(nr);
	slot = first_difference(nr, state);
	if (slot == nr) {
		verdict(test, false, name, "%u entries as one at a time", nr);
		return;
	}
	verdict(test, true, name,
		"modify_prot_start_ptes() and modify_prot_commit_ptes() of %u entries leave slot %u %s, one at a time %s",
		nr, slot,
		entry_text(text[0], ptep_get(batched.ptep + slot)),
		entry_text(text[1], ptep_get(singled.ptep + slot)));
}

static bool is_soft_dirty(pte_t pte)
{
	return pte_soft_dirty(pte);
}

static bool is_dirty(pte_t pte)
{
	return pte_dirty(pte);
}

/* Accessed and dirty of any are collected; soft-dirty is neither. */
static void findings_soft_dirty_spread(struct kunit *test)
{
	static const unsigned int bits[] = {
		ENTRY_WRITE | ENTRY_YOUNG,
		ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY,
	};

	if (!IS_ENABLED(CONFIG_MEM_SOFT_DIRTY))
		kunit_skip(test, "no soft-dirty here");
	fill(&batched, 2, bits);
	fill(&singled, 2, bits);
	judge_transactions(test, "soft-dirty-spread", 2, is_soft_dirty);
}

/* By contract: it is what the description of the pair says. */
static void findings_dirty_spread(struct kunit *test)
{
	static const unsigned int bits[] = {
		ENTRY_WRITE | ENTRY_YOUNG,
		ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY,
	};

	fill(&batched, 2, bits);
	fill(&singled, 2, bits);
	judge_transactions(test, "dirty-spread", 2, is_dirty);
}

#ifdef CONFIG_X86_USER_SHADOW_STACK
/* To the hardware this, with Write=0, is what makes shadow stack writable. */
static bool is_hardware_dirty(pte_t pte)
{
	return pte_val(pte) & _PAGE_DIRTY;
}

static pte_t shadow_stack_entry(unsigned int page)
{
	pte_t pte;

	vm_flags_set(env.vma, VM_SHADOW_STACK);
	pte = pte_mkwrite(entry_build(&env, batch_pfn(&env, page), ENTRY_YOUNG),
			  env.vma);
	vm_flags_clear(env.vma, VM_SHADOW_STACK);
	return pte;
}

/* Two pages of writable shadow stack, and nothing is to be changed. */
static void findings_shadow_stack_demotion(struct kunit *test)
{
	static const unsigned int none[2];
	unsigned int i;

	fill(&batched, 2, none);
	fill(&singled, 2, none);
	for (i = 0; i < 2; i++) {
		entry_set(&env, batched.ptep, i, shadow_stack_entry(i));
		entry_set(&env, singled.ptep, i, shadow_stack_entry(i));
	}
	judge_transactions(test, "shadow-stack-demotion", 2, is_hardware_dirty);
}
#endif
#endif /* HAVE_modify_prot_start_ptes */

#if defined(HAVE_folio_pte_batch_flags) && defined(CONFIG_X86_USER_SHADOW_STACK)
/* FPB_RESPECT_WRITE: writable and read-only entries are no batch. */
static void findings_respect_write_shadow_stack(struct kunit *test)
{
	static const unsigned int bits[] = { ENTRY_YOUNG, ENTRY_YOUNG };
	unsigned int nr;
	pte_t pte;

	fill(&batched, 2, bits);
	entry_set(&env, batched.ptep, 0, shadow_stack_entry(0));
	pte = ptep_get(batched.ptep);
	nr = folio_pte_batch_flags(env.folio, NULL, batched.ptep, &pte, 2,
				   FPB_RESPECT_WRITE);
	verdict(test, nr != 1, "respect-write-shadow-stack",
		"folio_pte_batch_flags(FPB_RESPECT_WRITE) takes %u of writable shadow stack and a read-only page for a batch",
		nr);
}
#endif

/* By contract: only accessed and dirty of later entries are reported. */
static void findings_first_entry_only(struct kunit *test)
{
	static const unsigned int bits[] = {
		ENTRY_YOUNG, ENTRY_WRITE | ENTRY_YOUNG,
	};
	pte_t pte;

	fill(&batched, 2, bits);
	spin_lock(env.ptl);
	pte = get_and_clear_full_ptes(env.mm, env.addr, batched.ptep, 2, 0);
	spin_unlock(env.ptl);
	verdict(test, !pte_write(pte), "first-entry-only",
		"get_and_clear_full_ptes() of a read-only and a writable entry returns %s",
		entry_text(text[0], pte));
}

/* The frame goes up by one from entry to entry. */
static void findings_set_ptes_step(struct kunit *test)
{
	pte_t pte = entry_build(&env, batch_pfn(&env, 0), ENTRY_YOUNG);
	unsigned int i;

	batch_table_fill(&env, &batched);
	for (i = 0; i < 4; i++)
		entry_set(&env, batched.ptep, i, __pte(0));
	spin_lock(env.ptl);
	set_ptes(env.mm, env.addr, batched.ptep, pte, 4);
	spin_unlock(env.ptl);
	for (i = 1; i < 3; i++)
		if (pte_pfn(ptep_get(batched.ptep + i)) != batch_pfn(&env, i))
			break;
	pte = ptep_get(batched.ptep + i);
	verdict(test, pte_pfn(pte) != batch_pfn(&env, i), "set-ptes-step",
		"set_ptes() of 4 entries maps page %ld in slot %u",
		(long)(pte_pfn(pte) - batch_pfn(&env, 0)), i);
}

#ifdef CONFIG_ARM64_CONTPTE
static unsigned int count_contiguous(unsigned int nr)
{
	unsigned int i, found = 0;

	for (i = 0; i < nr; i++)
		found += !!pte_cont(__ptep_get(batched.ptep + i));
	return found;
}

static void clear_block(void)
{
	unsigned int i;

	batch_table_fill(&env, &batched);
	for (i = 0; i < CONT_PTES; i++)
		entry_set(&env, batched.ptep, i, __pte(0));
}

/* An entry that is not valid has no contiguous bit: those bits are software's. */
static void findings_contiguous_protnone(struct kunit *test)
{
	pte_t pte = entry_build(&env, batch_pfn(&env, 0),
				ENTRY_PROTNONE | ENTRY_YOUNG);
	unsigned int found;

	clear_block();
	spin_lock(env.ptl);
	set_ptes(env.mm, env.addr, batched.ptep, pte, CONT_PTES);
	found = count_contiguous(CONT_PTES);
	memset(batched.ptep, 0, CONT_PTES * sizeof(pte_t));
	spin_unlock(env.ptl);
	verdict(test, found, "contiguous-protnone",
		"set_ptes() gives the contiguous bit to %u of %u PROT_NONE entries",
		found, (unsigned int)CONT_PTES);
}

#ifdef HAVE_modify_prot_start_ptes
static unsigned int nr_flushes;

static void count_flush(struct mmu_notifier *mn, struct mm_struct *mm,
			unsigned long start, unsigned long end)
{
	nr_flushes++;
}

static const struct mmu_notifier_ops flush_ops = {
	.arch_invalidate_secondary_tlbs = count_flush,
};

/*
 * The contiguous bit changes by break-before-make: entry invalid, TLB flushed,
 * and only then the new entry (Arm ARM DDI 0487, D8.16.1).
 */
static void findings_fold_without_flush(struct kunit *test)
{
	struct mmu_notifier mn = { .ops = &flush_ops };
	unsigned int found, i;
	pte_t pte;

	clear_block();
	for (i = CONT_PTES; i--; )
		entry_set(&env, batched.ptep, i,
			  entry_build(&env, batch_pfn(&env, i),
				      ENTRY_YOUNG | ENTRY_DIRTY));
	KUNIT_ASSERT_EQ(test, count_contiguous(CONT_PTES), 0);
	KUNIT_ASSERT_EQ(test, mmu_notifier_register(&mn, env.mm), 0);
	spin_lock(env.ptl);
	nr_flushes = 0;
	pte = modify_prot_start_ptes(env.vma, env.addr, batched.ptep,
				     CONT_PTES);
	modify_prot_commit_ptes(env.vma, env.addr, batched.ptep, pte, pte,
				CONT_PTES);
	found = count_contiguous(CONT_PTES);
	spin_unlock(env.ptl);
	mmu_notifier_unregister(&mn, env.mm);
	verdict(test, found && !nr_flushes, "fold-without-flush",
		"modify_prot_start_ptes() and modify_prot_commit_ptes() make a block of %u single entries with %u TLB flushes",
		found, nr_flushes);
}
#endif
#endif /* CONFIG_ARM64_CONTPTE */

#ifdef CONFIG_X86_64
/*
 * A range of no entries. Each helper runs in a thread of its own, on a table
 * with nothing mapped behind it: a helper that counts down from zero comes to
 * its end there, by a page fault that takes the thread along.
 */
struct none {
	const char *name;
	void (*call)(pte_t *ptep);
	pte_t *ptep;
	bool returned;
};

static void none_set_ptes(pte_t *ptep)
{
	set_ptes(env.mm, env.addr, ptep,
		 entry_build(&env, batch_pfn(&env, 0), ENTRY_YOUNG), 0);
}

static void none_wrprotect_ptes(pte_t *ptep)
{
	wrprotect_ptes(env.mm, env.addr, ptep, 0);
}

static void none_get_and_clear_full_ptes(pte_t *ptep)
{
	get_and_clear_full_ptes(env.mm, env.addr, ptep, 0, 0);
}

static void none_clear_full_ptes(pte_t *ptep)
{
	clear_full_ptes(env.mm, env.addr, ptep, 0, 0);
}

static void none_clear_young_dirty_ptes(pte_t *ptep)
{
	clear_young_dirty_ptes(env.vma, env.addr, ptep, 0, CYDP_CLEAR_YOUNG);
}

#ifdef HAVE_test_and_clear_young_ptes
static void none_test_and_clear_young_ptes(pte_t *ptep)
{
	test_and_clear_young_ptes(env.vma, env.addr, ptep, 0);
}
#endif

#ifdef HAVE_clear_nonpresent_ptes
static void none_clear_nonpresent_ptes(pte_t *ptep)
{
	clear_nonpresent_ptes(env.mm, env.addr, ptep, 0);
}
#endif

#ifdef HAVE_modify_prot_start_ptes
static void none_modify_prot_start_ptes(pte_t *ptep)
{
	modify_prot_start_ptes(env.vma, env.addr, ptep, 0);
}

static void none_modify_prot_commit_ptes(pte_t *ptep)
{
	pte_t pte = entry_build(&env, batch_pfn(&env, 0), ENTRY_YOUNG);

	modify_prot_commit_ptes(env.vma, env.addr, ptep, pte, pte, 0);
}
#endif

static struct none nones[] = {
	{ "set_ptes", none_set_ptes },
	{ "wrprotect_ptes", none_wrprotect_ptes },
	{ "get_and_clear_full_ptes", none_get_and_clear_full_ptes },
	{ "clear_full_ptes", none_clear_full_ptes },
	{ "clear_young_dirty_ptes", none_clear_young_dirty_ptes },
#ifdef HAVE_test_and_clear_young_ptes
	{ "test_and_clear_young_ptes", none_test_and_clear_young_ptes },
#endif
#ifdef HAVE_clear_nonpresent_ptes
	{ "clear_nonpresent_ptes", none_clear_nonpresent_ptes },
#endif
#ifdef HAVE_modify_prot_start_ptes
	{ "modify_prot_start_ptes", none_modify_prot_start_ptes },
	{ "modify_prot_commit_ptes", none_modify_prot_commit_ptes },
#endif
};

static int none_thread(void *data)
{
	struct none *none = data;

	none->call(none->ptep);
	WRITE_ONCE(none->returned, true);
	return 0;
}

/* Returns false if the thread did not survive the call. */
static bool none_returns(struct kunit *test, struct none *none)
{
	struct task_struct *thread;
	unsigned int ms;

	none->returned = false;
	thread = kthread_create(none_thread, none, "pte_batch_none");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	get_task_struct(thread);
	wake_up_process(thread);
	for (ms = 0; ms < PATIENCE * 1000 && !READ_ONCE(thread->exit_state); ms++)
		msleep(1);
	put_task_struct(thread);
	return none->returned;
}

static void findings_nr_zero(struct kunit *test)
{
	unsigned int i, nr = 0;
	char names[256] = "";
	pte_t *ptep;

	/* A mapping from vmalloc() ends with a page that is not there. */
	ptep = vzalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, ptep);
	for (i = 0; i < ARRAY_SIZE(nones); i++) {
		nones[i].ptep = ptep;
		if (none_returns(test, nones + i))
			continue;
		nr++;
		strlcat(names, " ", sizeof(names));
		strlcat(names, nones[i].name, sizeof(names));
	}
	verdict(test, nr, "nr-zero",
		"%u of %u helpers run past the end of the table for a range of no entries:%s",
		nr, (unsigned int)ARRAY_SIZE(nones), nr ? names : " none");
	/* Which thread touched it last is not known: the table stays. */
	if (!nr)
		vfree(ptep);
}
#endif

static struct kunit_case findings_cases[] = {
#ifdef HAVE_modify_prot_start_ptes
	KUNIT_CASE(findings_soft_dirty_spread),
	KUNIT_CASE(findings_dirty_spread),
#ifdef CONFIG_X86_USER_SHADOW_STACK
	KUNIT_CASE(findings_shadow_stack_demotion),
#endif
#endif
#if defined(HAVE_folio_pte_batch_flags) && defined(CONFIG_X86_USER_SHADOW_STACK)
	KUNIT_CASE(findings_respect_write_shadow_stack),
#endif
	KUNIT_CASE(findings_first_entry_only),
	KUNIT_CASE(findings_set_ptes_step),
#ifdef CONFIG_ARM64_CONTPTE
	KUNIT_CASE(findings_contiguous_protnone),
#ifdef HAVE_modify_prot_start_ptes
	KUNIT_CASE(findings_fold_without_flush),
#endif
#endif
#ifdef CONFIG_X86_64
	/* Last, because of the threads that it may cost. */
	KUNIT_CASE(findings_nr_zero),
#endif
	{}
};

static void findings_exit(struct kunit_suite *suite)
{
	batch_table_exit(&singled);
	batch_table_exit(&batched);
	batch_env_exit(&env);
}

static int findings_init(struct kunit_suite *suite)
{
	if (batch_env_init(&env) || batch_table_init(&batched) ||
	    batch_table_init(&singled)) {
		findings_exit(suite);
		return -ENOMEM;
	}
	return 0;
}

static int findings_case_init(struct kunit *test)
{
	if (!env.folio)
		kunit_skip(test, "no memory for a folio as large as a table");
	return 0;
}

/* Not pte_batch*: whoever runs the suites does not want to lose threads. */
static struct kunit_suite findings_suite = {
	.name = "ptebatch_findings",
	.suite_init = findings_init,
	.suite_exit = findings_exit,
	.init = findings_case_init,
	.test_cases = findings_cases,
};

kunit_test_suite(findings_suite);
