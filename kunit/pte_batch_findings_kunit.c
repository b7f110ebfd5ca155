// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite: where a tree's own batched helpers leave something else than
 * the single-PTE loop does, or than their description says.
 *
 * Each case states one rule and prints one line, FINDING with what was seen or
 * CLEAN, and passes either way: which of the two is right for which tree is in
 * Documentation/upstream-findings.rst, and scripts/findings compares.
 *
 * A case fails if it cannot tell the two apart: each rule is first tried on the
 * single-PTE loop, which has to be clean, and on that loop with a fault planted
 * behind it, which has to be found.
 */
#ifdef CONFIG_X86_USER_SHADOW_STACK
#include <linux/cpufeature.h>

#ifdef _ASM_X86_PGTABLE_H
#error "too late to say what the processor can do"
#endif

/*
 * The emulated processor has no shadow stacks, and pte_write() asks it. The
 * helpers that are inline functions are compiled here as for one that has.
 */
static bool has_shadow_stacks = true;

static __always_inline bool pretended_feature(const u16 bit)
{
	if (bit == X86_FEATURE_SHSTK)
		return READ_ONCE(has_shadow_stacks);
	return boot_cpu_has(bit);
}

#undef cpu_feature_enabled
#define cpu_feature_enabled(bit)	pretended_feature(bit)
#endif

#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/pgtable.h>
#include <linux/sched/task.h>
#include <linux/vmalloc.h>

#include <asm/tlb.h>

#include "../../internal.h"
#ifdef HAVE_folio_pte_batch_header
#include <linux/folio_pte_batch.h>
#endif

#include "pte_batch_entry.h"

/* Seconds until a helper that does not come back is given up. */
#define PATIENCE	20

/* No rule needs more entries. */
#define MAX_NR		4

static struct batch_env env;
static struct batch_table table;
/* The table that the mm itself has, for what finds it from there. */
static pte_t *home;
static char text[2][ENTRY_TEXT];

/* The one line that scripts/findings looks for. */
#define verdict(test, shown, name, fmt, ...)				\
	kunit_info(test, "%s %s: " fmt "\n", (shown) ? "FINDING" : "CLEAN",	\
		   name, ##__VA_ARGS__)

/**
 * struct rule - what has to be the same as after the single-PTE loop
 * @name: name of the finding
 * @what: what the tree's own code is asked to do
 * @tree: does it to a range of entries
 * @single: does it to one entry at a time
 * @state: the part of an entry that is compared
 * @nr: number of entries
 * @bits: ENTRY_* flags of each
 * @vm_flags: flags of the VMA in addition to readable and writable
 * @home: whether it has to be the mm's own table
 */
struct rule {
	const char *name;
	const char *what;
	void (*tree)(pte_t *ptep, unsigned int nr);
	void (*single)(pte_t *ptep, unsigned int nr);
	bool (*state)(pte_t pte);
	unsigned int nr;
	unsigned int bits[MAX_NR];
	vm_flags_t vm_flags;
	bool home;
};

/* In struct rule's bits: writable shadow stack, which takes a VMA to make. */
#define ENTRY_SHADOW_STACK	BIT(31)

static void set_vm_flags(vm_flags_t flags)
{
	/* The VMA is in no tree and nobody else knows it: no lock. */
	vm_flags_init(env.vma, VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE |
			       flags);
}

static pte_t rule_entry(unsigned int page, unsigned int bits)
{
	pte_t pte = entry_build(&env, batch_pfn(&env, page),
				bits & ENTRY_ALL_BITS);

	if (bits & ENTRY_SHADOW_STACK) {
		set_vm_flags(VM_SHADOW_STACK);
		pte = pte_mkwrite(pte, env.vma);
		set_vm_flags(0);
	}
	return pte;
}

static void fill(pte_t *ptep, unsigned int nr, const unsigned int *bits)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		entry_set(&env, ptep, i, rule_entry(i, bits[i]));
}

static void clear(pte_t *ptep, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		entry_set(&env, ptep, i, __pte(0));
}

static void run(const struct rule *rule,
		void (*change)(pte_t *ptep, unsigned int nr), pte_t *result)
{
	pte_t *ptep = rule->home ? home : table.ptep;
	unsigned int i;

	fill(ptep, rule->nr, rule->bits);
	set_vm_flags(rule->vm_flags);
	change(ptep, rule->nr);
	set_vm_flags(0);
	for (i = 0; i < rule->nr; i++)
		result[i] = ptep_get(ptep + i);
	clear(ptep, rule->nr);
}

/* The first slot that is different; the number of slots if none is. */
static unsigned int first_difference(const struct rule *rule, const pte_t *a,
				     const pte_t *b)
{
	unsigned int i;

	for (i = 0; i < rule->nr; i++)
		if (rule->state(a[i]) != rule->state(b[i]))
			break;
	return i;
}

/*
 * The planted fault: the first entry, dirty and accessed if any is, is what
 * all get.
 */
static void plant(const struct rule *rule, pte_t *result)
{
	pte_t pte = result[0];
	unsigned int i;

	for (i = 1; i < rule->nr; i++) {
		if (pte_dirty(result[i]))
			pte = pte_mkdirty(pte);
		if (pte_young(result[i]))
			pte = pte_mkyoung(pte);
	}
	for (i = 0; i < rule->nr; i++)
		result[i] = pte_advance_pfn(pte, i);
}

static void judge(struct kunit *test, const struct rule *rule)
{
	pte_t want[MAX_NR], got[MAX_NR];
	unsigned int slot;

	run(rule, rule->single, want);
	run(rule, rule->single, got);
	KUNIT_ASSERT_EQ_MSG(test, first_difference(rule, got, want), rule->nr,
			    "%s: the single-PTE loop is not clean", rule->name);
	plant(rule, got);
	KUNIT_ASSERT_NE_MSG(test, first_difference(rule, got, want), rule->nr,
			    "%s: the planted fault is not seen", rule->name);

	run(rule, rule->tree, got);
	slot = first_difference(rule, got, want);
	if (slot == rule->nr)
		verdict(test, false, rule->name, "%s of %u entries: as one at a time",
			rule->what, rule->nr);
	else
		verdict(test, true, rule->name,
			"%s of %u entries leaves slot %u %s, one at a time %s",
			rule->what, rule->nr, slot,
			entry_text(text[0], got[slot]),
			entry_text(text[1], want[slot]));
}

static bool is_soft_dirty(pte_t pte)
{
	return pte_soft_dirty(pte);
}

static bool is_dirty(pte_t pte)
{
	return pte_dirty(pte);
}

static bool is_young(pte_t pte)
{
	return pte_young(pte);
}

static bool is_writable(pte_t pte)
{
	return pte_write(pte);
}

#ifdef CONFIG_X86_USER_SHADOW_STACK
/* To the hardware, Write=0 with Dirty=1 is writable shadow stack. */
static bool is_shadow_stack(pte_t pte)
{
	return (pte_val(pte) & (_PAGE_RW | _PAGE_DIRTY)) == _PAGE_DIRTY;
}
#endif

static void skip_without_soft_dirty(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_MEM_SOFT_DIRTY))
		kunit_skip(test, "no soft-dirty here");
}

#ifdef HAVE_modify_prot_start_ptes
#define PAIR	"modify_prot_start_ptes() and modify_prot_commit_ptes()"

/* Start and commit without a change. */
static void pair_tree(pte_t *ptep, unsigned int nr)
{
	pte_t pte;

	spin_lock(env.ptl);
	pte = modify_prot_start_ptes(env.vma, env.addr, ptep, nr);
	modify_prot_commit_ptes(env.vma, env.addr, ptep, pte, pte, nr);
	spin_unlock(env.ptl);
}

static void pair_single(pte_t *ptep, unsigned int nr)
{
	unsigned long addr = env.addr;
	pte_t pte;

	spin_lock(env.ptl);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte = ptep_modify_prot_start(env.vma, addr, ptep);
		ptep_modify_prot_commit(env.vma, addr, ptep, pte, pte);
	}
	spin_unlock(env.ptl);
}

/* Accessed and dirty of any are collected; soft-dirty is neither. */
static void findings_soft_dirty_spread(struct kunit *test)
{
	static const struct rule rule = {
		"soft-dirty-spread", PAIR, pair_tree, pair_single,
		is_soft_dirty, 2, {
			ENTRY_WRITE | ENTRY_YOUNG,
			ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY,
		},
	};

	skip_without_soft_dirty(test);
	judge(test, &rule);
}

/* By contract: it is what the description of the pair says. */
static void findings_dirty_spread(struct kunit *test)
{
	static const struct rule rule = {
		"dirty-spread", PAIR, pair_tree, pair_single, is_dirty, 2, {
			ENTRY_WRITE | ENTRY_YOUNG,
			ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY,
		},
	};

	judge(test, &rule);
}

static void findings_accessed_spread(struct kunit *test)
{
	static const struct rule rule = {
		"accessed-spread", PAIR, pair_tree, pair_single, is_young, 2,
		{ ENTRY_WRITE, ENTRY_WRITE | ENTRY_YOUNG },
	};

	judge(test, &rule);
}

/*
 * The description of modify_prot_start_ptes() allows bits to differ in one
 * sentence and forbids it in another. This is the difference that it makes.
 */
static void findings_write_spread(struct kunit *test)
{
	static const struct rule rule = {
		"write-spread", PAIR, pair_tree, pair_single, is_writable, 2, {
			ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY,
			ENTRY_YOUNG | ENTRY_DIRTY,
		},
	};

	judge(test, &rule);
}

#ifdef CONFIG_X86_USER_SHADOW_STACK
/* Two pages of writable shadow stack, and nothing is to be changed. */
static void findings_shadow_stack_demotion(struct kunit *test)
{
	static const struct rule rule = {
		"shadow-stack-demotion", PAIR, pair_tree, pair_single,
		is_shadow_stack, 2, {
			ENTRY_YOUNG | ENTRY_SHADOW_STACK,
			ENTRY_YOUNG | ENTRY_SHADOW_STACK,
		},
	};

	judge(test, &rule);
}
#endif
#endif /* HAVE_modify_prot_start_ptes */

#define MOVE	"get_and_clear_full_ptes() and set_ptes()"

/* Taken out and put back, as after an unmap that did not work out. */
static void move_tree(pte_t *ptep, unsigned int nr)
{
	pte_t pte;

	spin_lock(env.ptl);
	pte = get_and_clear_full_ptes(env.mm, env.addr, ptep, nr, 0);
	set_ptes(env.mm, env.addr, ptep, pte, nr);
	spin_unlock(env.ptl);
}

static void move_single(pte_t *ptep, unsigned int nr)
{
	unsigned long addr = env.addr;
	pte_t pte;

	spin_lock(env.ptl);
	for (; nr; nr--, ptep++, addr += PAGE_SIZE) {
		pte = ptep_get_and_clear(env.mm, addr, ptep);
		set_pte_at(env.mm, addr, ptep, pte);
	}
	spin_unlock(env.ptl);
}

/* By contract: of later entries, only accessed and dirty are returned. */
static void findings_first_entry_only(struct kunit *test)
{
	static const struct rule rule = {
		"first-entry-only", MOVE, move_tree, move_single,
		is_writable, 2, {
			ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY,
			ENTRY_YOUNG | ENTRY_DIRTY,
		},
	};

	judge(test, &rule);
}

/* Soft-dirty is neither accessed nor dirty, and none of the entries has it. */
static void findings_soft_dirty_collected(struct kunit *test)
{
	static const struct rule rule = {
		"soft-dirty-collected", MOVE, move_tree, move_single,
		is_soft_dirty, 2, { ENTRY_YOUNG, ENTRY_YOUNG | ENTRY_DIRTY },
	};

	skip_without_soft_dirty(test);
	judge(test, &rule);
}

#ifdef CONFIG_X86_USER_SHADOW_STACK
static void findings_shadow_stack_collected(struct kunit *test)
{
	static const struct rule rule = {
		"shadow-stack-collected", MOVE, move_tree, move_single,
		is_shadow_stack, 2, {
			ENTRY_YOUNG | ENTRY_SHADOW_STACK,
			ENTRY_YOUNG | ENTRY_SHADOW_STACK,
		},
	};

	judge(test, &rule);
}
#endif

/*
 * mprotect: the same function for the whole range, and for one page at a time,
 * which leaves no room for a batch.
 */
#define MPROTECT	"change_protection()"

static void protect(unsigned long start, unsigned long size)
{
	struct mmu_gather tlb;

	mmap_write_lock(env.mm);
	tlb_gather_mmu(&tlb, env.mm);
	change_protection(&tlb, env.vma, start, start + size,
			  MM_CP_TRY_CHANGE_WRITABLE);
	tlb_finish_mmu(&tlb);
	mmap_write_unlock(env.mm);
}

static void protect_tree(pte_t *ptep, unsigned int nr)
{
	protect(env.addr, nr * PAGE_SIZE);
}

static void protect_single(pte_t *ptep, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		protect(batch_addr(&env, i), PAGE_SIZE);
}

static void findings_mprotect_dirty(struct kunit *test)
{
	static const struct rule rule = {
		"mprotect-dirty", MPROTECT, protect_tree, protect_single,
		is_dirty, 2, { ENTRY_YOUNG, ENTRY_YOUNG | ENTRY_DIRTY },
		.home = true,
	};

	judge(test, &rule);
}

static void findings_mprotect_soft_dirty(struct kunit *test)
{
	static const struct rule rule = {
		"mprotect-soft-dirty", MPROTECT, protect_tree, protect_single,
		is_soft_dirty, 2, { ENTRY_YOUNG, ENTRY_YOUNG | ENTRY_DIRTY },
		.home = true,
	};

	skip_without_soft_dirty(test);
	judge(test, &rule);
}

/*
 * Shared file mapping whose file system is told of each page's first write: a
 * clean page has to take that fault.
 */
static void findings_mprotect_shared_write(struct kunit *test)
{
	static const struct rule rule = {
		"mprotect-shared-write", MPROTECT, protect_tree, protect_single,
		is_writable, 2, { ENTRY_YOUNG, ENTRY_YOUNG | ENTRY_DIRTY },
		/* VM_SOFTDIRTY: nobody asks for write faults. */
		.vm_flags = VM_SHARED | VM_MAYSHARE | VM_SOFTDIRTY,
		.home = true,
	};

	judge(test, &rule);
}

#ifdef CONFIG_X86_USER_SHADOW_STACK
/* A page that is not ours alone, next to one that is. */
static void findings_mprotect_shadow_stack(struct kunit *test)
{
	static const struct rule rule = {
		"mprotect-shadow-stack", MPROTECT, protect_tree, protect_single,
		is_shadow_stack, 2,
		{ ENTRY_YOUNG | ENTRY_SHADOW_STACK, ENTRY_YOUNG },
		.vm_flags = VM_SHADOW_STACK | VM_SOFTDIRTY,
		.home = true,
	};

	judge(test, &rule);
}
#endif

#ifdef HAVE_folio_pte_batch_flags
/*
 * Detection: the number of entries that are found to be a batch, and what is
 * merged into the copy of the first.
 */
typedef unsigned int (*detect_t)(pte_t *ptep, pte_t *pte, unsigned int max_nr,
				 fpb_t flags);

static unsigned int detect_tree(pte_t *ptep, pte_t *pte, unsigned int max_nr,
				fpb_t flags)
{
	return folio_pte_batch_flags(env.folio, env.vma, ptep, pte, max_nr,
				     flags);
}

/* Nothing but what the flags say, bit by bit; all entries map the folio. */
static unsigned int detect_single(pte_t *ptep, pte_t *pte, unsigned int max_nr,
				  fpb_t flags)
{
	const pte_t first = *pte;
	unsigned int nr;
	bool dirty = false;
	pte_t next;

	for (nr = 1; nr < max_nr; nr++) {
		next = ptep_get(ptep + nr);
		if (!pte_present(next) ||
		    pte_pfn(next) != pte_pfn(first) + nr ||
		    pte_protnone(next) != pte_protnone(first))
			break;
		if ((flags & FPB_RESPECT_WRITE) &&
		    pte_write(next) != pte_write(first))
			break;
		dirty |= pte_dirty(next);
	}
	if ((flags & FPB_MERGE_YOUNG_DIRTY) && dirty && !pte_dirty(first))
		*pte = pte_soft_dirty(first) ? pte_mkdirty(first) :
			pte_clear_soft_dirty(pte_mkdirty(first));
	return nr;
}

/* The frame's place, taken for its number: x86 inverts it in PROT_NONE. */
static unsigned long raw_frame(pte_t pte)
{
#ifdef CONFIG_X86
	return (pte_val(pte) & PTE_PFN_MASK) >> PAGE_SHIFT;
#else
	return pte_pfn(pte);
#endif
}

/* Looks at nothing but frames, and merges without care. */
static unsigned int detect_planted(pte_t *ptep, pte_t *pte, unsigned int max_nr,
				   fpb_t flags)
{
	const pte_t first = *pte;
	unsigned int nr;

	for (nr = 1; nr < max_nr; nr++) {
		if (raw_frame(ptep_get(ptep + nr)) != raw_frame(first) + nr)
			break;
		if (pte_dirty(ptep_get(ptep + nr)))
			*pte = pte_mkdirty(*pte);
	}
	return nr;
}

/**
 * struct detect_rule - what detection has to find
 * @name: name of the finding
 * @what: what is detected, for the message
 * @flags: how
 * @nr: number of entries
 * @bits: ENTRY_* flags of each
 * @want: the length of the batch; zero if any is right
 * @keep: what may not change in the copy, or NULL
 */
struct detect_rule {
	const char *name;
	const char *what;
	fpb_t flags;
	unsigned int nr;
	unsigned int bits[MAX_NR];
	unsigned int want;
	bool (*keep)(pte_t pte);
};

static bool detects(const struct detect_rule *rule, detect_t detect)
{
	unsigned int nr;
	pte_t pte, copy;

	batch_table_fill(&env, &table);
	fill(table.ptep, rule->nr, rule->bits);
	pte = ptep_get(table.ptep);
	copy = pte;
	nr = detect(table.ptep, &copy, rule->nr, rule->flags);
	scnprintf(text[0], ENTRY_TEXT, "length %u, first entry %#llx, then %#llx",
		  nr, entry_raw(pte), entry_raw(copy));
	return (!rule->want || nr == rule->want) &&
	       (!rule->keep || rule->keep(pte) == rule->keep(copy));
}

static void judge_detection(struct kunit *test, const struct detect_rule *rule)
{
	bool clean;

	KUNIT_ASSERT_TRUE_MSG(test, detects(rule, detect_single),
			      "%s: the single-PTE loop is not clean: %s",
			      rule->name, text[0]);
	KUNIT_ASSERT_FALSE_MSG(test, detects(rule, detect_planted),
			       "%s: the planted fault is not seen: %s",
			       rule->name, text[0]);
	clean = detects(rule, detect_tree);
	verdict(test, !clean, rule->name, "folio_pte_batch_flags(%s: %s",
		rule->what, text[0]);
}

/* Merged are accessed and dirty; soft-dirty is neither. */
static void findings_merge_soft_dirty(struct kunit *test)
{
	static const struct detect_rule rule = {
		"merge-soft-dirty", "FPB_MERGE_YOUNG_DIRTY) of clean and dirty",
		FPB_MERGE_YOUNG_DIRTY, 2,
		{ ENTRY_YOUNG, ENTRY_YOUNG | ENTRY_DIRTY }, 2, is_soft_dirty,
	};

	skip_without_soft_dirty(test);
	judge_detection(test, &rule);
}

#ifdef CONFIG_X86_USER_SHADOW_STACK
/* FPB_RESPECT_WRITE: writable and read-only entries are no batch. */
static void findings_respect_write_shadow_stack(struct kunit *test)
{
	static const struct detect_rule rule = {
		"respect-write-shadow-stack",
		"FPB_RESPECT_WRITE) of writable shadow stack and read-only",
		FPB_RESPECT_WRITE, 2,
		{ ENTRY_YOUNG | ENTRY_SHADOW_STACK, ENTRY_YOUNG }, 1, NULL,
	};

	judge_detection(test, &rule);
}

static void findings_merge_shadow_stack(struct kunit *test)
{
	static const struct detect_rule rule = {
		"merge-shadow-stack",
		"FPB_MERGE_YOUNG_DIRTY) of writable shadow stack",
		FPB_MERGE_YOUNG_DIRTY, 2, {
			ENTRY_YOUNG | ENTRY_SHADOW_STACK,
			ENTRY_YOUNG | ENTRY_SHADOW_STACK,
		}, 0, is_shadow_stack,
	};

	judge_detection(test, &rule);
}
#endif

#ifdef CONFIG_X86
/* Frames of PROT_NONE entries are stored inverted and go down. */
static void findings_protnone_batch(struct kunit *test)
{
	static const struct detect_rule rule = {
		"protnone-batch", "0) of PROT_NONE", (__force fpb_t)0, 4, {
			ENTRY_PROTNONE | ENTRY_YOUNG,
			ENTRY_PROTNONE | ENTRY_YOUNG,
			ENTRY_PROTNONE | ENTRY_YOUNG,
			ENTRY_PROTNONE | ENTRY_YOUNG,
		}, 4, NULL,
	};

	judge_detection(test, &rule);
}
#endif
#endif /* HAVE_folio_pte_batch_flags */

/* The frame goes up by one from entry to entry. */
typedef void (*set_t)(pte_t *ptep, pte_t pte, unsigned int nr);

static void set_tree(pte_t *ptep, pte_t pte, unsigned int nr)
{
	set_ptes(env.mm, env.addr, ptep, pte, nr);
}

static void set_single(pte_t *ptep, pte_t pte, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		set_pte_at(env.mm, batch_addr(&env, i), ptep + i,
			   pte_advance_pfn(pte, i));
}

/* The remaining number of entries added to the frame, in the entry's bits. */
static void set_planted(pte_t *ptep, pte_t pte, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		set_pte_at(env.mm, batch_addr(&env, i), ptep + i, pte);
		pte = pte_advance_pfn(pte, nr - i - 1);
	}
}

/* Returns the first slot with a wrong frame, or MAX_NR. */
static unsigned int wrong_step(set_t set, unsigned int bits)
{
	pte_t pte = entry_build(&env, batch_pfn(&env, 0), bits);
	unsigned int i;

	clear(table.ptep, MAX_NR);
	spin_lock(env.ptl);
	set(table.ptep, pte, MAX_NR);
	spin_unlock(env.ptl);
	for (i = 0; i < MAX_NR; i++)
		if (pte_pfn(ptep_get(table.ptep + i)) != batch_pfn(&env, i))
			break;
	return i;
}

static void judge_step(struct kunit *test, const char *name, unsigned int bits)
{
	unsigned int slot;

	KUNIT_ASSERT_EQ(test, wrong_step(set_single, bits), MAX_NR);
	KUNIT_ASSERT_NE(test, wrong_step(set_planted, bits), MAX_NR);
	slot = wrong_step(set_tree, bits);
	if (slot == MAX_NR)
		verdict(test, false, name, "set_ptes() of %u entries: each maps its page",
			MAX_NR);
	else
		verdict(test, true, name,
			"set_ptes() of %u entries maps page %ld in slot %u",
			MAX_NR,
			(long)(pte_pfn(ptep_get(table.ptep + slot)) -
			       batch_pfn(&env, 0)), slot);
}

static void findings_set_ptes_step(struct kunit *test)
{
	judge_step(test, "set-ptes-step", ENTRY_YOUNG);
}

static void findings_set_ptes_protnone(struct kunit *test)
{
	judge_step(test, "set-ptes-protnone", ENTRY_PROTNONE | ENTRY_YOUNG);
}

#ifdef CONFIG_ARM64_CONTPTE
static unsigned int count_contiguous(unsigned int nr)
{
	unsigned int i, found = 0;

	for (i = 0; i < nr; i++)
		found += !!pte_cont(__ptep_get(table.ptep + i));
	return found;
}

static void clear_block(void)
{
	batch_table_fill(&env, &table);
	clear(table.ptep, CONT_PTES);
}

/* An entry that is not valid has no contiguous bit: those bits are software's. */
static void findings_contiguous_protnone(struct kunit *test)
{
	pte_t pte = entry_build(&env, batch_pfn(&env, 0),
				ENTRY_PROTNONE | ENTRY_YOUNG);
	unsigned int found;

	clear_block();
	spin_lock(env.ptl);
	set_ptes(env.mm, env.addr, table.ptep, pte, CONT_PTES);
	found = count_contiguous(CONT_PTES);
	memset(table.ptep, 0, CONT_PTES * sizeof(pte_t));
	spin_unlock(env.ptl);
	verdict(test, found, "contiguous-protnone",
		"set_ptes() gives the contiguous bit to %u of %u PROT_NONE entries",
		found, (unsigned int)CONT_PTES);
}

#ifdef HAVE_folio_pte_batch_flags
/* A hint goes to the end of the block, whatever the caller has left. */
static void findings_hint_beyond_range(struct kunit *test)
{
	unsigned int hint, nr;
	pte_t pte;

	clear_block();
	spin_lock(env.ptl);
	set_ptes(env.mm, env.addr, table.ptep,
		 entry_build(&env, batch_pfn(&env, 0), ENTRY_YOUNG), CONT_PTES);
	spin_unlock(env.ptl);
	pte = ptep_get(table.ptep);
	hint = pte_batch_hint(table.ptep, pte);
	KUNIT_ASSERT_EQ(test, hint, CONT_PTES);
	nr = detect_tree(table.ptep, &pte, 3, (__force fpb_t)0);
	verdict(test, nr > 3, "hint-beyond-range",
		"folio_pte_batch_flags() of at most 3 entries, with a hint of %u, finds %u",
		hint, nr);
	clear(table.ptep, CONT_PTES);
}
#endif

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
		entry_set(&env, table.ptep, i,
			  entry_build(&env, batch_pfn(&env, i),
				      ENTRY_YOUNG | ENTRY_DIRTY));
	KUNIT_ASSERT_EQ(test, count_contiguous(CONT_PTES), 0);
	KUNIT_ASSERT_EQ(test, mmu_notifier_register(&mn, env.mm), 0);
	spin_lock(env.ptl);
	nr_flushes = 0;
	pte = modify_prot_start_ptes(env.vma, env.addr, table.ptep,
				     CONT_PTES);
	modify_prot_commit_ptes(env.vma, env.addr, table.ptep, pte, pte,
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
	void (*call)(pte_t *ptep, unsigned int nr);
	pte_t *ptep;
	bool returned;
};

static void none_planted(pte_t *ptep, unsigned int nr)
{
	do {
		ptep_get_and_clear(env.mm, env.addr, ptep++);
	} while (--nr);
}

static void none_set_ptes(pte_t *ptep, unsigned int nr)
{
	set_tree(ptep, entry_build(&env, batch_pfn(&env, 0), ENTRY_YOUNG), nr);
}

static void none_wrprotect_ptes(pte_t *ptep, unsigned int nr)
{
	wrprotect_ptes(env.mm, env.addr, ptep, nr);
}

static void none_get_and_clear_full_ptes(pte_t *ptep, unsigned int nr)
{
	get_and_clear_full_ptes(env.mm, env.addr, ptep, nr, 0);
}

static void none_clear_full_ptes(pte_t *ptep, unsigned int nr)
{
	clear_full_ptes(env.mm, env.addr, ptep, nr, 0);
}

static void none_clear_young_dirty_ptes(pte_t *ptep, unsigned int nr)
{
	clear_young_dirty_ptes(env.vma, env.addr, ptep, nr, CYDP_CLEAR_YOUNG);
}

#ifdef HAVE_test_and_clear_young_ptes
static void none_test_and_clear_young_ptes(pte_t *ptep, unsigned int nr)
{
	test_and_clear_young_ptes(env.vma, env.addr, ptep, nr);
}
#endif

#ifdef HAVE_clear_flush_young_ptes
static void none_clear_flush_young_ptes(pte_t *ptep, unsigned int nr)
{
	clear_flush_young_ptes(env.vma, env.addr, ptep, nr);
}
#endif

#ifdef HAVE_clear_nonpresent_ptes
static void none_clear_nonpresent_ptes(pte_t *ptep, unsigned int nr)
{
	clear_nonpresent_ptes(env.mm, env.addr, ptep, nr);
}
#endif

#ifdef HAVE_clear_not_present_full_ptes
static void none_clear_not_present_full_ptes(pte_t *ptep, unsigned int nr)
{
	clear_not_present_full_ptes(env.mm, env.addr, ptep, nr, 0);
}
#endif

#ifdef HAVE_modify_prot_start_ptes
static void none_modify_prot_start_ptes(pte_t *ptep, unsigned int nr)
{
	modify_prot_start_ptes(env.vma, env.addr, ptep, nr);
}

static void none_modify_prot_commit_ptes(pte_t *ptep, unsigned int nr)
{
	pte_t pte = entry_build(&env, batch_pfn(&env, 0), ENTRY_YOUNG);

	modify_prot_commit_ptes(env.vma, env.addr, ptep, pte, pte, nr);
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
#ifdef HAVE_clear_flush_young_ptes
	{ "clear_flush_young_ptes", none_clear_flush_young_ptes },
#endif
#ifdef HAVE_clear_nonpresent_ptes
	{ "clear_nonpresent_ptes", none_clear_nonpresent_ptes },
#endif
#ifdef HAVE_clear_not_present_full_ptes
	{ "clear_not_present_full_ptes", none_clear_not_present_full_ptes },
#endif
#ifdef HAVE_modify_prot_start_ptes
	{ "modify_prot_start_ptes", none_modify_prot_start_ptes },
	{ "modify_prot_commit_ptes", none_modify_prot_commit_ptes },
#endif
};

static int none_thread(void *data)
{
	struct none *none = data;
	unsigned int nr = 0;

	/* Not a constant: what is tried is the helper as compiled for any nr. */
	OPTIMIZER_HIDE_VAR(nr);
	none->call(none->ptep, nr);
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
	for (ms = 0; ms < PATIENCE * 1000 && !READ_ONCE(thread->exit_state);
	     ms += 20)
		msleep(20);
	put_task_struct(thread);
	return none->returned;
}

static void findings_nr_zero(struct kunit *test)
{
	struct none single = { .call = move_single };
	struct none planted = { .call = none_planted };
	unsigned int i;
	pte_t *ptep;
	char name[48];
	bool returns;

	/*
	 * A mapping from vmalloc() ends with a page that is not there. It stays:
	 * who touches it last is not known.
	 */
	ptep = vzalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, ptep);
	single.ptep = ptep;
	KUNIT_ASSERT_TRUE(test, none_returns(test, &single));
	planted.ptep = ptep;
	KUNIT_ASSERT_FALSE(test, none_returns(test, &planted));

	for (i = 0; i < ARRAY_SIZE(nones); i++) {
		nones[i].ptep = ptep;
		returns = none_returns(test, nones + i);
		scnprintf(name, sizeof(name), "nr-zero-%s", nones[i].name);
		verdict(test, !returns, name, "%s() of no entries %s",
			nones[i].name, returns ? "returns" :
			"runs past the end of the table");
	}
}
#endif

static struct kunit_case findings_cases[] = {
#ifdef HAVE_modify_prot_start_ptes
	KUNIT_CASE(findings_soft_dirty_spread),
	KUNIT_CASE(findings_dirty_spread),
	KUNIT_CASE(findings_accessed_spread),
	KUNIT_CASE(findings_write_spread),
#ifdef CONFIG_X86_USER_SHADOW_STACK
	KUNIT_CASE(findings_shadow_stack_demotion),
#endif
#endif
	KUNIT_CASE(findings_first_entry_only),
	KUNIT_CASE(findings_soft_dirty_collected),
	KUNIT_CASE(findings_mprotect_dirty),
	KUNIT_CASE(findings_mprotect_soft_dirty),
	KUNIT_CASE(findings_mprotect_shared_write),
#ifdef CONFIG_X86_USER_SHADOW_STACK
	KUNIT_CASE(findings_shadow_stack_collected),
	KUNIT_CASE(findings_mprotect_shadow_stack),
#endif
#ifdef HAVE_folio_pte_batch_flags
	KUNIT_CASE(findings_merge_soft_dirty),
#ifdef CONFIG_X86_USER_SHADOW_STACK
	KUNIT_CASE(findings_respect_write_shadow_stack),
	KUNIT_CASE(findings_merge_shadow_stack),
#endif
#ifdef CONFIG_X86
	KUNIT_CASE(findings_protnone_batch),
#endif
#endif
	KUNIT_CASE(findings_set_ptes_step),
	KUNIT_CASE(findings_set_ptes_protnone),
#ifdef CONFIG_ARM64_CONTPTE
	KUNIT_CASE(findings_contiguous_protnone),
#ifdef HAVE_folio_pte_batch_flags
	KUNIT_CASE(findings_hint_beyond_range),
#endif
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
	batch_table_exit(&table);
	batch_env_exit(&env);
}

static int findings_init(struct kunit_suite *suite)
{
	if (batch_env_init(&env) || batch_table_init(&table)) {
		findings_exit(suite);
		return -ENOMEM;
	}
	/* It stays where it is as long as the mm does; no entry, no lock. */
	home = get_locked_pte(env.mm, env.addr, &env.ptl);
	if (!home) {
		findings_exit(suite);
		return -ENOMEM;
	}
	pte_unmap_unlock(home, env.ptl);
	return 0;
}

static int findings_case_init(struct kunit *test)
{
	if (!env.folio)
		kunit_skip(test, "no memory for a folio as large as a table");
	batch_table_fill(&env, &table);
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
