// SPDX-License-Identifier: GPL-2.0
/*
 * Copy on write as a property: a random sequence of steps in up to four
 * processes of up to four threads, against a model that knows what each page
 * of each process must hold.
 *
 *   STEPS=100000 SEED=1 cow
 *
 * The model is kept while the steps are drawn, so a seed draws the same steps
 * on every kernel.  Processes run at the same time; they share folios, but no
 * contents, so the order in which they run does not matter to the model.
 * What may be one of two things (memory after MADV_FREE, a page that another
 * thread wrote during fork()) is in the model as such.  So is a fault of the
 * kernel's, if lazyfree_lost() shows that this one has it: what one process gave
 * to MADV_FREE may get lost to those it shares the page with.
 *
 * References that are no mappings are watched too.  What io_uring has pinned
 * is the owner's memory until the owner gives the memory away: the device
 * sees the owner's stores and the other way round.  What vmsplice() put into
 * a pipe was the owner's memory at that time, or is what the owner itself
 * stored there later, and nobody else's.
 *
 * Between phases all processes end, and every counter must be what it was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cow.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE		25
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif

#define RW		(PROT_READ | PROT_WRITE)
#define PHASE_STEPS	2500
#define AUDIT_STEPS	1000
#define MAX_VALUES	8
#define PHASE_VALUES	(1 << 20)
#define PATIENCE	600	/* seconds without an answer */

struct mailbox *mailboxes;
int to_worker[NR_PROCS][2], from_worker[NR_PROCS][2];
int pipes[NR_PIPES][2];
int scratch;

/**
 * struct page - what the model knows of a page of one process
 * @words: its contents
 * @other: what it may hold as well, if @either
 * @freed: it may read as zero from any time on (MADV_FREE)
 * @pin: which pin holds it, plus one
 * @pipe: which pipe holds it, plus one
 * @pin_at, @pipe_at: its place in there
 */
struct page {
	struct words words, other;
	bool mapped, either, freed, dontfork, wipe;
	uint8_t prot, pin, pipe, pin_at, pipe_at;
};

/* One page held by something that is no mapping; @slot is -1 when given away. */
struct pinned {
	int slot;
	struct words words;
};

struct spliced {
	int slot;
	uint32_t nr;
	struct words may[MAX_VALUES];
};

static struct proc {
	bool live, dying, unborn;
	int pidfd;
	struct page page[MAX_SLOTS];
} procs[NR_PROCS];

static struct pin {
	bool used;
	int proc;
	uint32_t nr, first;
	struct pinned at[MAX_PINNED];
} pins[NR_PINS];

static struct pipe_held {
	bool used, full;
	int proc;
	uint32_t nr;
	struct spliced at[MAX_SPLICED];
} held[NR_PIPES];

/* What a mailbox entry must turn out to be; @page is where the model has it. */
static struct expect {
	struct words words, other;
	bool fault, either, freed, written;
	uint32_t slot;
	uint8_t op;
} expects[NR_PROCS][MAX_SEEN];
static uint32_t nr_seen[NR_PROCS];

static uint32_t slots;
static uint64_t seed, steps, max_steps, last_value;
static uint64_t done[NR_CODES], refused[NR_CODES];
static uint64_t pages_checked, faults_seen, pins_checked, spliced_checked;
static uint64_t audits, large_seen, swapped_seen, shared_seen;
static bool strict;

/**
 * struct lazyfree - what may get lost because another process gave it up
 * @lost: pages that lazyfree_lost() saw lost; 0: nothing may get lost
 * @base: the first value of this phase is the one behind it
 * @given: values that some process had in memory it gave to MADV_FREE
 * @seen: pages that read as zero for no other reason
 */
static struct lazyfree {
	unsigned int lost;
	uint64_t base, seen;
	bool given[PHASE_VALUES];
} lazyfree;

static const char *const names[NR_CODES] = {
	"read", "write", "map", "unmap", "move", "move-keep", "protect",
	"advise", "flip", "split", "fork", "exit", "pin", "unpin", "pin-read",
	"pin-write", "splice",
};

/* ---- When something is wrong ---- */

static void kill_workers(void)
{
	int p;

	for (p = 0; p < NR_PROCS; p++)
		if (procs[p].live)
			kill(mailboxes[p].pid, SIGKILL);
}

static __noreturn __printf(2, 3) void wrong(const char *what, const char *format, ...)
{
	va_list args;

	printf("FAIL cow/%s: ", what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" (seed %llu, step %llu)\n", (unsigned long long)seed,
	       (unsigned long long)steps);
	kill_workers();
	folio_sizes_restore();
	exit(1);
}

static void print_op(const struct op *op)
{
	printf("thread %d %s pages %u+%u to %u arg %d value %llx: %d\n", op->thread,
	       names[op->code], op->slot, op->nr, op->to, op->arg,
	       (unsigned long long)op->value, op->error);
}

static void print_bundle(int p)
{
	struct mailbox *box = &mailboxes[p];
	uint32_t i;

	printf("  process %d, %s:\n", p, box->threads ? "threads" : "in order");
	for (i = 0; i < box->nr; i++) {
		printf("  %2u: ", i);
		print_op(&box->ops[i]);
	}
}

/* ---- What was done so far ---- */

/* As much as a phase has, so that a page's whole life is in it. */
static struct past {
	uint64_t step;
	bool threads;
	int proc;
	struct op op;
} past[2 * PHASE_STEPS];
static uint64_t nr_past;

static void remember(int p)
{
	struct mailbox *box = &mailboxes[p];
	uint32_t i;

	for (i = 0; i < box->nr; i++)
		past[nr_past++ % ARRAY_SIZE(past)] = (struct past) {
			.step = steps, .threads = box->threads, .proc = p,
			.op = box->ops[i],
		};
}

static bool touches(const struct op *op, uint32_t slot)
{
	return op->code == OP_FORK || op->code == OP_EXIT ||
	       (slot >= op->slot && slot < op->slot + op->nr) ||
	       (slot >= op->to && slot < op->to + op->nr);
}

/* A page may have come by fork() and by mremap(): all that was at its place. */
static void print_past(uint32_t slot)
{
	uint64_t i = nr_past > ARRAY_SIZE(past) ? nr_past - ARRAY_SIZE(past) : 0;

	printf("  page %u in all processes, before:\n", slot);
	for (; i < nr_past; i++) {
		const struct past *at = &past[i % ARRAY_SIZE(past)];

		if (!touches(&at->op, slot))
			continue;
		printf("  step %llu process %d%s ", (unsigned long long)at->step,
		       at->proc, at->threads ? " threads" : "");
		print_op(&at->op);
	}
}

/* ---- The model ---- */

static bool same(const struct words *a, const struct words *b)
{
	return a->w[0] == b->w[0] && a->w[1] == b->w[1];
}

static bool is_zero(const struct words *words)
{
	return !words->w[0] && !words->w[1];
}

/* All processes end with a phase, and with them whatever has older values. */
static uint64_t value_of_phase(const struct words *words)
{
	uint64_t value = words->w[0] - lazyfree.base;

	if (value >= PHASE_VALUES)
		die("a phase with too many values");
	return value;
}

static void give_up(const struct words *words)
{
	if (lazyfree.lost && !is_zero(words))
		lazyfree.given[value_of_phase(words)] = true;
}

/* A value is stored once: whoever has it shares the page, or did. */
static bool may_get_lost(const struct words *words)
{
	return lazyfree.lost && !is_zero(words) && lazyfree.given[value_of_phase(words)];
}

static void may_hold(struct page *page, const struct words *words)
{
	struct pipe_held *pipe;
	struct spliced *at;

	if (!page->pipe)
		return;
	pipe = &held[page->pipe - 1];
	at = &pipe->at[page->pipe_at];
	at->may[at->nr++] = *words;
	/* It is emptied before the next bundle. */
	pipe->full |= at->nr >= MAX_VALUES / 2;
}

static void model_store(struct page *page, uint64_t value)
{
	page->words = words_of(value);
	page->either = false;
	page->freed = false;
	may_hold(page, &page->words);
}

/* The process gives the memory away: what else holds it keeps what is there. */
static void let_go(struct page *page)
{
	if (page->pin) {
		struct pinned *at = &pins[page->pin - 1].at[page->pin_at];

		at->slot = -1;
		at->words = page->words;
	}
	if (page->pipe)
		held[page->pipe - 1].at[page->pipe_at].slot = -1;
	page->pin = 0;
	page->pipe = 0;
	page->either = false;
	page->freed = false;
	page->words = words_of(0);
}

static void model_unmap(struct page *page)
{
	let_go(page);
	memset(page, 0, sizeof(*page));
}

static void model_map(struct page *page)
{
	model_unmap(page);
	page->mapped = true;
	page->prot = RW;
}

static void model_move(struct page *from, struct page *to, int to_slot, bool keep)
{
	model_unmap(to);
	*to = *from;
	if (to->pin)
		pins[to->pin - 1].at[to->pin_at].slot = to_slot;
	if (to->pipe)
		held[to->pipe - 1].at[to->pipe_at].slot = to_slot;
	from->pin = 0;
	from->pipe = 0;
	if (keep)
		let_go(from);
	else
		memset(from, 0, sizeof(*from));
}

static void model_fork(int parent, int child)
{
	uint32_t i;

	memcpy(procs[child].page, procs[parent].page, sizeof(procs[child].page));
	for (i = 0; i < slots; i++) {
		struct page *page = &procs[child].page[i];

		page->pin = 0;
		page->pipe = 0;
		if (page->dontfork)
			memset(page, 0, sizeof(*page));
		else if (page->wipe)
			let_go(page);
	}
	procs[child].live = true;
	procs[child].unborn = true;
	procs[child].dying = false;
	procs[child].pidfd = -1;
}

static void model_exit(int p)
{
	uint32_t i;

	for (i = 0; i < slots; i++)
		model_unmap(&procs[p].page[i]);
	for (i = 0; i < NR_PINS; i++)
		if (pins[i].proc == p)
			pins[i].used = false;
	procs[p].dying = true;
}

static const struct words *pinned_words(const struct pin *pin, uint32_t i)
{
	const struct pinned *at = &pin->at[i];

	return at->slot < 0 ? &at->words : &procs[pin->proc].page[at->slot].words;
}

/* ---- Which pages ---- */

static bool is_mapped(const struct page *page)
{
	return page->mapped;
}

static bool is_writable(const struct page *page)
{
	return page->mapped && page->prot == RW;
}

static bool is_settled(const struct page *page)
{
	return is_writable(page) && !page->freed && !may_get_lost(&page->words);
}

/* Held by one thing at a time: a device may write to what it has pinned. */
static bool is_pinnable(const struct page *page)
{
	return is_settled(page) && !page->pin && !page->pipe;
}

static bool is_spliceable(const struct page *page)
{
	return page->mapped && page->prot != PROT_NONE && !page->freed &&
		!may_get_lost(&page->words) && !page->pin && !page->pipe;
}

static bool is_freeable(const struct page *page)
{
	return page->mapped && !page->pin && !page->pipe;
}

static uint32_t some_length(void)
{
	switch (rnd(8)) {
	case 0:
	case 1:
	case 2:
		return 1 + rnd(4);
	case 3:
	case 4:
		return 16;
	case 5:
		return 1 + rnd(64);
	case 6:
		return 64;
	default:
		return 1 + rnd(slots / 3);
	}
}

/* A range of at most @max pages that are all @ok. */
static bool pick(int p, bool (*ok)(const struct page *), uint32_t max,
		 uint32_t *slot, uint32_t *nr)
{
	struct page *page = procs[p].page;
	int tries;

	for (tries = 0; tries < 24; tries++) {
		uint32_t from = rnd(slots), want = some_length(), n = 0;

		if (rnd(2))
			from -= from % (want >= 16 ? 16 : 4);
		if (want > max)
			want = max;
		while (n < want && from + n < slots && ok(&page[from + n]))
			n++;
		if (n) {
			*slot = from;
			*nr = n;
			return true;
		}
	}
	return false;
}

/* ---- Drawing steps ---- */

static bool has_room(int p, uint32_t seen)
{
	return mailboxes[p].nr < MAX_OPS && nr_seen[p] + seen <= MAX_SEEN;
}

static struct op *add(int p, enum code code, uint32_t slot, uint32_t nr)
{
	struct op *op = &mailboxes[p].ops[mailboxes[p].nr++];

	memset(op, 0, sizeof(*op));
	op->code = code;
	op->slot = slot;
	op->nr = nr;
	op->seen = nr_seen[p];
	steps++;
	return op;
}

static struct expect *expect(int p, uint32_t slot)
{
	struct expect *e = &expects[p][nr_seen[p]++];

	memset(e, 0, sizeof(*e));
	e->slot = slot;
	e->op = mailboxes[p].nr - 1;
	return e;
}

static struct op *draw_read_at(int p, uint32_t slot, uint32_t nr)
{
	struct op *op = add(p, OP_READ, slot, nr);
	uint32_t i;

	for (i = slot; i < slot + nr; i++) {
		struct page *page = &procs[p].page[i];
		struct expect *e = expect(p, i);

		e->words = page->words;
		e->other = page->other;
		e->either = page->either;
		e->freed = page->freed;
		e->fault = !page->mapped || page->prot == PROT_NONE;
	}
	return op;
}

static struct op *draw_write_at(int p, uint32_t slot, uint32_t nr)
{
	struct op *op = add(p, OP_WRITE, slot, nr);
	uint32_t i;

	op->value = last_value + 1;
	last_value += nr;
	for (i = 0; i < nr; i++) {
		struct page *page = &procs[p].page[slot + i];
		struct expect *e = expect(p, slot + i);

		e->written = true;
		e->fault = !is_writable(page);
		if (!e->fault)
			model_store(page, op->value + i);
	}
	return op;
}

static void draw_access(int p, bool writing)
{
	uint32_t slot = rnd(slots), nr = 1;

	/* Now and then also where nothing is. */
	if (rnd(16) && !pick(p, writing ? is_writable : is_mapped, slots, &slot, &nr))
		return;
	if (!has_room(p, nr))
		return;
	if (writing)
		draw_write_at(p, slot, nr);
	else
		draw_read_at(p, slot, nr);
}

static void draw_map(int p)
{
	static const uint32_t lengths[] = { 4, 16, 64, 256, 512 };
	uint32_t nr = lengths[rnd(ARRAY_SIZE(lengths))], slot, i;

	if (nr > slots / 3)
		nr = slots / 3;
	slot = rnd(slots / nr) * nr;
	if (!has_room(p, nr) || mailboxes[p].nr + 1 == MAX_OPS)
		return;
	add(p, OP_MAP, slot, nr);
	for (i = slot; i < slot + nr; i++)
		model_map(&procs[p].page[i]);
	if (rnd(8))
		draw_write_at(p, slot, nr);
}

static void draw_unmap(int p)
{
	uint32_t slot, nr, i;

	if (!pick(p, is_mapped, 64, &slot, &nr))
		return;
	add(p, OP_UNMAP, slot, nr);
	for (i = slot; i < slot + nr; i++)
		model_unmap(&procs[p].page[i]);
}

static void draw_move(int p)
{
	struct page *page = procs[p].page;
	uint32_t slot, nr, to, i;
	bool keep = !rnd(5);
	struct op *op;

	if (!pick(p, is_mapped, slots / 3, &slot, &nr))
		return;
	to = rnd(slots - nr);
	if (to < slot + nr && slot < to + nr)
		return;
	op = add(p, keep ? OP_MOVE_KEEP : OP_MOVE, slot, nr);
	op->to = to;
	for (i = 0; i < nr; i++)
		model_move(&page[slot + i], &page[to + i], to + i, keep);
}

static void draw_protect(int p)
{
	static const int prots[] = { PROT_NONE, PROT_READ, PROT_READ, RW, RW, RW };
	int prot = prots[rnd(ARRAY_SIZE(prots))];
	uint32_t slot, nr, i;

	if (!pick(p, is_mapped, slots, &slot, &nr))
		return;
	add(p, OP_PROTECT, slot, nr)->arg = prot;
	for (i = slot; i < slot + nr; i++)
		procs[p].page[i].prot = prot;
}

/* Advice that changes no contents, and may be refused. */
static int neutral_advice(void)
{
	static const int advice[] = {
		MADV_PAGEOUT, MADV_PAGEOUT, MADV_PAGEOUT, MADV_COLD,
		MADV_COLLAPSE, MADV_COLLAPSE, MADV_HUGEPAGE, MADV_HUGEPAGE,
		MADV_NOHUGEPAGE, MADV_POPULATE_WRITE,
	};

	return advice[rnd(ARRAY_SIZE(advice))];
}

static void model_advise(struct page *page, int advice)
{
	switch (advice) {
	case MADV_DONTNEED:
		let_go(page);
		break;
	case MADV_FREE:
		/* What is one of two things already stays that. */
		page->freed = page->words.w[0] || page->words.w[1];
		give_up(&page->words);
		if (page->either)
			give_up(&page->other);
		break;
	case MADV_DONTFORK:
	case MADV_DOFORK:
		page->dontfork = advice == MADV_DONTFORK;
		break;
	case MADV_WIPEONFORK:
	case MADV_KEEPONFORK:
		page->wipe = advice == MADV_WIPEONFORK;
		break;
	}
}

static void draw_advise(int p)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, MADV_FREE, MADV_DONTFORK,
		MADV_DOFORK, MADV_DOFORK, MADV_WIPEONFORK, MADV_KEEPONFORK,
		MADV_KEEPONFORK,
	};
	int what = rnd(2) ? neutral_advice() : advice[rnd(ARRAY_SIZE(advice))];
	uint32_t slot, nr, i;

	if (!pick(p, what == MADV_FREE ? is_freeable : is_mapped, 256, &slot, &nr))
		return;
	add(p, OP_ADVISE, slot, nr)->arg = what;
	for (i = slot; i < slot + nr; i++)
		model_advise(&procs[p].page[i], what);
}

static void draw_neutral(int p, enum code code, int thread)
{
	uint32_t slot, nr;
	struct op *op;

	if (!pick(p, code == OP_FLIP ? is_writable : is_mapped, 256, &slot, &nr))
		return;
	op = add(p, code, slot, nr);
	op->thread = thread;
	if (code == OP_ADVISE)
		op->arg = neutral_advice();
}

static int free_proc(void)
{
	int p;

	for (p = 0; p < NR_PROCS; p++)
		if (!procs[p].live)
			return p;
	return -1;
}

static struct op *draw_fork(int p)
{
	int child = free_proc();
	struct op *op;

	if (child < 0)
		return NULL;
	op = add(p, OP_FORK, 0, 0);
	op->arg = child;
	model_fork(p, child);
	return op;
}

static void draw_pin(int p)
{
	uint32_t slot, nr, i, n;
	struct pin *pin;

	for (n = 0; n < NR_PINS && pins[n].used; n++)
		;
	if (n == NR_PINS || !pick(p, is_pinnable, MAX_PINNED, &slot, &nr))
		return;
	add(p, OP_PIN, slot, nr)->arg = n;
	pin = &pins[n];
	pin->used = true;
	pin->proc = p;
	pin->nr = nr;
	pin->first = slot;
	for (i = 0; i < nr; i++) {
		pin->at[i].slot = slot + i;
		procs[p].page[slot + i].pin = n + 1;
		procs[p].page[slot + i].pin_at = i;
	}
}

/* A pin of process @p, or -1. */
static int some_pin(int p)
{
	int i, n = rnd(NR_PINS);

	for (i = 0; i < NR_PINS; i++, n = (n + 1) % NR_PINS)
		if (pins[n].used && pins[n].proc == p)
			return n;
	return -1;
}

static void draw_unpin(int p)
{
	int n = some_pin(p);
	uint32_t i;

	if (n < 0)
		return;
	add(p, OP_UNPIN, 0, 0)->arg = n;
	for (i = 0; i < pins[n].nr; i++)
		if (pins[n].at[i].slot >= 0)
			procs[p].page[pins[n].at[i].slot].pin = 0;
	pins[n].used = false;
}

static void draw_pin_read(int p, int n)
{
	struct pin *pin = &pins[n];
	uint32_t i;

	if (n < 0 || !has_room(p, pin->nr))
		return;
	add(p, OP_PIN_READ, pin->first, pin->nr)->arg = n;
	for (i = 0; i < pin->nr; i++)
		expect(p, pin->first + i)->words = *pinned_words(pin, i);
	pins_checked += pin->nr;
}

/* The device writes whatever the process may do with its mapping. */
static void draw_pin_write(int p)
{
	int n = some_pin(p);
	struct pin *pin = &pins[n];
	struct op *op;
	uint32_t i;

	if (n < 0)
		return;
	i = rnd(pin->nr);
	op = add(p, OP_PIN_WRITE, pin->first + i, 1);
	op->arg = n;
	op->value = ++last_value;
	if (pin->at[i].slot < 0)
		pin->at[i].words = words_of(op->value);
	else
		model_store(&procs[p].page[pin->at[i].slot], op->value);
}

static void draw_splice(int p)
{
	uint32_t slot, nr, i, n;

	for (n = 0; n < NR_PIPES && held[n].used; n++)
		;
	if (n == NR_PIPES || !pick(p, is_spliceable, MAX_SPLICED, &slot, &nr))
		return;
	add(p, OP_SPLICE, slot, nr)->arg = n;
	held[n].used = true;
	held[n].full = false;
	held[n].proc = p;
	held[n].nr = nr;
	for (i = 0; i < nr; i++) {
		struct page *page = &procs[p].page[slot + i];

		held[n].at[i].slot = slot + i;
		held[n].at[i].nr = 0;
		page->pipe = n + 1;
		page->pipe_at = i;
		may_hold(page, &page->words);
	}
}

static bool any_pipe_full(void)
{
	int n;

	for (n = 0; n < NR_PIPES; n++)
		if (held[n].used && held[n].full)
			return true;
	return false;
}

static void draw_step(int p)
{
	uint64_t dice = rnd(100);

	if (dice < 14)
		draw_access(p, false);
	else if (dice < 40)
		draw_access(p, true);
	else if (dice < 44)
		draw_map(p);
	else if (dice < 47)
		draw_unmap(p);
	else if (dice < 51)
		draw_move(p);
	else if (dice < 60)
		draw_protect(p);
	else if (dice < 70)
		draw_advise(p);
	else if (dice < 71)
		draw_neutral(p, OP_FLIP, 0);
	else if (dice < 72)
		draw_neutral(p, OP_SPLIT, 0);
	else if (dice < 82)
		draw_fork(p);
	else if (dice < 85)
		draw_pin(p);
	else if (dice < 87)
		draw_unpin(p);
	else if (dice < 91)
		draw_pin_read(p, some_pin(p));
	else if (dice < 94)
		draw_pin_write(p);
	else
		draw_splice(p);
}

static void draw_in_order(int p)
{
	uint32_t nr = 1 + rnd(16);

	/* A pipe that a store was seen by often is to be emptied first. */
	while (nr-- && mailboxes[p].nr < MAX_OPS - 2 && !any_pipe_full())
		draw_step(p);
	if (!rnd(6)) {
		add(p, OP_EXIT, 0, 0);
		model_exit(p);
	}
}

/* The last step of a bundle goes to @place, those behind it one further. */
static void move_last(int p, uint32_t place)
{
	struct mailbox *box = &mailboxes[p];
	struct op op = box->ops[box->nr - 1];
	uint32_t i;

	memmove(&box->ops[place + 1], &box->ops[place],
		(box->nr - 1 - place) * sizeof(op));
	box->ops[place] = op;
	for (i = 0; i < nr_seen[p]; i++)
		expects[p][i].op += expects[p][i].op >= place;
}

/*
 * Threads at once: each accesses pages of its own, between those of the others.
 * The rest changes no contents.  With fork(), a page is written once, and is
 * in the child what it was or what it became.
 */
static void draw_threads(int p)
{
	static struct page before[MAX_SLOTS];
	uint32_t chunk = rnd(2) ? 1 : 16, nr = 16 + rnd(MAX_OPS - 20), i, slot, len;
	static bool written[MAX_SLOTS];
	bool forking = free_proc() >= 0 && rnd(2);
	struct op *op;

	mailboxes[p].threads = true;
	memset(written, 0, sizeof(written));
	memcpy(before, procs[p].page, sizeof(before));
	while (nr--) {
		uint64_t dice = rnd(10);

		if (dice < 8) {
			bool writing = dice < 5;

			if (!pick(p, is_settled, chunk, &slot, &len))
				continue;
			if (len > chunk - slot % chunk)
				len = chunk - slot % chunk;
			for (i = 0; i < len && !(writing && written[slot + i]); i++)
				;
			if (i < len || !has_room(p, len) || any_pipe_full())
				continue;
			op = writing ? draw_write_at(p, slot, len) : draw_read_at(p, slot, len);
			op->thread = slot / chunk % NR_THREADS;
			for (i = 0; i < len; i++)
				written[slot + i] |= writing;
		} else if (dice < 9 && !forking) {
			draw_neutral(p, OP_FLIP, rnd(NR_THREADS));
		} else {
			draw_neutral(p, OP_ADVISE, rnd(NR_THREADS));
		}
	}
	if (!forking || !mailboxes[p].nr)
		return;
	op = draw_fork(p);
	op->thread = rnd(NR_THREADS);
	for (i = 0; i < slots; i++) {
		struct page *page = &procs[op->arg].page[i];

		if (!written[i] || !page->mapped || page->wipe)
			continue;
		page->either = true;
		page->other = before[i].words;
	}
	move_last(p, rnd(mailboxes[p].nr));
}

/* ---- Comparing ---- */

/* Asked when a round is over: it may have been given up in the same round. */
static bool expect_lost(const struct expect *e)
{
	return may_get_lost(&e->words) || (e->either && may_get_lost(&e->other));
}

static bool seen_as_expected(struct seen *seen, struct expect *e)
{
	int i;

	if (seen->fault != e->fault)
		return false;
	if (e->fault || e->written || same(&seen->words, &e->words))
		return true;
	if (is_zero(&seen->words) && e->freed)
		return true;
	if (is_zero(&seen->words) && expect_lost(e)) {
		lazyfree.seen++;
		return true;
	}
	for (i = 0; i < 2; i++)
		if (!e->either || (seen->words.w[i] != e->words.w[i] &&
				   seen->words.w[i] != e->other.w[i]))
			return false;
	return true;
}

static const char *whose(uint64_t value, uint32_t *slot)
{
	static const char *const owner[NR_PROCS] = { "0", "1", "2", "3" };
	int p;

	for (p = 0; p < NR_PROCS; p++)
		for (*slot = 0; *slot < slots; (*slot)++)
			if (procs[p].live && procs[p].page[*slot].words.w[0] == value)
				return owner[p];
	return "none";
}

static void not_as_expected(int p, struct seen *seen, struct expect *e)
{
	uint32_t slot = 0;
	const char *owner = whose(seen->words.w[0], &slot);

	print_past(e->slot);
	print_bundle(p);
	wrong(mailboxes[p].ops[e->op].code == OP_PIN_READ ? "pins" : "contents",
	      "process %d, page %u: %s %llx:%llx, not %s %llx:%llx; it is in process %s, %u",
	      p, e->slot, seen->fault ? "fault" : "read",
	      (unsigned long long)seen->words.w[0], (unsigned long long)seen->words.w[1],
	      e->fault ? "fault" : e->written ? "stored" : e->freed ? "zero or" : "read",
	      (unsigned long long)e->words.w[0], (unsigned long long)e->words.w[1],
	      owner, slot);
}

/* What was one of two things and has been seen is that one now. */
static void settle(int p, struct seen *seen, struct expect *e)
{
	struct page *page = &procs[p].page[e->slot];

	if (!same(&page->words, &e->words) || e->fault || e->written)
		return;
	if (is_zero(&seen->words) && ((e->freed && page->freed) || expect_lost(e))) {
		page->words = seen->words;
		page->freed = false;
	}
	if (e->either && page->either) {
		page->words = seen->words;
		page->either = false;
	}
}

static bool may_be_refused(const struct op *op)
{
	return op->code == OP_ADVISE || op->code == OP_SPLIT;
}

static void compare(int p)
{
	struct mailbox *box = &mailboxes[p];
	uint32_t i;

	for (i = 0; i < box->nr; i++) {
		struct op *op = &box->ops[i];

		done[op->code]++;
		refused[op->code] += !!op->error;
		if (op->error && !may_be_refused(op)) {
			print_bundle(p);
			wrong("calls", "process %d: %s: %s", p, names[op->code],
			      strerror(op->error));
		}
	}
	for (i = 0; i < nr_seen[p]; i++) {
		if (!seen_as_expected(&box->seen[i], &expects[p][i]))
			not_as_expected(p, &box->seen[i], &expects[p][i]);
		faults_seen += expects[p][i].fault;
	}
	pages_checked += nr_seen[p];
	for (i = 0; i < nr_seen[p]; i++)
		settle(p, &box->seen[i], &expects[p][i]);
	remember(p);
}

/* ---- What pipes hold ---- */

static void empty_pipe(int n)
{
	static char page[65536];
	struct pipe_held *pipe = &held[n];
	struct words words;
	uint32_t i, j;

	for (i = 0; i < pipe->nr; i++) {
		struct spliced *at = &pipe->at[i];

		if (read(pipes[n][0], page, page_size) != (ssize_t)page_size)
			die("a pipe has not what was put in");
		memcpy(&words.w[0], page, 8);
		memcpy(&words.w[1], page + page_size - 8, 8);
		for (j = 0; j < at->nr && !same(&words, &at->may[j]) &&
		     !(is_zero(&words) && may_get_lost(&at->may[j])); j++)
			;
		if (j == at->nr)
			wrong("pipes", "%d, page %u of process %d: %llx:%llx, not %llx or %u later",
			      n, i, pipe->proc, (unsigned long long)words.w[0],
			      (unsigned long long)words.w[1],
			      (unsigned long long)at->may[0].w[0], at->nr - 1);
		if (at->slot >= 0)
			procs[pipe->proc].page[at->slot].pipe = 0;
		spliced_checked++;
	}
	pipe->used = false;
	pipe->full = false;
}

static void empty_pipes(bool all)
{
	int n;

	for (n = 0; n < NR_PIPES; n++)
		if (held[n].used && (all || held[n].full || !rnd(6)))
			empty_pipe(n);
}

/* ---- Rounds ---- */

static void await(int p)
{
	struct pollfd fds[2] = {
		{ .fd = from_worker[p][0], .events = POLLIN },
		{ .fd = procs[p].pidfd, .events = POLLIN },
	};
	char c;

	if (poll(fds, procs[p].pidfd < 0 ? 1 : 2, PATIENCE * 1000) <= 0) {
		print_bundle(p);
		wrong("alive", "process %d does not answer", p);
	}
	if (!(fds[0].revents & POLLIN)) {
		print_bundle(p);
		wrong("alive", "process %d died", p);
	}
	if (read(from_worker[p][0], &c, 1) != 1)
		die("pipe from a worker");
}

static void await_birth(int p)
{
	await(p);
	procs[p].unborn = false;
	procs[p].pidfd = syscall(__NR_pidfd_open, mailboxes[p].pid, 0);
	if (procs[p].pidfd < 0)
		die("pidfd_open");
}

static void await_end(int p)
{
	struct pollfd fd = { .fd = procs[p].pidfd, .events = POLLIN };

	if (poll(&fd, 1, PATIENCE * 1000) <= 0)
		wrong("alive", "process %d does not end", p);
	close(procs[p].pidfd);
	procs[p].pidfd = -1;
	procs[p].live = false;
	procs[p].dying = false;
}

static void start_bundle(int p)
{
	mailboxes[p].nr = 0;
	mailboxes[p].threads = false;
	nr_seen[p] = 0;
}

static void send(int p)
{
	if (write(to_worker[p][1], "", 1) != 1)
		die("pipe to a worker");
}

/* The bundles of all processes in @set, at the same time. */
static void run_round(unsigned int set)
{
	int p;

	for (p = 0; p < NR_PROCS; p++)
		if (set & 1 << p)
			send(p);
	for (p = 0; p < NR_PROCS; p++)
		if (set & 1 << p && !procs[p].dying)
			await(p);
	for (p = 0; p < NR_PROCS; p++)
		if (procs[p].unborn)
			await_birth(p);
	for (p = 0; p < NR_PROCS; p++) {
		if (!(set & 1 << p))
			continue;
		if (procs[p].dying)
			await_end(p);
		compare(p);
	}
}

static void new_family(void)
{
	pid_t pid;

	procs[0].live = true;
	procs[0].unborn = true;
	procs[0].dying = false;
	procs[0].pidfd = -1;
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		worker(0);
	await_birth(0);
	start_bundle(0);
	draw_map(0);
	draw_map(0);
	run_round(1);
}

static bool anyone(void)
{
	int p;

	for (p = 0; p < NR_PROCS; p++)
		if (procs[p].live)
			return true;
	return false;
}

/* What was possibly written during fork() must be settled first. */
static bool has_unsettled(int p)
{
	uint32_t i;

	for (i = 0; i < slots; i++)
		if (procs[p].page[i].either)
			return true;
	return false;
}

static void random_round(void)
{
	unsigned int set = 0, p;
	bool was_live[NR_PROCS];

	if (!anyone())
		new_family();
	for (p = 0; p < NR_PROCS; p++)
		was_live[p] = procs[p].live;
	for (p = 0; p < NR_PROCS; p++) {
		if (!was_live[p])
			continue;
		start_bundle(p);
		if (has_unsettled(p))
			draw_read_at(p, 0, slots);
		else if (!rnd(8))
			continue;
		else if (rnd(5))
			draw_in_order(p);
		else
			draw_threads(p);
		if (mailboxes[p].nr)
			set |= 1 << p;
	}
	run_round(set);
	empty_pipes(false);
}

static void read_everything(void)
{
	unsigned int set = 0;
	int p, n;

	for (p = 0; p < NR_PROCS; p++) {
		if (!procs[p].live)
			continue;
		start_bundle(p);
		draw_read_at(p, 0, slots);
		for (n = 0; n < NR_PINS; n++)
			if (pins[n].used && pins[n].proc == p)
				draw_pin_read(p, n);
		set |= 1 << p;
	}
	run_round(set);
}

static void end_everyone(void)
{
	unsigned int set = 0;
	int p;

	for (p = 0; p < NR_PROCS; p++) {
		if (!procs[p].live)
			continue;
		start_bundle(p);
		add(p, OP_EXIT, 0, 0);
		model_exit(p);
		set |= 1 << p;
	}
	run_round(set);
}

/* ---- Counters ---- */

struct mapped {
	uint64_t pfn;
	int proc, slot;
	bool exclusive;
};

static struct mapped mapped[NR_PROCS * MAX_SLOTS];
static size_t nr_mapped;

/* Kilobytes that /proc/PID/smaps sums up for the arena. */
struct sums {
	unsigned long rss, swap, anonymous, huge;
};

static void sum_smaps(int p, struct sums *sums)
{
	unsigned long start, end, kb;
	bool inside = false;
	char line[256];
	FILE *f;

	memset(sums, 0, sizeof(*sums));
	snprintf(line, sizeof(line), "/proc/%d/smaps", mailboxes[p].pid);
	f = fopen(line, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start >= (uintptr_t)ARENA && end <= (uintptr_t)page_at(slots);
		else if (!inside)
			continue;
		else if (sscanf(line, "Rss: %lu", &kb) == 1)
			sums->rss += kb;
		else if (sscanf(line, "Swap: %lu", &kb) == 1)
			sums->swap += kb;
		else if (sscanf(line, "Anonymous: %lu", &kb) == 1)
			sums->anonymous += kb;
		else if (sscanf(line, "AnonHugePages: %lu", &kb) == 1)
			sums->huge += kb;
	}
	if (!f)
		die("smaps");
	fclose(f);
}

/* NULL, or what does not add up in process @p. */
static const char *audit_process(int p)
{
	static uint64_t entry[MAX_SLOTS];
	unsigned long present = 0, swapped = 0, kb = page_size / 1024;
	struct sums sums;
	uint32_t i;

	pagemap(mailboxes[p].pid, ARENA, slots, entry);
	for (i = 0; i < slots; i++) {
		if (!procs[p].page[i].mapped && entry[i] & (PM_PRESENT | PM_SWAP))
			return "a page is there that was unmapped";
		swapped += !!(entry[i] & PM_SWAP);
		if (!(entry[i] & PM_PRESENT) ||
		    page_flags(entry[i] & PM_PFN) & 1ULL << KPF_ZERO)
			continue;
		present++;
		mapped[nr_mapped++] = (struct mapped){
			entry[i] & PM_PFN, p, i, !!(entry[i] & PM_EXCLUSIVE) };
	}
	sum_smaps(p, &sums);
	swapped_seen += swapped;
	if (sums.rss != present * kb)
		return "Rss of smaps differs from pagemap";
	if (sums.swap != swapped * kb)
		return "Swap of smaps differs from pagemap";
	if (sums.anonymous != present * kb)
		return "Anonymous of smaps differs from pagemap";
	if (sums.huge > sums.rss || sums.huge % (pmd_size / 1024))
		return "AnonHugePages of smaps is impossible";
	return NULL;
}

static int by_pfn(const void *a, const void *b)
{
	const struct mapped *x = a, *y = b;

	return x->pfn < y->pfn ? -1 : x->pfn > y->pfn;
}

/* Who maps a page is known: each process, once. */
static const char *audit_page(size_t i, size_t n)
{
	uint64_t flags = page_flags(mapped[i].pfn);
	size_t j;

	if (!(flags & 1ULL << KPF_ANON))
		return "a page is not anonymous";
	if (page_mapcount(mapped[i].pfn) != n)
		return "the mapcount differs from the number of mappings";
	for (j = i; j < i + n; j++) {
		if (n > 1 ? mapped[j].exclusive : !mapped[j].exclusive)
			return "mapped exclusively, or not, against pagemap";
		if (j > i && mapped[j].proc == mapped[j - 1].proc)
			return "a process maps a page twice";
	}
	large_seen += n * !!(flags & (1ULL << KPF_HEAD | 1ULL << KPF_TAIL));
	shared_seen += n > 1;
	return NULL;
}

static const char *audit_once(void)
{
	const char *why = NULL;
	size_t i, n;
	int p;

	nr_mapped = 0;
	for (p = 0; p < NR_PROCS && !why; p++)
		if (procs[p].live)
			why = audit_process(p);
	qsort(mapped, nr_mapped, sizeof(mapped[0]), by_pfn);
	for (i = 0; i < nr_mapped && !why; i += n) {
		for (n = 1; i + n < nr_mapped && mapped[i + n].pfn == mapped[i].pfn; n++)
			;
		why = audit_page(i, n);
	}
	return why;
}

static void nap(void)
{
	struct timespec t = { .tv_nsec = 100000000 };

	nanosleep(&t, NULL);
}

/* The kernel may be moving a page at this moment: wrong is what stays so. */
static void audit(void)
{
	const char *why;
	int tries;

	for (tries = 0; (why = audit_once()) && tries < 50; tries++)
		nap();
	if (why)
		wrong("counters", "%s", why);
	audits++;
}

/**
 * struct counters - what must be as before when all processes are gone
 * @anon: pages of anonymous memory in the system
 * @swap: kilobytes free in swap
 * @folios: anonymous folios of every large size
 */
struct counters {
	unsigned long anon, swap, folios;
};

static unsigned long large_folios(void)
{
	unsigned long kb, n, sum = 0;
	char path[128];

	for (kb = 1; kb <= 1 << 20; kb *= 2) {
		snprintf(path, sizeof(path),
			 "/sys/kernel/mm/transparent_hugepage/hugepages-%lukB/stats/nr_anon", kb);
		if (number_from(path, "", &n))
			sum += n;
	}
	return sum;
}

static void count(struct counters *c)
{
	try_put("/proc/sys/vm/stat_refresh", "1");
	number_from("/proc/vmstat", "nr_anon_pages", &c->anon);
	number_from("/proc/meminfo", "SwapFree:", &c->swap);
	c->folios = large_folios();
}

/* What is freed late (pins of a ring that was closed) is not there for ever. */
static void count_settled(struct counters *c)
{
	struct counters last;
	int same_for = 0, tries;

	count(c);
	for (tries = 0; tries < 100 && same_for < 5; tries++) {
		nap();
		last = *c;
		count(c);
		same_for = memcmp(&last, c, sizeof(last)) ? 0 : same_for + 1;
	}
}

/*
 * Each CPU keeps some slots of swap at hand, 512 kB at most.  Other processes
 * of a whole machine come and go; in the guest there are none.
 */
static void no_leak(const struct counters *before)
{
	unsigned long some = strict ? 16 : 16384, swap = strict ? 2048 : 65536;
	struct counters now;
	int tries;

	for (tries = 0; tries < 100; tries++) {
		count(&now);
		if (now.anon <= before->anon + some && now.folios <= before->folios + some / 16 &&
		    now.swap + swap >= before->swap)
			return;
		nap();
	}
	wrong("leaks", "%lu anonymous pages, then %lu; swap %lu kB, then %lu; %lu folios, then %lu",
	      before->anon, now.anon, before->swap, now.swap, before->folios, now.folios);
}

/* ---- All of it ---- */

static void some_sizes(void)
{
	static const unsigned long kb[][5] = {
		{ 0 }, { 16 }, { 64 }, { 64 }, { 1024 }, { 2048 }, { 16, 64, 1024, 2048 },
	};
	unsigned int i = rnd(ARRAY_SIZE(kb));

	folio_sizes(kb[i], ARRAY_SIZE(kb[i]));
}

static void phase(void)
{
	uint64_t end = steps + PHASE_STEPS, next_audit = steps + AUDIT_STEPS;

	lazyfree.base = last_value;
	memset(lazyfree.given, 0, sizeof(lazyfree.given));
	some_sizes();
	while (steps < end && steps < max_steps) {
		random_round();
		if (steps < next_audit)
			continue;
		next_audit += AUDIT_STEPS;
		audit();
		if (rnd(2))
			some_sizes();
	}
	read_everything();
	empty_pipes(true);
	audit();
	end_everyone();
}

static void prepare(void)
{
	int i;

	slots = 3 * pmd_size / page_size;
	if (slots > MAX_SLOTS)
		slots = MAX_SLOTS;
	mailboxes = mmap(NULL, sizeof(*mailboxes) * NR_PROCS, RW,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	scratch = memfd_create("cow", 0);
	if (mailboxes == MAP_FAILED || scratch < 0 ||
	    ftruncate(scratch, NR_PROCS * page_size))
		die("shared memory");
	for (i = 0; i < NR_PROCS; i++)
		if (pipe(to_worker[i]) || pipe(from_worker[i]))
			die("pipe");
	for (i = 0; i < NR_PIPES; i++)
		if (pipe(pipes[i]))
			die("pipe");
	/* What the coordinator itself needs is counted from the start. */
	if (mlockall(MCL_CURRENT))
		die("mlockall");
	/* Nobody waits for the processes: poll() on a pidfd does. */
	signal(SIGCHLD, SIG_IGN);
}

static void report(unsigned int seconds)
{
	int i;

	printf("cow: %llu steps in %u s, %llu pages compared, %llu faults\n",
	       (unsigned long long)steps, seconds, (unsigned long long)pages_checked,
	       (unsigned long long)faults_seen);
	printf("cow: %llu pages compared in pins, %llu in pipes\n",
	       (unsigned long long)pins_checked, (unsigned long long)spliced_checked);
	printf("cow: %llu audits saw %llu pages of large folios, %llu in swap, %llu shared\n",
	       (unsigned long long)audits, (unsigned long long)large_seen,
	       (unsigned long long)swapped_seen, (unsigned long long)shared_seen);
	printf("cow: %llu pages lost by MADV_FREE of another process\n",
	       (unsigned long long)lazyfree.seen);
	printf("cow: steps:");
	for (i = 0; i < NR_CODES; i++)
		printf(" %s %llu", names[i], (unsigned long long)done[i]);
	printf("; refused: advise %llu split %llu\n",
	       (unsigned long long)refused[OP_ADVISE], (unsigned long long)refused[OP_SPLIT]);
}

/* A run that did not get to the point passes nothing. */
static bool reached(const char *what, bool yes)
{
	if (yes)
		printf("PASS cow/%s\n", what);
	else
		printf("FAIL cow/%s: never happened\n", what);
	return yes;
}

int main(void)
{
	struct counters before;
	time_t start = time(NULL);
	bool ok = true;
	int i;

	common_init();
	seed = env_number("SEED", time(NULL));
	max_steps = env_number("STEPS", 100000);
	strict = env_number("STRICT", 0);
	random_state = seed;
	printf("cow: seed %llu, %llu steps\n", (unsigned long long)seed,
	       (unsigned long long)max_steps);
	catch_faults();
	lazyfree.lost = lazyfree_lost();
	printf("cow: MADV_FREE: %u of 16 pages of another process lost when tried\n",
	       lazyfree.lost);
	prepare();
	/* The first phase is for whatever is allocated once. */
	phase();
	count_settled(&before);
	while (steps < max_steps) {
		phase();
		no_leak(&before);
		if (steps / 20000 != (steps - PHASE_STEPS) / 20000)
			printf("cow: step %llu, %u s\n", (unsigned long long)steps,
			       (unsigned int)(time(NULL) - start));
	}
	folio_sizes_restore();
	report(time(NULL) - start);
	for (i = 0; i < NR_CODES; i++)
		if (i != OP_SPLIT || strict)
			ok &= reached(names[i], done[i] > refused[i]);
	ok &= reached("contents", pages_checked);
	ok &= reached("pins", pins_checked);
	ok &= reached("pipes", spliced_checked);
	ok &= reached("counters", audits);
	ok &= reached("large-folios", large_seen);
	ok &= reached("shared-pages", shared_seen);
	if (strict)
		ok &= reached("swap", swapped_seen);
	ok &= reached("leaks", steps > PHASE_STEPS);
	return !ok;
}
