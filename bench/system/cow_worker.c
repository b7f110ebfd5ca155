// SPDX-License-Identifier: GPL-2.0
/*
 * A worker of the copy-on-write test: does bundles of steps on its arena, in
 * order or by four threads at once, and notes what it sees.  It judges
 * nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cow.h"

static int me;
static struct ring rings[NR_PINS];

static struct mailbox *box(void)
{
	return &mailboxes[me];
}

/*
 * With threads, OP_FLIP of another may have taken the rights for a moment: the
 * coordinator gives accesses to threads only where they are allowed.
 */
static bool load(const char *page, struct words *words)
{
	while (!load_words(page, words)) {
		if (!box()->threads)
			return false;
		sched_yield();
	}
	return true;
}

static bool store(char *page, const struct words *words)
{
	while (!store_words(page, words)) {
		if (!box()->threads)
			return false;
		sched_yield();
	}
	return true;
}

static void do_read(struct op *op)
{
	struct seen *seen = &box()->seen[op->seen];
	uint32_t i;

	for (i = 0; i < op->nr; i++)
		seen[i].fault = !load(page_at(op->slot + i), &seen[i].words);
}

static void do_write(struct op *op)
{
	struct seen *seen = &box()->seen[op->seen];
	uint32_t i;

	for (i = 0; i < op->nr; i++) {
		struct words words = words_of(op->value + i);

		seen[i].fault = !store(page_at(op->slot + i), &words);
	}
}

static void do_map(struct op *op)
{
	void *p = mmap(page_at(op->slot), op->nr * page_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	op->error = p == MAP_FAILED ? errno : 0;
}

/* At once where that is one mapping, else page by page. */
static void do_move(struct op *op)
{
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
	size_t len = op->nr * page_size;
	uint32_t i;

	if (op->code == OP_MOVE_KEEP)
		flags |= MREMAP_DONTUNMAP;
	munmap(page_at(op->to), len);
	if (mremap(page_at(op->slot), len, len, flags, page_at(op->to)) != MAP_FAILED)
		return;
	for (i = 0; i < op->nr; i++) {
		if (mremap(page_at(op->slot + i), page_size, page_size, flags,
			   page_at(op->to + i)) == MAP_FAILED) {
			op->error = errno;
			return;
		}
	}
}

static void do_flip(struct op *op)
{
	size_t len = op->nr * page_size;

	if (mprotect(page_at(op->slot), len, PROT_READ) ||
	    mprotect(page_at(op->slot), len, PROT_READ | PROT_WRITE))
		op->error = errno;
}

static void do_split(struct op *op)
{
	char text[96];

	snprintf(text, sizeof(text), "%d,0x%lx,0x%lx", getpid(),
		 (unsigned long)page_at(op->slot),
		 (unsigned long)page_at(op->slot + op->nr));
	op->error = !try_put("/sys/kernel/debug/split_huge_pages", text);
}

static void do_fork(struct op *op)
{
	pid_t pid = fork();
	int i;

	op->error = pid < 0 ? errno : 0;
	if (pid)
		return;
	for (i = 0; i < NR_PINS; i++)
		if (rings[i].fd > 0)
			ring_forget(&rings[i]);
	worker(op->arg);
}

static void do_pin_read(struct op *op)
{
	struct seen *seen = &box()->seen[op->seen];
	off_t offset = me * page_size;
	uint32_t i;

	for (i = 0; i < op->nr; i++) {
		int n = ring_write_file(&rings[op->arg], scratch, offset,
					page_at(op->slot + i), page_size);

		if (n != (int)page_size) {
			op->error = n < 0 ? -n : EIO;
			return;
		}
		seen[i].fault = false;
		pread(scratch, &seen[i].words.w[0], 8, offset);
		pread(scratch, &seen[i].words.w[1], 8, offset + page_size - 8);
	}
}

static void do_pin_write(struct op *op)
{
	struct words words = words_of(op->value);
	off_t offset = me * page_size;
	int n;

	pwrite(scratch, &words.w[0], 8, offset);
	pwrite(scratch, &words.w[1], 8, offset + page_size - 8);
	n = ring_read_file(&rings[op->arg], scratch, offset, page_at(op->slot), page_size);
	if (n != (int)page_size)
		op->error = n < 0 ? -n : EIO;
}

static void do_splice(struct op *op)
{
	struct iovec v = { page_at(op->slot), op->nr * page_size };

	if (vmsplice(pipes[op->arg][1], &v, 1, SPLICE_F_NONBLOCK) != (ssize_t)v.iov_len)
		op->error = errno ?: EIO;
}

static void do_unmap(struct op *op)
{
	if (munmap(page_at(op->slot), op->nr * page_size))
		op->error = errno;
}

static void do_protect(struct op *op)
{
	if (mprotect(page_at(op->slot), op->nr * page_size, op->arg))
		op->error = errno;
}

static void do_advise(struct op *op)
{
	if (madvise(page_at(op->slot), op->nr * page_size, op->arg))
		op->error = errno;
}

static void do_exit(struct op *op)
{
	_exit(0);
}

static void do_pin(struct op *op)
{
	op->error = ring_open(&rings[op->arg], page_at(op->slot), op->nr * page_size);
}

static void do_unpin(struct op *op)
{
	ring_close(&rings[op->arg]);
}

static void (*const does[NR_CODES])(struct op *op) = {
	[OP_READ]	= do_read,
	[OP_WRITE]	= do_write,
	[OP_MAP]	= do_map,
	[OP_UNMAP]	= do_unmap,
	[OP_MOVE]	= do_move,
	[OP_MOVE_KEEP]	= do_move,
	[OP_PROTECT]	= do_protect,
	[OP_ADVISE]	= do_advise,
	[OP_FLIP]	= do_flip,
	[OP_SPLIT]	= do_split,
	[OP_FORK]	= do_fork,
	[OP_EXIT]	= do_exit,
	[OP_PIN]	= do_pin,
	[OP_UNPIN]	= do_unpin,
	[OP_PIN_READ]	= do_pin_read,
	[OP_PIN_WRITE]	= do_pin_write,
	[OP_SPLICE]	= do_splice,
};

static void do_op(struct op *op)
{
	errno = 0;
	does[op->code](op);
}

static void *do_thread(void *arg)
{
	uintptr_t thread = (uintptr_t)arg;
	uint32_t i;

	for (i = 0; i < box()->nr; i++)
		if (box()->ops[i].thread == thread)
			do_op(&box()->ops[i]);
	return NULL;
}

static void do_threads(void)
{
	pthread_t thread[NR_THREADS];
	uintptr_t i;

	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, do_thread, (void *)i))
			die("pthread_create");
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void do_bundle(void)
{
	uint32_t i;

	if (box()->threads) {
		do_threads();
		return;
	}
	for (i = 0; i < box()->nr; i++)
		do_op(&box()->ops[i]);
}

void worker(int self)
{
	char c = 0;

	me = self;
	box()->pid = getpid();
	for (;;) {
		if (write(from_worker[me][1], &c, 1) != 1 ||
		    read(to_worker[me][0], &c, 1) != 1)
			_exit(2);
		do_bundle();
	}
}
