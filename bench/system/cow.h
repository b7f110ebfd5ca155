/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The copy-on-write test is two halves: workers that do what they are told
 * (cow_worker.c), and a coordinator with a model of what each of them must
 * see (cow.c).  They talk through shared memory, one mailbox per process.
 * lazyfree.c tells the coordinator of a fault that the kernel may have.
 */
#ifndef SYSTEM_COW_H
#define SYSTEM_COW_H

#include "common.h"

#define NR_PROCS	4
#define NR_THREADS	4
#define NR_PINS		8
#define NR_PIPES	16
#define MAX_PINNED	16
#define MAX_SPLICED	4
#define MAX_OPS		64
/* Pages of the arena: three page tables. */
#define MAX_SLOTS	1536
#define MAX_SEEN	(12 * MAX_SLOTS)

/* Fixed, so that a failure of one run is at the same place in the next. */
#define ARENA		((char *)0x100000000000UL)

enum code {
	OP_READ,		/* each page of the range */
	OP_WRITE,		/* value, value + 1, ... */
	OP_MAP,			/* fresh memory in place of the range */
	OP_UNMAP,
	OP_MOVE,		/* to slot .to; the memory there goes away */
	OP_MOVE_KEEP,		/* MREMAP_DONTUNMAP: what stays is empty */
	OP_PROTECT,		/* .arg: PROT_* */
	OP_ADVISE,		/* .arg: MADV_* */
	OP_FLIP,		/* read-only and back */
	OP_SPLIT,		/* the folios, not the mapping */
	OP_FORK,		/* .arg: process to become */
	OP_EXIT,
	OP_PIN,			/* .arg: which pin */
	OP_UNPIN,
	OP_PIN_READ,		/* the device reads what is pinned ... */
	OP_PIN_WRITE,		/* ... or writes to page .slot of the pin */
	OP_SPLICE,		/* .arg: which pipe */
	NR_CODES,
};

/**
 * struct op - one step
 * @code: what to do
 * @thread: who does it, in a bundle of threads
 * @arg: see enum code
 * @slot: first page of the arena
 * @nr: number of pages
 * @to: where to, in pages of the arena
 * @seen: first entry of the mailbox for what was seen
 * @value: what to write
 * @error: out: what the system call said
 */
struct op {
	uint8_t code, thread;
	int32_t arg;
	uint32_t slot, nr, to, seen;
	uint64_t value;
	int32_t error;
};

struct seen {
	struct words words;
	bool fault;
};

/**
 * struct mailbox - a bundle of steps, and what came of it
 * @pid: whose it is
 * @threads: each step is for one of NR_THREADS, at the same time
 * @nr: number of steps
 */
struct mailbox {
	pid_t pid;
	bool threads;
	uint32_t nr;
	struct op ops[MAX_OPS];
	struct seen seen[MAX_SEEN];
};

/* Made by the coordinator before the first worker. */
extern struct mailbox *mailboxes;
extern int to_worker[NR_PROCS][2], from_worker[NR_PROCS][2];
extern int pipes[NR_PIPES][2];
extern int scratch;		/* a file with one page for each process */

static inline struct words words_of(uint64_t value)
{
	struct words words = { { value, value ? ~value : 0 } };

	return words;
}

static inline char *page_at(uint32_t slot)
{
	return ARENA + slot * page_size;
}

__noreturn void worker(int self);
unsigned int lazyfree_lost(void);

#endif /* SYSTEM_COW_H */
