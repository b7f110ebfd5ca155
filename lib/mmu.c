// SPDX-License-Identifier: GPL-2.0
/*
 * The software MMU: CPUs whose walkers set accessed and dirty at any memory
 * access of a helper, and whose TLBs keep what they have until it is flushed.
 *
 * One thread plays all CPUs. Before each access of the helper those events
 * happen that the schedule has for it, so that a test that goes through all
 * schedules has seen all interleavings. The second way to run it, real threads
 * on atomics, is at the end: there the sanitizer looks for what a model of one
 * thread cannot have.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "host.h"

struct mmu mmu;
bool mmu_watched;
/* Threads walk the table: between a helper's load and what follows, let them. */
bool mmu_threaded;

static u64 mmu_area[HOST_GUARDS + HOST_SLOTS + HOST_GUARDS]
	__attribute__((aligned(4096)));

void mmu_init(void)
{
	mmu.area = mmu_area;
	mmu.pending = -1;
}

static u64 mmu_peek(unsigned int slot)
{
	return __atomic_load_n(mmu_table + slot, __ATOMIC_RELAXED);
}

static unsigned int mmu_block(unsigned int slot, u64 raw, unsigned int *first)
{
	if (mmu.hw->block)
		return mmu.hw->block(slot, raw, first);
	*first = slot;
	return 1;
}

/**
 * mmu_start() - begin with cold TLBs and what the table holds
 * @hw: the format
 */
void mmu_start(const struct hw *hw)
{
	mmu.hw = hw;
	memset(mmu.tlb, 0, sizeof(mmu.tlb));
	memset(mmu.last, 0, sizeof(mmu.last));
	memset(mmu.clean, 0, sizeof(mmu.clean));
	memset(mmu.seen, 0, sizeof(mmu.seen));
	memset(mmu.flushed, 0, sizeof(mmu.flushed));
	memset(mmu.flushed_local, 0, sizeof(mmu.flushed_local));
	memset(mmu.synced, 0, sizeof(mmu.synced));
	mmu.nr_events = 0;
	mmu.next = 0;
	mmu.accesses = 0;
	mmu.pending = -1;
	mmu.happened = 0;
	mmu.flushes = 0;
	mmu.trusting = false;
	mmu.bad = NULL;
}

static void tlb_fill(unsigned int cpu, unsigned int slot, u64 raw)
{
	unsigned int i, first, nr = mmu_block(slot, raw, &first);

	for (i = first; i < first + nr; i++)
		mmu.tlb[cpu][i] = (struct tlb_entry) {
			.rights = mmu.hw->rights(raw),
			.pfn = mmu.hw->pfn(raw) + i - slot,
			.dirty = mmu.hw->dirty(raw),
			.nr = nr,
		};
}

static void tlb_drop(unsigned int cpu, unsigned int slot)
{
	unsigned int first, nr = mmu_block(slot, mmu_peek(slot), &first);

	memset(mmu.tlb[cpu] + first, 0, nr * sizeof(mmu.tlb[cpu][0]));
}

/**
 * mmu_warm() - every CPU has used these pages as far as the table allows
 * @slot: the first
 * @nr: how many
 */
void mmu_warm(unsigned int slot, unsigned int nr)
{
	unsigned int cpu, i;

	for (i = slot; i < slot + nr; i++) {
		u64 raw = mmu_peek(i);

		if (!mmu.hw->rights(raw))
			continue;
		mmu.last[i] = raw;
		for (cpu = 0; mmu.hw->young(raw) && cpu < HOST_CPUS; cpu++)
			tlb_fill(cpu, i, raw);
	}
}

/* The second half of a walk that holds an entry by a lock bit. */
static void mmu_finish_pending(void)
{
	const unsigned int slot = mmu.pending;
	u64 raw;

	mmu.pending = -1;
	raw = mmu.hw->finish(mmu_peek(slot));
	mmu_table[slot] = raw;
	tlb_fill(mmu.pending_event.cpu, slot, raw);
}

/* At each access of a helper, and hardly ever is there one. */
static inline void mmu_finish(void)
{
	if (mmu.pending >= 0)
		mmu_finish_pending();
}

static bool tlb_allows(const struct tlb_entry *tlb, bool write)
{
	if (write)
		return tlb->rights & (HW_WRITE | HW_SHADOW) && tlb->dirty;
	return tlb->rights & (HW_READ | HW_WRITE);
}

/**
 * mmu_evict() - a CPU forgets a page, for no reason
 * @event: who and where
 */
void mmu_evict(const struct mmu_event *event)
{
	if (!mmu.hw->no_walker)
		tlb_drop(event->cpu, event->slot);
}

/*
 * The entry in which a walker notes an access: of a block, any one. If it trusts
 * them to be alike, it does not look at what that one allows.
 */
static unsigned int mmu_noted(const struct mmu_event *event)
{
	unsigned int first, other, nr, where;
	u64 raw;

	nr = mmu_block(event->slot, mmu_peek(event->slot), &first);
	where = first + (event->slot - first + event->spot) % nr;
	raw = mmu_peek(where);
	if (mmu_block(where, raw, &other) != nr || other != first)
		return event->slot;
	return mmu.trusting || mmu.hw->walk(raw, event->write).ok ? where : event->slot;
}

/**
 * mmu_access() - one access by a CPU
 * @event: who, where and how
 *
 * Return: whether it went through, or at least left something in the table.
 */
bool mmu_access(const struct mmu_event *event)
{
	const unsigned int slot = event->slot;
	unsigned int where;
	struct hw_walk walk;
	bool changed;
	u64 old;

	if (event->walk)
		mmu_evict(event);
	if (tlb_allows(&mmu.tlb[event->cpu][slot], event->write))
		return true;
	if (mmu.hw->no_walker)
		return false;
	old = mmu_peek(slot);
	walk = mmu.hw->walk(old, event->write);
	changed = walk.raw != old;
	if (changed) {
		mmu.seen[slot] |= event->write ? 3 : 1;
		where = mmu_noted(event);
		mmu_table[where] = (mmu_peek(where) | (walk.raw & ~old)) &
				   (walk.raw | ~old);
	}
	if (!walk.ok)
		return changed;
	if (mmu.hw->busy && mmu.hw->busy(walk.raw)) {
		mmu.pending = slot;
		mmu.pending_event = *event;
	} else {
		tlb_fill(event->cpu, slot, walk.raw);
	}
	return true;
}

static void mmu_run(unsigned int until)
{
	mmu_finish();
	while (mmu.next < mmu.nr_events && mmu.event[mmu.next].at <= until) {
		mmu_finish();
		if (mmu_access(&mmu.event[mmu.next]))
			mmu.happened |= 1U << mmu.next;
		mmu.next++;
	}
}

/* Is it an entry of the table at all? */
static bool mmu_slot(const u64 *cell, unsigned int *slot)
{
	if (cell < mmu_table || cell >= mmu_table + HOST_SLOTS) {
		if (cell >= mmu.area && cell < mmu_table + HOST_SLOTS + HOST_GUARDS)
			mmu.bad = "an entry outside the table was accessed";
		return false;
	}
	*slot = cell - mmu_table;
	return true;
}

/**
 * mmu_before() - the helper is about to access an entry
 * @cell: the entry
 */
void mmu_before(const u64 *cell)
{
	unsigned int slot;

	if (mmu_slot(cell, &slot))
		mmu_run(mmu.accesses++);
}

/*
 * Does a CPU remember this page as part of a block that the entry is not of, or
 * by itself where the entry is of one? Then the TLB may find both.
 */
static bool mmu_breaks_late(unsigned int slot, u64 new)
{
	unsigned int cpu, first, nr = mmu_block(slot, new, &first);

	for (cpu = 0; cpu < HOST_CPUS; cpu++)
		if (mmu.tlb[cpu][slot].rights && mmu.tlb[cpu][slot].nr != nr)
			return true;
	return false;
}

/**
 * mmu_after() - the helper has written an entry
 * @cell: the entry
 * @old: what was there
 * @new: what is there
 */
void mmu_after(const u64 *cell, u64 old, u64 new)
{
	unsigned int slot;

	if (!mmu_slot(cell, &slot))
		return;
	if (mmu.hw->busy && mmu.hw->busy(old))
		mmu.bad = "an entry was changed that somebody held";
	if (!mmu.hw->rights(new))
		return;
	if (mmu.last[slot] && !mmu.clean[slot] &&
	    mmu.hw->pfn(mmu.last[slot]) != mmu.hw->pfn(new))
		mmu.bad = "the frame changed without a flush";
	if (mmu.hw->block && !mmu.bad && mmu_breaks_late(slot, new))
		mmu.bad = "break-before-make: a TLB has the page in a block, or alone, yet";
	if (mmu.hw->bad_store && !mmu.bad)
		mmu.bad = mmu.hw->bad_store(mmu.last[slot], new, mmu.clean[slot]);
	mmu.last[slot] = new;
	mmu.clean[slot] = false;
}

/**
 * mmu_sync() - the instruction cache is made to forget what a page had
 * @cell: the entry that is to map the page
 */
void mmu_sync(const u64 *cell)
{
	unsigned int slot;

	if (mmu_slot(cell, &slot))
		mmu.synced[slot] = true;
}

/**
 * mmu_wait() - the helper waits for an entry that somebody holds
 * @cell: the entry
 */
void mmu_wait(u64 *cell)
{
	if (mmu_watched)
		mmu_finish();
	else
		sched_yield();
}

/**
 * mmu_drain() - all that is left to happen before the caller's flush
 */
void mmu_drain(void)
{
	mmu_run(~0U);
	mmu_finish();
}

/**
 * mmu_flush() - translations of a range are dropped
 * @addr: the first address
 * @end: the address behind the last
 * @local: by the first CPU alone
 */
void mmu_flush(unsigned long addr, unsigned long end, bool local)
{
	unsigned int slot = (addr - HOST_BASE) >> mmu.hw->page_shift;
	const unsigned int last = (end - HOST_BASE) >> mmu.hw->page_shift;

	mmu.flushes++;
	for (; slot < last && slot < HOST_SLOTS; slot++) {
		unsigned int cpu;

		for (cpu = 0; cpu < (local ? 1 : HOST_CPUS); cpu++)
			mmu.tlb[cpu][slot].rights = 0;
		if (local) {
			mmu.flushed_local[slot] = true;
			continue;
		}
		mmu.flushed[slot] = true;
		if (!mmu.hw->rights(mmu_peek(slot)))
			mmu.clean[slot] = true;
	}
}

static bool block_is_dirty(unsigned int slot)
{
	unsigned int i, first, nr = mmu_block(slot, mmu_peek(slot), &first);

	for (i = first; i < first + nr; i++)
		if (mmu.hw->dirty(mmu_peek(i)))
			return true;
	return false;
}

/**
 * mmu_check() - after the flush: what is left in TLBs the table must grant
 * @slot: the first page
 * @nr: how many
 * @dirty: no write may go unnoticed either
 *
 * Return: what is wrong, or NULL.
 */
const char *mmu_check(unsigned int slot, unsigned int nr, bool dirty)
{
	unsigned int cpu, i;

	if (mmu.bad)
		return mmu.bad;
	for (cpu = 0; cpu < HOST_CPUS; cpu++) {
		for (i = slot; i < slot + nr; i++) {
			const struct tlb_entry *tlb = &mmu.tlb[cpu][i];
			const u64 raw = mmu_peek(i);

			if (!tlb->rights)
				continue;
			if (tlb->rights & ~mmu.hw->rights(raw))
				return "a CPU keeps rights that the table took";
			if (tlb->pfn != mmu.hw->pfn(raw))
				return "a CPU keeps another frame";
			if (dirty && tlb_allows(tlb, true) && !block_is_dirty(i))
				return "a CPU writes to a clean page unnoticed";
		}
	}
	return NULL;
}

/*
 * Threads: walkers that really run beside the helper, without TLBs, for as
 * long as mmu_go is odd. Each says that it is inside before it looks again
 * whether it may be.
 */
#define WALKERS 2

struct walker {
	pthread_t thread;
	u64 random;
	bool inside;
	unsigned int ack;
	u64 count;
};

static struct walker walkers[WALKERS];
static bool walkers_there;
static unsigned int mmu_go, walk_slot, walk_nr;
static unsigned char walk_seen[HOST_SLOTS];

static u64 walker_random(struct walker *me)
{
	me->random ^= me->random << 13;
	me->random ^= me->random >> 7;
	me->random ^= me->random << 17;
	return me->random;
}

static bool walker_update(u64 *cell, u64 *old, u64 new)
{
	return __atomic_compare_exchange_n(cell, old, new, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static void walker_let_go(u64 *cell, u64 old)
{
	while (!walker_update(cell, &old, mmu.hw->finish(old)))
		;
}

static void walker_access(struct walker *me)
{
	const u64 random = walker_random(me) >> 8;
	const unsigned int slot = walk_slot + random % walk_nr;
	const bool write = random >> 40 & 1;
	u64 *cell = mmu_table + slot;
	u64 old = mmu_peek(slot);
	struct hw_walk walk = mmu.hw->walk(old, write);

	if (walk.raw == old || !walker_update(cell, &old, walk.raw))
		return;
	me->count++;
	__atomic_fetch_or(&walk_seen[slot], write ? 3 : 1, __ATOMIC_RELAXED);
	if (mmu.hw->busy && mmu.hw->busy(walk.raw))
		walker_let_go(cell, walk.raw);
}

/**
 * mmu_pause() - the helper has read an entry: time for the walkers
 */
void mmu_pause(void)
{
	static unsigned int count;

	if (!(++count & 1))
		sched_yield();
}

static bool walker_may_run(struct walker *me)
{
	const unsigned int go = __atomic_load_n(&mmu_go, __ATOMIC_SEQ_CST);

	if (go & 1)
		__atomic_store_n(&me->ack, go, __ATOMIC_RELAXED);
	return go & 1;
}

static void *walker_main(void *arg)
{
	struct walker *me = arg;

	for (;;) {
		__atomic_store_n(&me->inside, true, __ATOMIC_SEQ_CST);
		while (walker_may_run(me)) {
			walker_access(me);
			if (!(me->random & 31))
				sched_yield();
		}
		__atomic_store_n(&me->inside, false, __ATOMIC_SEQ_CST);
		sched_yield();
	}
	return NULL;
}

/**
 * mmu_threads_start() - let walkers loose on a range, and see them run
 * @hw: the format
 * @slot: the first page
 * @nr: how many
 */
void mmu_threads_start(const struct hw *hw, unsigned int slot, unsigned int nr)
{
	unsigned int i;

	mmu.hw = hw;
	walk_slot = slot;
	walk_nr = nr;
	memset(walk_seen, 0, sizeof(walk_seen));
	__atomic_add_fetch(&mmu_go, 1, __ATOMIC_SEQ_CST);
	for (i = 0; !walkers_there && i < WALKERS; i++) {
		walkers[i].random = i + 1;
		if (pthread_create(&walkers[i].thread, NULL, walker_main, &walkers[i]))
			abort();
	}
	walkers_there = true;
	mmu_threaded = true;
	for (i = 0; i < WALKERS; i++)
		while (__atomic_load_n(&walkers[i].ack, __ATOMIC_RELAXED) !=
		       __atomic_load_n(&mmu_go, __ATOMIC_RELAXED))
			sched_yield();
}

/**
 * mmu_threads_stop() - all walkers stand still when this returns
 */
void mmu_threads_stop(void)
{
	unsigned int i;

	mmu_threaded = false;
	__atomic_add_fetch(&mmu_go, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < WALKERS; i++)
		while (__atomic_load_n(&walkers[i].inside, __ATOMIC_SEQ_CST))
			sched_yield();
}

/**
 * mmu_threads_seen() - what walkers have set in an entry since the start
 * @slot: the entry
 *
 * Return: 1 for accessed, 2 for dirty.
 */
u64 mmu_threads_seen(unsigned int slot)
{
	return walk_seen[slot];
}

/**
 * mmu_threads_count() - how often walkers have changed an entry at all
 *
 * Return: the number.
 */
u64 mmu_threads_count(void)
{
	u64 count = 0;
	unsigned int i;

	for (i = 0; i < WALKERS; i++)
		count += walkers[i].count;
	return count;
}
