// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite: what only x86 entries have, under batched helpers: shadow stacks
 * and the saved dirty bit, inverted frames, protection keys, the encryption
 * bit, and a page walker that sets accessed and dirty meanwhile.
 *
 * The helpers are inline functions, so this file can have them compiled as on
 * a processor and a machine that the emulator is not: one with shadow stacks,
 * whose memory encryption takes bit 51 of the frame. Values are judged by their
 * raw bits, because functions of the kernel itself know the real machine only.
 */
#include <linux/cpufeature.h>
#include <asm/coco.h>
#include <asm/page_types.h>

#ifdef _ASM_X86_PGTABLE_H
#error "too late to say what the machine can do"
#endif

#ifdef CONFIG_X86_64
#define ENCRYPTION_BIT	BIT_ULL(51)

/* With what is written here for a value, the compiler would drop branches. */
static bool has_shadow_stacks = true;
static u64 encryption_mask __maybe_unused = ENCRYPTION_BIT;

static __always_inline bool pretended_feature(const u16 bit)
{
	if (bit == X86_FEATURE_SHSTK)
		return READ_ONCE(has_shadow_stacks);
	return boot_cpu_has(bit);
}

#undef cpu_feature_enabled
#define cpu_feature_enabled(bit)	pretended_feature(bit)
#define cc_mask			READ_ONCE(encryption_mask)
#define cc_get_mask()		READ_ONCE(encryption_mask)
#undef __PHYSICAL_MASK
#define __PHYSICAL_MASK		((phys_addr_t)(ENCRYPTION_BIT - 1))
#endif

#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/prandom.h>

#include "pte_batch_entry.h"

#define NR_ENTRIES	64

/* The suite's own mm and table. */
static struct batch_env env;
static struct batch_table table;

static __maybe_unused pteval_t raw(unsigned int slot)
{
	return pte_val(READ_ONCE(table.ptep[slot]));
}

static __maybe_unused void set_raw(unsigned int slot, pteval_t val)
{
	native_set_pte(table.ptep + slot, __pte(val));
}

static __maybe_unused unsigned long nth_addr(unsigned int slot)
{
	return batch_addr(&env, slot);
}

static __maybe_unused unsigned long nth_pfn(unsigned int slot)
{
	return batch_pfn(&env, slot);
}

#ifdef HAVE_modify_prot_ptes
/* Whatever a helper is told to do, by calls as long as it wants them. */
static void modify_prot(unsigned int slot, unsigned int nr, pgprot_t prot,
			modprot_t flags)
{
	pte_t old = __pte(0), new = __pte(0);
	unsigned int end = slot + nr;

	for (; slot < end; slot += nr) {
		nr = modify_prot_ptes(env.vma, nth_addr(slot),
				      table.ptep + slot, end - slot, prot,
				      flags, &old, &new);
		/* Another suite says that this is wrong. */
		if (!nr || nr > end - slot)
			return;
	}
}

/* Frames in no order: what one entry's flags say holds for the next frame. */
static unsigned long shuffled_pfn(unsigned int slot)
{
	return nth_pfn((slot * 37 + 5) % NR_ENTRIES);
}

static pteval_t frame_bits(unsigned int slot)
{
	return raw(slot) & PTE_PFN_MASK;
}

static void check_inverted(struct kunit *test, bool shuffled)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++)
		entry_set(&env, table.ptep, i,
			  entry_build(&env, shuffled ? shuffled_pfn(i) :
						       nth_pfn(i),
				      ENTRY_WRITE | ENTRY_YOUNG));
	modify_prot(0, NR_ENTRIES, vm_get_page_prot(VM_NONE), MODPROT_NONE);
	for (i = 0; i < NR_ENTRIES; i++) {
		unsigned long pfn = shuffled ? shuffled_pfn(i) : nth_pfn(i);
		pteval_t frame = (pteval_t)pfn << PAGE_SHIFT;

		KUNIT_ASSERT_EQ(test, pte_pfn(__pte(raw(i))), pfn);
		KUNIT_ASSERT_EQ(test, frame_bits(i), ~frame & PTE_PFN_MASK);
		KUNIT_ASSERT_EQ(test, pte_pfn(pte_advance_pfn(__pte(raw(0)), i)),
				pte_pfn(__pte(raw(0))) + i);
	}
	modify_prot(0, NR_ENTRIES, vm_get_page_prot(VM_READ), MODPROT_NONE);
	for (i = 0; i < NR_ENTRIES; i++)
		KUNIT_ASSERT_EQ(test, frame_bits(i) >> PAGE_SHIFT,
				shuffled ? shuffled_pfn(i) : nth_pfn(i));
}

/*
 * A08: an entry without access holds its frame inverted, against L1TF, on
 * processors with the bug and without: a step up is a step down of the value.
 */
static void protnone_frames_are_inverted(struct kunit *test)
{
	if (CONFIG_PGTABLE_LEVELS == 2)
		kunit_skip(test, "two-level tables invert nothing");
	kunit_info(test, "this processor has%s L1TF\n",
		   boot_cpu_has_bug(X86_BUG_L1TF) ? "" : " no");
	check_inverted(test, false);
	check_inverted(test, true);
}
#endif

#if defined(CONFIG_X86_64) && defined(HAVE_modify_prot_ptes)
/* What the kernel calls dirty, wherever it keeps it. */
#define ANY_DIRTY	(_PAGE_DIRTY | _PAGE_SAVED_DIRTY)

/**
 * struct op - a helper and how it is called
 * @name: name of the helper
 * @call: calls it for entries of the table
 */
struct op {
	const char *name;
	void (*call)(unsigned int slot, unsigned int nr);
};

#define OP_SET_ACCESS(name, flags)					\
static void do_##name(unsigned int slot, unsigned int nr)		\
{									\
	set_access_flags_ptes(env.vma, nth_addr(slot),			\
			      table.ptep + slot, nr, flags);		\
}

#define OP_CLEAR(name, flags)						\
static void do_##name(unsigned int slot, unsigned int nr)		\
{									\
	clear_young_dirty_ptes(env.vma, nth_addr(slot),			\
			       table.ptep + slot, nr, flags);		\
}

#define OP_MODIFY(name, access, flags)					\
static void do_##name(unsigned int slot, unsigned int nr)		\
{									\
	modify_prot(slot, nr, vm_get_page_prot(access), flags);		\
}

OP_SET_ACCESS(set_young, SAF_YOUNG)
OP_SET_ACCESS(set_dirty, SAF_DIRTY)
OP_SET_ACCESS(set_young_dirty, SAF_YOUNG | SAF_DIRTY)
OP_SET_ACCESS(set_write, SAF_WRITE)
OP_SET_ACCESS(set_all, SAF_YOUNG | SAF_DIRTY | SAF_WRITE)
OP_CLEAR(clear_young, CYDP_CLEAR_YOUNG)
OP_CLEAR(clear_dirty, CYDP_CLEAR_DIRTY)
OP_CLEAR(clear_young_dirty, CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY)
OP_MODIFY(modify_read, VM_READ, MODPROT_NONE)
OP_MODIFY(modify_none, VM_NONE, MODPROT_NONE)
OP_MODIFY(modify_shared, VM_READ | VM_WRITE | VM_SHARED, MODPROT_NONE)
OP_MODIFY(modify_mkwrite, VM_READ, MODPROT_MKWRITE)
OP_MODIFY(modify_mkwrite_dirty, VM_READ, MODPROT_MKWRITE_DIRTY)
OP_MODIFY(modify_mkyoung, VM_READ, MODPROT_MKYOUNG)
OP_MODIFY(modify_uffd_wp, VM_READ, MODPROT_UFFD_WP)

static void do_wrprotect(unsigned int slot, unsigned int nr)
{
	wrprotect_ptes(env.mm, nth_addr(slot), table.ptep + slot, nr);
}

static void do_start_commit(unsigned int slot, unsigned int nr)
{
	pte_t old = modify_prot_start_ptes(env.vma, nth_addr(slot),
					   table.ptep + slot, nr);

	modify_prot_commit_ptes(env.vma, nth_addr(slot), table.ptep + slot, old,
				pte_modify(old, vm_get_page_prot(VM_READ)), nr);
}

static const struct op ops[] = {
	{ "wrprotect_ptes", do_wrprotect },
	{ "modify_prot_start_ptes, modify_prot_commit_ptes", do_start_commit },
	{ "set_access_flags_ptes, young", do_set_young },
	{ "set_access_flags_ptes, dirty", do_set_dirty },
	{ "set_access_flags_ptes, young dirty", do_set_young_dirty },
	{ "set_access_flags_ptes, write", do_set_write },
	{ "set_access_flags_ptes, young dirty write", do_set_all },
	{ "clear_young_dirty_ptes, young", do_clear_young },
	{ "clear_young_dirty_ptes, dirty", do_clear_dirty },
	{ "clear_young_dirty_ptes, young dirty", do_clear_young_dirty },
	{ "modify_prot_ptes, read", do_modify_read },
	{ "modify_prot_ptes, none", do_modify_none },
	{ "modify_prot_ptes, shared", do_modify_shared },
	{ "modify_prot_ptes, make writable", do_modify_mkwrite },
	{ "modify_prot_ptes, make writable if dirty", do_modify_mkwrite_dirty },
	{ "modify_prot_ptes, make young", do_modify_mkyoung },
	{ "modify_prot_ptes, uffd-wp", do_modify_uffd_wp },
};

static void op_desc(const struct op *op, char *desc)
{
	strscpy(desc, op->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(op, ops, op_desc);

/* What the kernel made of an entry that is no shadow stack's. */
static pteval_t ordinary(unsigned int slot, unsigned int bits)
{
	return pte_val(entry_build(&env, nth_pfn(slot), entry_fix_bits(bits)));
}

/* Write=0, Dirty=1 as the hardware sees it: writable as a shadow stack. */
static pteval_t shadow_stack(unsigned int slot, bool young)
{
	return ordinary(slot, young ? ENTRY_YOUNG : 0) | _PAGE_DIRTY;
}

static bool is_shadow_stack(pteval_t val)
{
	return (val & (_PAGE_RW | _PAGE_DIRTY)) == _PAGE_DIRTY;
}

/* All sets of bits, in runs of @len alike. */
static void fill_ordinary(unsigned int len)
{
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++)
		set_raw(i, ordinary(i % NR_ENTRIES,
				    (i / len) & ENTRY_ALL_BITS));
}

static void expect_no_shadow_stack(struct kunit *test, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++) {
		if (!is_shadow_stack(raw(i)))
			continue;
		KUNIT_FAIL(test, "runs of %u: slot %u has become %#llx", len, i,
			   (u64)raw(i));
		return;
	}
}

/* C09: read-only and dirty at once is what a shadow stack looks like. */
static void shadow_stack_is_never_made_by_accident(struct kunit *test)
{
	const struct op *op = test->param_value;
	unsigned int len;

	for (len = 1; len <= 4; len++) {
		fill_ordinary(len);
		op->call(0, PTRS_PER_PTE);
		expect_no_shadow_stack(test, len);
	}
}

/* Dirty may change its place, but it does not get lost or appear. */
static void saved_dirty_follows_the_write_bit(struct kunit *test)
{
	static void (*const calls[])(unsigned int slot, unsigned int nr) = {
		do_wrprotect, do_modify_read, do_modify_none,
		do_modify_mkwrite, do_set_write, do_modify_uffd_wp,
	};
	unsigned int i, call;

	for (call = 0; call < ARRAY_SIZE(calls); call++) {
		fill_ordinary(3);
		calls[call](0, PTRS_PER_PTE);
		for (i = 0; i < PTRS_PER_PTE; i++) {
			bool was = (i / 3) & ENTRY_DIRTY;
			pteval_t now = raw(i) & ANY_DIRTY;

			if (now != (!was ? 0 : raw(i) & _PAGE_RW ?
				    _PAGE_DIRTY : _PAGE_SAVED_DIRTY)) {
				KUNIT_FAIL(test, "helper %u: slot %u was%s dirty, is %#llx",
					   call, i, was ? "" : " not",
					   (u64)raw(i));
				break;
			}
		}
	}
}

/* These take no right away, so a shadow stack stays what it is. */
static const struct op keeping_ops[] = {
	{ "set_access_flags_ptes, young", do_set_young },
	{ "set_access_flags_ptes, dirty", do_set_dirty },
	{ "set_access_flags_ptes, young dirty", do_set_young_dirty },
	{ "set_access_flags_ptes, write", do_set_write },
	{ "set_access_flags_ptes, young dirty write", do_set_all },
	{ "clear_young_dirty_ptes, young", do_clear_young },
	{ "modify_prot_ptes, read", do_modify_read },
	{ "modify_prot_ptes, make writable", do_modify_mkwrite },
	{ "modify_prot_ptes, make writable if dirty", do_modify_mkwrite_dirty },
	{ "modify_prot_ptes, make young", do_modify_mkyoung },
};

KUNIT_ARRAY_PARAM(keeping_op, keeping_ops, op_desc);

static void shadow_stack_is_never_demoted(struct kunit *test)
{
	const struct op *op = test->param_value;
	unsigned int i;

	vm_flags_set(env.vma, VM_SHADOW_STACK);
	for (i = 0; i < NR_ENTRIES; i++)
		set_raw(i, shadow_stack(i, i & 4));
	op->call(0, NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++) {
		if (is_shadow_stack(raw(i)) && (raw(i) & _PAGE_PRESENT))
			continue;
		KUNIT_FAIL(test, "slot %u was %#llx, is %#llx", i,
			   (u64)shadow_stack(i, i & 4), (u64)raw(i));
		break;
	}
	vm_flags_clear(env.vma, VM_SHADOW_STACK);
}

/* In a shadow stack's VMA, writable is Write=0, Dirty=1 and nothing else. */
static void shadow_stack_is_made_where_it_belongs(struct kunit *test)
{
	static void (*const calls[])(unsigned int slot, unsigned int nr) = {
		do_modify_mkwrite, do_set_write, do_set_all,
	};
	unsigned int i, call;

	vm_flags_set(env.vma, VM_SHADOW_STACK);
	for (call = 0; call < ARRAY_SIZE(calls); call++) {
		for (i = 0; i < NR_ENTRIES; i++)
			set_raw(i, ordinary(i, i & 4 ? ENTRY_DIRTY : 0));
		calls[call](0, NR_ENTRIES);
		for (i = 0; i < NR_ENTRIES; i++)
			KUNIT_EXPECT_TRUE_MSG(test, is_shadow_stack(raw(i)),
					      "helper %u: slot %u is %#llx",
					      call, i, (u64)raw(i));
	}
	vm_flags_clear(env.vma, VM_SHADOW_STACK);
}

/* Write protection is what takes it away: dirty, but no longer writable. */
static void shadow_stack_loses_write_to_wrprotect(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++)
		set_raw(i, shadow_stack(i, i & 1));
	do_wrprotect(0, NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++)
		KUNIT_EXPECT_EQ(test, raw(i) & (ANY_DIRTY | _PAGE_RW),
				_PAGE_SAVED_DIRTY);
}

/* Keys are told from other bits by nobody but the hardware. */
#define PKEY_MASK	GENMASK_ULL(_PAGE_BIT_PKEY_BIT3, _PAGE_BIT_PKEY_BIT0)

static pteval_t pkey_bits(unsigned int key)
{
	return (pteval_t)key << _PAGE_BIT_PKEY_BIT0;
}

static void fill_keys(unsigned int len)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++)
		set_raw(i, ordinary(i, ENTRY_WRITE) | pkey_bits(i / len % 16));
}

static void check_keys_kept(struct kunit *test, const struct op *op,
			    unsigned int len)
{
	unsigned int i;

	fill_keys(len);
	op->call(0, NR_ENTRIES);
	for (i = 0; i < NR_ENTRIES; i++)
		KUNIT_EXPECT_EQ_MSG(test, raw(i) & PKEY_MASK,
				    pkey_bits(i / len % 16), "%s: slot %u",
				    op->name, i);
}

/* All sixteen, side by side and in runs. */
static void protection_keys_are_kept(struct kunit *test)
{
	static const struct op keeping[] = {
		{ "wrprotect_ptes", do_wrprotect },
		{ "set_access_flags_ptes", do_set_all },
		{ "clear_young_dirty_ptes", do_clear_young_dirty },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keeping); i++) {
		check_keys_kept(test, keeping + i, 1);
		check_keys_kept(test, keeping + i, 4);
	}
}

/* A new protection brings its key, whatever was there before. */
static void protection_keys_come_with_the_protection(struct kunit *test)
{
	unsigned int key, i;

	for (key = 0; key < 16; key++) {
		fill_keys(1 + key % 4);
		modify_prot(0, NR_ENTRIES,
			    __pgprot(pgprot_val(vm_get_page_prot(VM_READ)) |
				     pkey_bits(key)), MODPROT_NONE);
		for (i = 0; i < NR_ENTRIES; i++)
			KUNIT_EXPECT_EQ(test, raw(i) & PKEY_MASK,
					pkey_bits(key));
	}
}

/* Every second run of three is not encrypted, or shared with the host. */
static bool is_encrypted(unsigned int slot)
{
	return slot / 3 & 1;
}

static void expect_encryption(struct kunit *test, const char *when)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++) {
		if (!(raw(i) & ENCRYPTION_BIT) == !is_encrypted(i) &&
		    pte_pfn(__pte(raw(i))) == nth_pfn(i))
			continue;
		KUNIT_FAIL(test, "%s: slot %u is %#llx", when, i, (u64)raw(i));
		return;
	}
}

/*
 * B08: the bit lies in the frame's place, above the physical mask, and is not
 * part of it: kept by every change, never inverted, never stepped over.
 */
static void encryption_bit_is_kept(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++)
		set_raw(i, ordinary(i, ENTRY_WRITE | ENTRY_YOUNG) |
			   (is_encrypted(i) ? ENCRYPTION_BIT : 0));
	expect_encryption(test, "before");
	do_modify_read(0, NR_ENTRIES);
	expect_encryption(test, "modify_prot_ptes to read-only");
	do_modify_none(0, NR_ENTRIES);
	expect_encryption(test, "modify_prot_ptes to no access");
	do_modify_mkwrite(0, NR_ENTRIES);
	expect_encryption(test, "modify_prot_ptes to writable");
	do_wrprotect(0, NR_ENTRIES);
	expect_encryption(test, "wrprotect_ptes");
	do_set_all(0, NR_ENTRIES);
	expect_encryption(test, "set_access_flags_ptes");
	do_clear_young_dirty(0, NR_ENTRIES);
	expect_encryption(test, "clear_young_dirty_ptes");
	for (i = 0; i < NR_ENTRIES; i += 3)
		do_start_commit(i, min(3U, NR_ENTRIES - i));
	expect_encryption(test, "modify_prot_commit_ptes");
}

/*
 * What a page walker makes of an entry at a memory access. Older processors
 * set dirty without a look at the write permission, so a read-only entry gets
 * it as well.
 */
static pteval_t walked(pteval_t val, bool write)
{
	if (!(val & _PAGE_PRESENT))
		return val;
	val |= _PAGE_ACCESSED;
	return write ? val | _PAGE_DIRTY : val;
}

#ifndef PTE_BATCH_FORCE_GENERIC
/* Plain stores where no walker has a say, atomic operations everywhere else. */
static void fast_path_is_taken_exactly_when_it_is_safe(struct kunit *test)
{
	static const pteval_t deciding[] = {
		_PAGE_PRESENT, _PAGE_ACCESSED, _PAGE_DIRTY, _PAGE_RW,
		_PAGE_PROTNONE, _PAGE_SAVED_DIRTY,
	};
	unsigned int set, bit;

	for (set = 0; set < BIT(ARRAY_SIZE(deciding)); set++) {
		pteval_t val = 0;
		bool safe;

		for (bit = 0; bit < ARRAY_SIZE(deciding); bit++)
			if (set & BIT(bit))
				val |= deciding[bit];
		safe = walked(val, false) == val && walked(val, true) == val;
		KUNIT_EXPECT_EQ_MSG(test, x86_pte_is_stable(val), safe,
				    "entry %#llx", (u64)val);
	}
}
#endif

/* How long each race lasts; a lost update shows within a few rounds. */
#define RACE_MS		400

/**
 * struct walker - a thread that does to entries what a page walker does
 * @ptep: the entries
 * @nr: number of entries
 * @seen: the bits that it has set in each
 * @run: whether it may
 * @busy: whether it does
 */
struct walker {
	pte_t *ptep;
	unsigned int nr;
	pteval_t *seen;
	bool run;
	bool busy;
};

/* A look and one atomic operation, as the hardware does it. */
static void walk_one(struct walker *walker, unsigned int slot, bool write)
{
	pteval_t val = READ_ONCE(walker->ptep[slot].pte), new;

	new = walked(val, write && (val & _PAGE_RW));
	if (new != val && try_cmpxchg(&walker->ptep[slot].pte, &val, new))
		walker->seen[slot] |= new ^ val;
}

/*
 * The walker says that it is busy before it asks whether it may run, and that
 * it is not when all it has set can be seen.
 */
static int walk(void *data)
{
	struct walker *walker = data;
	struct rnd_state rnd;
	u32 dice;

	prandom_seed_state(&rnd, 1);
	while (!kthread_should_stop()) {
		WRITE_ONCE(walker->busy, true);
		/* Pairs with the one in walker_halt(). */
		smp_mb();
		while (READ_ONCE(walker->run)) {
			dice = prandom_u32_state(&rnd);
			walk_one(walker, (dice >> 1) % walker->nr, dice & 1);
		}
		/* Pairs with the acquire in walker_halt(): @seen is complete. */
		smp_store_release(&walker->busy, false);
		cond_resched();
	}
	return 0;
}

static void walker_halt(struct walker *walker)
{
	WRITE_ONCE(walker->run, false);
	/* Pairs with the one in walk(): one of the two sees the other. */
	smp_mb();
	/* Pairs with the release in walk(). */
	while (smp_load_acquire(&walker->busy))
		cond_resched();
}

/* Nothing takes accessed or dirty away, so what was set must still be there. */
static bool walker_lost(struct kunit *test, struct walker *walker,
			unsigned long round)
{
	unsigned int i;

	for (i = 0; i < walker->nr; i++) {
		pteval_t now = raw(i);

		if (now & _PAGE_SAVED_DIRTY)
			now |= _PAGE_DIRTY;
		if (!(walker->seen[i] & ~now))
			continue;
		KUNIT_FAIL(test, "round %lu: slot %u is %#llx, the walker had set %#llx",
			   round, i, (u64)raw(i), (u64)walker->seen[i]);
		return true;
	}
	return false;
}

static void race_round(struct walker *walker, const struct op *op,
		       unsigned long *set)
{
	unsigned int i;

	for (i = 0; i < walker->nr; i++) {
		set_raw(i, ordinary(i % NR_ENTRIES, i & 1 ? ENTRY_WRITE : 0));
		walker->seen[i] = 0;
	}
	/* The walker may see the entries above in any order, but whole. */
	WRITE_ONCE(walker->run, true);
	op->call(0, walker->nr);
	do_modify_mkwrite(0, walker->nr);
	op->call(0, walker->nr);
	walker_halt(walker);
	for (i = 0; i < walker->nr; i++)
		*set += walker->seen[i] != 0;
}

static void race(struct kunit *test, struct walker *walker,
		 const struct op *op)
{
	unsigned long end = jiffies + msecs_to_jiffies(RACE_MS);
	unsigned long round = 0, set = 0;

	while (time_before(jiffies, end)) {
		race_round(walker, op, &set);
		if (walker_lost(test, walker, round++))
			break;
		cond_resched();
	}
	kunit_info(test, "%lu rounds, %lu entries changed meanwhile\n", round,
		   set);
	KUNIT_EXPECT_GT_MSG(test, set, 0, "the walker never got a chance");
}

static const struct op racing_ops[] = {
	{ "modify_prot_ptes, read", do_modify_read },
	{ "modify_prot_ptes, make young", do_modify_mkyoung },
	{ "set_access_flags_ptes, write", do_set_write },
	{ "wrprotect_ptes", do_wrprotect },
};

KUNIT_ARRAY_PARAM(racing_op, racing_ops, op_desc);

/* Another processor walks the very entries that the helper changes. */
static void no_hardware_update_is_lost(struct kunit *test)
{
	struct walker walker = { .ptep = table.ptep, .nr = PTRS_PER_PTE };
	unsigned int cpu = cpumask_any_but(cpu_online_mask, get_cpu());
	const struct op *op = test->param_value;
	struct task_struct *task;

	put_cpu();
	/* Whose single-PTE helper is for an entry that faulted: nobody walks it. */
	if (__is_defined(PTE_BATCH_FORCE_GENERIC) && op->call == do_set_write)
		kunit_skip(test, "the tree's own helper is a plain store");
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "one processor only");
	walker.seen = kunit_kcalloc(test, walker.nr, sizeof(*walker.seen),
				    GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, walker.seen);
	task = kthread_create(walk, &walker, "ptebatch/walker");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, cpu);
	wake_up_process(task);
	race(test, &walker, op);
	kthread_stop(task);
}
#endif

static struct kunit_case pte_batch_x86_cases[] = {
#ifdef HAVE_modify_prot_ptes
	KUNIT_CASE(protnone_frames_are_inverted),
#endif
#if defined(CONFIG_X86_64) && defined(HAVE_modify_prot_ptes)
	KUNIT_CASE_PARAM(shadow_stack_is_never_made_by_accident,
			 op_gen_params),
	KUNIT_CASE_PARAM(shadow_stack_is_never_demoted, keeping_op_gen_params),
	KUNIT_CASE(shadow_stack_is_made_where_it_belongs),
	KUNIT_CASE(shadow_stack_loses_write_to_wrprotect),
	KUNIT_CASE(saved_dirty_follows_the_write_bit),
	KUNIT_CASE(protection_keys_are_kept),
	KUNIT_CASE(protection_keys_come_with_the_protection),
	KUNIT_CASE(encryption_bit_is_kept),
#ifndef PTE_BATCH_FORCE_GENERIC
	KUNIT_CASE(fast_path_is_taken_exactly_when_it_is_safe),
#endif
	KUNIT_CASE_PARAM(no_hardware_update_is_lost, racing_op_gen_params),
#endif
	{}
};

static void pte_batch_x86_exit(struct kunit_suite *suite)
{
	batch_table_exit(&table);
	batch_env_exit(&env);
}

static int pte_batch_x86_init(struct kunit_suite *suite)
{
	if (batch_env_init(&env) || !env.folio || batch_table_init(&table)) {
		pte_batch_x86_exit(suite);
		return -ENOMEM;
	}
	return 0;
}

static struct kunit_suite pte_batch_x86_suite = {
	.name = "pte_batch_x86",
	.suite_init = pte_batch_x86_init,
	.suite_exit = pte_batch_x86_exit,
	.test_cases = pte_batch_x86_cases,
};

kunit_test_suite(pte_batch_x86_suite);
