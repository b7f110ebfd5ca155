/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the model of the MMU, the backends and the tests share.
 *
 * A backend is one translation unit: the page-table format of one
 * architecture, the headers of include/ and arch/ as they are, and all tests.
 * Everything in it is static, so that all backends fit into one program; it
 * makes itself known by host_register().
 */
#ifndef PTEBATCH_HOST_H
#define PTEBATCH_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/types.h>

#define HOST_SLOTS	512
#define HOST_GUARDS	512
#define HOST_CPUS	3
/* Where the table's first entry is mapped, and the first frame there is. */
#define HOST_BASE	0x7f0000000000UL
#define HOST_PFN	0x100000UL
#define HOST_PAGES	2048

/* What a translation allows. */
#define HW_READ		1U
#define HW_WRITE	2U
#define HW_EXEC		4U
#define HW_SHADOW	8U

/**
 * struct hw_walk - what a hardware walker makes of an entry
 * @raw: what it leaves in the entry
 * @ok: the access is allowed
 */
struct hw_walk {
	u64 raw;
	bool ok;
};

/**
 * struct hw - the hardware's view of a page-table format
 * @page_shift: how large its pages are
 * @rights: what an entry allows, 0 if it is not valid to the hardware
 * @pfn: the frame it maps
 * @dirty: may a TLB entry made of it be written through, unnoticed?
 * @young: may it be in a TLB at all?
 * @walk: an access that finds no use in the TLB
 * @finish: second half of a walk that takes a lock bit; may be NULL
 * @busy: is the lock bit of an unfinished walk set? may be NULL
 * @block: first slot and number of those that one TLB entry may stand for
 * @bad_store: why a walker must not see this store, after the last value that
 *	was valid to it, and with or without a flush between; NULL if it may
 * @no_walker: only a flush fills the TLB, no walker runs by itself
 */
struct hw {
	unsigned int page_shift;
	unsigned int (*rights)(u64 raw);
	unsigned long (*pfn)(u64 raw);
	bool (*dirty)(u64 raw);
	bool (*young)(u64 raw);
	struct hw_walk (*walk)(u64 raw, bool write);
	u64 (*finish)(u64 raw);
	bool (*busy)(u64 raw);
	unsigned int (*block)(unsigned int slot, u64 raw, unsigned int *first);
	const char *(*bad_store)(u64 last, u64 new, bool clean);
	bool no_walker;
};

/**
 * struct tlb_entry - one translation that a CPU remembers
 * @rights: what it allows, 0 if there is none
 * @pfn: the frame
 * @dirty: writes go through without a look at the table
 * @nr: pages that it was made for at once, of a block or one
 */
struct tlb_entry {
	unsigned int rights;
	unsigned long pfn;
	bool dirty;
	unsigned short nr;
};

/**
 * struct mmu_event - one access of a CPU
 * @at: before which of the helper's memory accesses it happens
 * @slot: the page
 * @cpu: who accesses it
 * @write: a write
 * @walk: what the TLB has is dropped first
 * @spot: so many entries further on in a block is the one that becomes accessed
 *	or dirty
 */
struct mmu_event {
	unsigned int at;
	unsigned short slot;
	unsigned char cpu;
	bool write;
	bool walk;
	unsigned char spot;
};

#define MMU_EVENTS	16

/**
 * struct mmu - the table, the CPUs, and what happens when
 * @area: the table between its guards
 * @hw: how the hardware sees it
 * @tlb: what each CPU remembers
 * @event: accesses to come, in order
 * @nr_events: how many
 * @next: the first that has not happened
 * @accesses: how many memory accesses the helper has made
 * @pending: slot of an unfinished walk, or -1
 * @pending_event: the access that it belongs to
 * @last: the last value of each slot that was valid to the hardware
 * @clean: the slot has been invalid, and was flushed, since
 * @happened: events that went through, or left something in the table
 * @seen: 1 if a walker has made the entry accessed, 2 if dirty
 * @flushes: how many flush calls came
 * @flushed: slots that were flushed on all CPUs
 * @flushed_local: slots that were flushed on the first CPU alone
 * @synced: slots whose page was synchronised with the instruction cache
 * @trusting: walkers take the entries of a block to be alike
 * @bad: the first thing that must not happen, or NULL
 */
struct mmu {
	u64 *area;
	const struct hw *hw;
	struct tlb_entry tlb[HOST_CPUS][HOST_SLOTS];
	struct mmu_event event[MMU_EVENTS];
	unsigned int nr_events;
	unsigned int next;
	unsigned int accesses;
	int pending;
	struct mmu_event pending_event;
	u64 last[HOST_SLOTS];
	bool clean[HOST_SLOTS];
	unsigned int happened;
	unsigned char seen[HOST_SLOTS];
	unsigned int flushes;
	bool flushed[HOST_SLOTS];
	bool flushed_local[HOST_SLOTS];
	bool synced[HOST_SLOTS];
	bool trusting;
	const char *bad;
};

extern struct mmu mmu;
/* Nobody watches what is timed: an access is one instruction, as in a kernel. */
#ifdef HOST_TIMED
#define mmu_watched	false
#define mmu_threaded	false
#else
extern bool mmu_watched;
extern bool mmu_threaded;
#endif
extern unsigned int host_warnings;

#define mmu_table	(mmu.area + HOST_GUARDS)

void mmu_init(void);
void mmu_start(const struct hw *hw);
void mmu_warm(unsigned int slot, unsigned int nr);
void mmu_before(const u64 *cell);
void mmu_after(const u64 *cell, u64 old, u64 new);
void mmu_sync(const u64 *cell);
void mmu_wait(u64 *cell);
void mmu_pause(void);
void mmu_drain(void);
void mmu_evict(const struct mmu_event *event);
bool mmu_access(const struct mmu_event *event);
void mmu_flush(unsigned long addr, unsigned long end, bool local);
const char *mmu_check(unsigned int slot, unsigned int nr, bool dirty);
void mmu_threads_start(const struct hw *hw, unsigned int slot, unsigned int nr);
void mmu_threads_stop(void);
u64 mmu_threads_seen(unsigned int slot);
u64 mmu_threads_count(void);

/*
 * Every access to the table goes through one of these: a program has no other
 * place where the hardware could be let in.
 */
static inline u64 cell_load(const u64 *cell)
{
	u64 raw;

	if (mmu_watched)
		mmu_before(cell);
	raw = __atomic_load_n(cell, __ATOMIC_RELAXED);
	if (mmu_threaded)
		mmu_pause();
	return raw;
}

static inline void cell_store(u64 *cell, u64 new)
{
	u64 old = 0;

	if (mmu_watched) {
		mmu_before(cell);
		old = *cell;
	}
	__atomic_store_n(cell, new, __ATOMIC_RELAXED);
	if (mmu_watched)
		mmu_after(cell, old, new);
}

static inline u64 cell_xchg(u64 *cell, u64 new)
{
	u64 old;

	if (mmu_watched)
		mmu_before(cell);
	old = __atomic_exchange_n(cell, new, __ATOMIC_SEQ_CST);
	if (mmu_watched)
		mmu_after(cell, old, new);
	return old;
}

static inline bool cell_cmpxchg(u64 *cell, u64 *old, u64 new)
{
	bool done;

	if (mmu_watched)
		mmu_before(cell);
	done = __atomic_compare_exchange_n(cell, old, new, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	if (mmu_watched && done)
		mmu_after(cell, *old, new);
	return done;
}

/* One locked instruction, as a bit operation of the architecture is. */
static inline u64 cell_change(u64 *cell, u64 clear, u64 set)
{
	u64 old, new;

#ifdef HOST_TIMED
	/* What is a bit operation there is to be one here, not a loop. */
	if (!set)
		return __atomic_fetch_and(cell, ~clear, __ATOMIC_SEQ_CST);
#endif
	if (mmu_watched)
		mmu_before(cell);
	old = __atomic_load_n(cell, __ATOMIC_RELAXED);
	do {
		new = (old & ~clear) | set;
	} while (!__atomic_compare_exchange_n(cell, &old, new, false,
					      __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	if (mmu_watched)
		mmu_after(cell, old, new);
	return old;
}

/*
 * The loops of a tree's own helpers look at the end only after the first entry:
 * for none they would go on and on.
 */
static inline bool mmu_endless(unsigned int nr)
{
	if (!nr)
		mmu.bad = "a loop over no entries came to no end";
	return !nr;
}

/**
 * struct host_group - one test of a backend
 * @name: as it is printed, and selected
 * @run: NULL if all is well, or what is wrong
 */
struct host_group {
	const char *name;
	const char *(*run)(void);
};

/**
 * struct host_backend - what a backend offers
 * @name: of the backend
 * @modes: names of its modes, NULL at the end
 * @set_mode: choose one
 * @groups: its tests, the last without a name
 * @fuzz: one input of the fuzzer; what is wrong, or NULL
 * @next: the next backend
 */
struct host_backend {
	const char *name;
	const char *const *modes;
	void (*set_mode)(unsigned int mode);
	const struct host_group *groups;
	const char *(*fuzz)(const u8 *data, size_t size);
	struct host_backend *next;
};

extern struct host_backend *host_backends;
/* Part of the cases that a slow build skips: every one of host_stride is run. */
extern unsigned int host_stride;
extern u64 host_cases;

void host_register(struct host_backend *backend);
void host_seed(u64 seed);
u64 host_random(void);
/* What a test returns when it fails. */
const char *host_say(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif /* PTEBATCH_HOST_H */
