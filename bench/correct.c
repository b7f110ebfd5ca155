// SPDX-License-Identifier: GPL-2.0
/*
 * The checking half: what a program can see of protection changes and write
 * faults, on folios of every size.  One line per test and folio size, PASS or
 * FAIL with a reason; speed plays no part here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED	(1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC		(1 << 15)
#endif

/* It runs on x86_64 only. */
#define PAGE		4096UL
#define SIZE		(4 * MIB)
#define PAGES		(SIZE / PAGE)
#define RW		(PROT_READ | PROT_WRITE)
#define FUZZ_OPS	3000
#define THP		"/sys/kernel/mm/transparent_hugepage/"

static bool batched;
static uint64_t before[PAGES], after[PAGES];

/* ---- Does an access fault? ---- */

static sigjmp_buf landing;

static void on_fault(int sig)
{
	siglongjmp(landing, 1);
}

static bool store(volatile uint64_t *at, uint64_t value)
{
	if (sigsetjmp(landing, 0))
		return false;
	*at = value;
	return true;
}

static bool load(volatile uint64_t *at, uint64_t *value)
{
	if (sigsetjmp(landing, 0))
		return false;
	*value = *at;
	return true;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

/* ---- Contents of a range ---- */

static uint64_t first(size_t i)
{
	return i;
}

static uint64_t second(size_t i)
{
	return ~i;
}

static uint64_t third(size_t i)
{
	return i * 3 + 0x1000000;
}

typedef uint64_t (*pattern)(size_t i);

static void fill(char *p, size_t from, size_t step, pattern value)
{
	for (; from < PAGES; from += step)
		*word(p, from) = value(from);
}

static bool holds(char *p, size_t from, size_t step, pattern value)
{
	for (; from < PAGES; from += step)
		if (*word(p, from) != value(from) || *stamp(p, from) != stamp_of(from))
			return false;
	return true;
}

/* How many stores out of all pages succeed, and how many loads? */
static size_t stores_done(char *p, pattern value)
{
	size_t i, n = 0;

	for (i = 0; i < PAGES; i++)
		n += store(word(p, i), value(i));
	return n;
}

static size_t loads_done(char *p)
{
	uint64_t value;
	size_t i, n = 0;

	for (i = 0; i < PAGES; i++)
		n += load(word(p, i), &value);
	return n;
}

static size_t moved(void)
{
	size_t i, n = 0;

	for (i = 0; i < PAGES; i++)
		n += (before[i] & PM_PFN) != (after[i] & PM_PFN);
	return n;
}

/* ---- Parent and child in lockstep ---- */

static int up[2], down[2];

static bool child_says(void)
{
	char c;

	return read(up[0], &c, 1) == 1;
}

static void child_go(void)
{
	if (write(down[1], "", 1) != 1)
		die("pipe to child");
}

static void await_parent(void)
{
	char c;

	if (read(down[0], &c, 1) != 1)
		_exit(2);
}

static void tell_parent(void)
{
	if (write(up[1], "", 1) != 1)
		_exit(2);
}

/* The child's result is what @body returns. */
static pid_t child_start(bool (*body)(char *p), char *p)
{
	pid_t pid;

	if (pipe(up) || pipe(down))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(up[0]);
		close(down[1]);
		_exit(!body(p));
	}
	close(up[1]);
	close(down[0]);
	return pid;
}

static bool child_end(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	close(up[0]);
	close(down[1]);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool just_exit(char *p)
{
	return true;
}

static void fork_and_exit(void)
{
	child_end(child_start(just_exit, NULL));
}

/* ---- Protection ---- */

static const char *test_read_only(const struct kind *k, char *p)
{
	mprotect(p, SIZE, PROT_READ);
	if (stores_done(p, second))
		return "a store to a read-only page succeeded";
	if (loads_done(p) != PAGES || !holds(p, 0, 1, first))
		return "contents changed";
	mprotect(p, SIZE, RW);
	if (stores_done(p, second) != PAGES)
		return "a store to a writable page faulted";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

static const char *test_none(const struct kind *k, char *p)
{
	mprotect(p, SIZE, PROT_NONE);
	if (loads_done(p) || stores_done(p, second))
		return "PROT_NONE memory was accessible";
	mprotect(p, SIZE, PROT_READ);
	if (loads_done(p) != PAGES || stores_done(p, second))
		return "wrong rights after PROT_NONE, PROT_READ";
	mprotect(p, SIZE, PROT_NONE);
	mprotect(p, SIZE, RW);
	if (!holds(p, 0, 1, first))
		return "contents changed";
	return stores_done(p, second) == PAGES ? NULL : "a store faulted";
}

static const char *test_read_only_part(const struct kind *k, char *p)
{
	static const struct { size_t start, nr; } part[] = {
		{ 0, 1 }, { 1, 1 }, { 3, 5 }, { 15, 2 }, { 16, 16 }, { 17, 31 },
		{ 255, 2 }, { 500, 30 }, { 511, 1 }, { 512, 1 }, { 1, 1022 },
		{ 1023, 1 },
	};
	size_t i, j;

	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		size_t start = part[i].start, nr = part[i].nr;

		mprotect(p + start * PAGE, nr * PAGE, PROT_READ);
		for (j = 0; j < PAGES; j++)
			if (store(word(p, j), j) != (j < start || j >= start + nr))
				return "rights ended at the wrong page";
		mprotect(p + start * PAGE, nr * PAGE, RW);
		if (stores_done(p, first) != PAGES)
			return "a store faulted";
	}
	return holds(p, 0, 1, first) ? NULL : "contents changed";
}

/* A page nobody else maps must not become writable while a child maps it. */
static bool child_sees_first(char *p)
{
	tell_parent();
	await_parent();
	return holds(p, 0, 1, first);
}

static const char *test_protect_while_shared(const struct kind *k, char *p)
{
	pid_t pid = child_start(child_sees_first, p);

	child_says();
	mprotect(p, SIZE, PROT_READ);
	mprotect(p, SIZE, RW);
	mprotect(p, SIZE, PROT_NONE);
	mprotect(p, SIZE, RW);
	fill(p, 0, 1, second);
	child_go();
	if (!child_end(pid))
		return "the child saw the parent's store";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

/* ---- fork ---- */

static bool child_writes_first(char *p)
{
	fill(p, 0, 1, second);
	tell_parent();
	await_parent();
	return holds(p, 0, 1, second);
}

static const char *test_child_first(const struct kind *k, char *p)
{
	pid_t pid = child_start(child_writes_first, p);
	bool isolated;

	child_says();
	isolated = holds(p, 0, 1, first);
	fill(p, 0, 1, third);
	child_go();
	if (!child_end(pid))
		return "the child lost its own data";
	if (!isolated)
		return "the parent saw the child's store";
	return holds(p, 0, 1, third) ? NULL : "the parent lost its own data";
}

static const char *test_parent_first(const struct kind *k, char *p)
{
	pid_t pid = child_start(child_sees_first, p);

	child_says();
	fill(p, 0, 1, second);
	child_go();
	if (!child_end(pid))
		return "the child saw the parent's store";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

static bool child_writes_odd(char *p)
{
	fill(p, 1, 2, second);
	tell_parent();
	await_parent();
	return holds(p, 1, 2, second) && holds(p, 0, 2, first);
}

static const char *test_interleaved(const struct kind *k, char *p)
{
	pid_t pid = child_start(child_writes_odd, p);
	bool isolated;

	fill(p, 0, 2, third);
	child_says();
	isolated = holds(p, 0, 2, third) && holds(p, 1, 2, first);
	child_go();
	if (!child_end(pid) || !isolated)
		return "odd and even pages mixed up";
	fill(p, 1, 2, third);
	return holds(p, 0, 1, third) ? NULL : "a store was lost";
}

static const char *test_reuse(const struct kind *k, char *p)
{
	fork_and_exit();
	pagemap(getpid(), p, PAGES, before);
	fill(p, 0, 1, second);
	pagemap(getpid(), p, PAGES, after);
	if (!holds(p, 0, 1, second))
		return "a store was lost";
	if ((batched || k->folio == PAGE || k->pmd) && moved())
		return "a page of an exclusive folio was copied";
	return NULL;
}

/* The parent goes away first: the child is the one to reuse. */
static bool child_takes_over(char *p)
{
	await_parent();
	pagemap(getpid(), p, PAGES, before);
	fill(p, 0, 1, second);
	pagemap(getpid(), p, PAGES, after);
	return holds(p, 0, 1, second);
}

static const char *test_child_takes_over(const struct kind *k, char *p)
{
	pid_t pid = child_start(child_takes_over, p);

	munmap(p, SIZE);
	child_go();
	return child_end(pid) ? NULL : "the child lost its own data";
}

static bool grandchild_remains(char *p)
{
	pid_t pid = fork();

	if (pid < 0)
		return false;
	if (pid)
		return true;
	tell_parent();
	await_parent();
	if (holds(p, 0, 1, first))
		tell_parent();
	return true;
}

static const char *test_grandchild(const struct kind *k, char *p)
{
	pid_t pid = child_start(grandchild_remains, p);
	bool isolated;

	child_says();
	waitpid(pid, NULL, 0);
	fill(p, 0, 1, second);
	child_go();
	isolated = child_says();
	wait(NULL);
	close(up[0]);
	close(down[1]);
	if (!isolated)
		return "the grandchild saw the parent's store";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

static const char *test_second_child(const struct kind *k, char *p)
{
	pid_t pid = child_start(child_sees_first, p);
	pid_t other;
	int status;

	child_says();
	other = fork();
	if (!other)
		_exit(0);
	waitpid(other, &status, 0);
	fill(p, 0, 1, second);
	child_go();
	if (!child_end(pid))
		return "the remaining child saw the parent's store";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

/* One page in each table is all that a child keeps of a shared folio. */
static bool is_kept(size_t i)
{
	return i == 5 || i == 600;
}

static void keep_part(char *p)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (!is_kept(i))
			munmap(p + i * PAGE, PAGE);
}

static bool kept_hold(char *p, pattern value)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (is_kept(i) && *word(p, i) != value(i))
			return false;
	return true;
}

static bool child_keeps_part(char *p)
{
	keep_part(p);
	tell_parent();
	await_parent();
	return kept_hold(p, first);
}

static const char *test_child_keeps_part(const struct kind *k, char *p)
{
	pid_t pid = child_start(child_keeps_part, p);

	child_says();
	fill(p, 0, 1, second);
	child_go();
	if (!child_end(pid))
		return "the child saw the parent's store";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

static const char *test_parent_keeps_part(const struct kind *k, char *p)
{
	pid_t pid = child_start(child_sees_first, p);
	size_t i;

	child_says();
	keep_part(p);
	for (i = 0; i < PAGES; i++)
		if (is_kept(i))
			*word(p, i) = second(i);
	child_go();
	if (!child_end(pid))
		return "the child saw the parent's store";
	return kept_hold(p, second) ? NULL : "a store was lost";
}

/* ---- References other than mappings ---- */

static const size_t spliced[] = { 0, 5, 15, 16, 511, 700, 1023 };
#define NR_SPLICED	(sizeof(spliced) / sizeof(spliced[0]))

static bool splice_pages(int fd, char *p)
{
	size_t i;

	for (i = 0; i < NR_SPLICED; i++) {
		struct iovec v = { p + spliced[i] * PAGE, PAGE };

		if (vmsplice(fd, &v, 1, 0) != (ssize_t)PAGE)
			return false;
	}
	return true;
}

static bool pipe_holds_first(int fd)
{
	static char page[PAGE];
	size_t i;

	for (i = 0; i < NR_SPLICED; i++) {
		if (read(fd, page, PAGE) != (ssize_t)PAGE)
			return false;
		if (*word(page, 0) != spliced[i] ||
		    *stamp(page, 0) != stamp_of(spliced[i]))
			return false;
	}
	return true;
}

static int splice_fd[2];

static bool child_splices(char *p)
{
	return splice_pages(splice_fd[1], p);
}

/* A pipe that a child filled keeps the old contents when the child is gone. */
static const char *test_vmsplice_child(const struct kind *k, char *p)
{
	bool old;

	if (pipe(splice_fd))
		die("pipe");
	if (!child_end(child_start(child_splices, p)))
		return "vmsplice failed";
	fill(p, 0, 1, second);
	old = pipe_holds_first(splice_fd[0]);
	close(splice_fd[0]);
	close(splice_fd[1]);
	if (!old)
		return "the pipe saw a later store";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

/* The reference is older than the fork() which made the page read-only. */
static const char *test_vmsplice_parent(const struct kind *k, char *p)
{
	bool old;

	if (pipe(splice_fd) || !splice_pages(splice_fd[1], p))
		return "vmsplice failed";
	fork_and_exit();
	fill(p, 0, 1, second);
	old = pipe_holds_first(splice_fd[0]);
	close(splice_fd[0]);
	close(splice_fd[1]);
	if (!old)
		return "the pipe saw a later store";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

/* Returns a file descriptor that keeps all of @p pinned for I/O. */
static int pin(char *p)
{
	struct io_uring_params params = { 0 };
	struct iovec v = { p, SIZE };
	int fd = syscall(__NR_io_uring_setup, 1, &params);

	if (fd < 0 || syscall(__NR_io_uring_register, fd, IORING_REGISTER_BUFFERS, &v, 1))
		die("io_uring");
	return fd;
}

/* A device must go on writing to the page that the program sees. */
static const char *test_pinned(const struct kind *k, char *p)
{
	int fd = pin(p);

	pagemap(getpid(), p, PAGES, before);
	fork_and_exit();
	fill(p, 0, 1, second);
	pagemap(getpid(), p, PAGES, after);
	close(fd);
	return moved() ? "a pinned page was replaced" : NULL;
}

static const char *test_pinned_after_fork(const struct kind *k, char *p)
{
	int fd;

	fork_and_exit();
	fd = pin(p);
	pagemap(getpid(), p, PAGES, before);
	mprotect(p, SIZE, PROT_READ);
	mprotect(p, SIZE, RW);
	fill(p, 0, 1, second);
	pagemap(getpid(), p, PAGES, after);
	close(fd);
	return moved() ? "a pinned page was replaced" : NULL;
}

/* ---- Folios that are mapped in part, or elsewhere ---- */

static const char *test_munmap_part(const struct kind *k, char *p)
{
	size_t i, hole = 16;
	uint64_t value;

	for (i = 8; i < PAGES; i += 2 * hole)
		munmap(p + i * PAGE, hole / 2 * PAGE);
	fork_and_exit();
	for (i = 0; i < PAGES; i++) {
		bool mapped = (i + 2 * hole - 8) % (2 * hole) >= hole / 2;

		if (store(word(p, i), ~i) != mapped || load(word(p, i), &value) != mapped)
			return "a hole was mapped, or a page was not";
		if (mapped && (value != ~i || *stamp(p, i) != stamp_of(i)))
			return "contents changed";
	}
	return NULL;
}

static const char *test_dontneed_part(const struct kind *k, char *p)
{
	size_t i;

	madvise(p + 3 * PAGE, 18 * PAGE, MADV_DONTNEED);
	fork_and_exit();
	mprotect(p, SIZE, PROT_READ);
	mprotect(p, SIZE, RW);
	for (i = 0; i < PAGES; i++) {
		bool gone = i >= 3 && i < 21;

		if (*word(p, i) != (gone ? 0 : i) || *stamp(p, i) != (gone ? 0 : stamp_of(i)))
			return "contents changed";
		*word(p, i) = ~i;
	}
	for (i = 0; i < PAGES; i++)
		if (*word(p, i) != ~i)
			return "a store was lost";
	return NULL;
}

/* What is written after MADV_FREE must stay; what is not may be either. */
static const char *test_free_part(const struct kind *k, char *p)
{
	size_t i;

	madvise(p + 3 * PAGE, 600 * PAGE, MADV_FREE);
	fork_and_exit();
	for (i = 0; i < PAGES; i += 2)
		*word(p, i) = ~i;
	madvise(p, SIZE, MADV_PAGEOUT);
	for (i = 0; i < PAGES; i++) {
		bool freed = i >= 3 && i < 603;

		if (*word(p, i) != (i % 2 ? i : ~i) && !(freed && i % 2 && !*word(p, i)))
			return "contents changed";
	}
	return NULL;
}

static const char *test_mremap_part(const struct kind *k, char *p)
{
	size_t i, from = 5, nr = 700;
	char *q;

	/* One page off, so that the folio is not naturally aligned any more. */
	q = mremap(p + from * PAGE, nr * PAGE, nr * PAGE,
		   MREMAP_MAYMOVE | MREMAP_FIXED, ARENA2 + PAGE);
	if (q == MAP_FAILED)
		die("mremap");
	fork_and_exit();
	for (i = 0; i < PAGES; i++) {
		char *page = i >= from && i < from + nr ? q - from * PAGE : p;

		if (*word(page, i) != i || *stamp(page, i) != stamp_of(i))
			return "contents changed";
		*word(page, i) = ~i;
	}
	mprotect(q, nr * PAGE, PROT_READ);
	for (i = from; i < from + nr; i++)
		if (store(word(q - from * PAGE, i), 0) || *word(q - from * PAGE, i) != ~i)
			return "the moved part is not read-only";
	return NULL;
}

/* ---- Trackers: each page on its own, whatever its neighbours do ---- */

static const size_t touched[] = { 1, 16, 17, 100, 511, 512, 777 };

static bool is_touched(size_t i)
{
	size_t j;

	for (j = 0; j < sizeof(touched) / sizeof(touched[0]); j++)
		if (touched[j] == i)
			return true;
	return false;
}

static void touch(char *p)
{
	size_t j;

	for (j = 0; j < sizeof(touched) / sizeof(touched[0]); j++)
		*word(p, touched[j]) = 0;
}

/* @bit must have the value @set on the touched pages, the other elsewhere. */
static bool only_touched(char *p, uint64_t bit, bool set)
{
	size_t i;

	pagemap(getpid(), p, PAGES, after);
	for (i = 0; i < PAGES; i++)
		if (!!(after[i] & bit) != (is_touched(i) == set))
			return false;
	return true;
}

static const char *test_soft_dirty(const struct kind *k, char *p)
{
	put("/proc/self/clear_refs", "4");
	touch(p);
	if (!only_touched(p, PM_SOFT_DIRTY, true))
		return "plain stores";
	put("/proc/self/clear_refs", "4");
	mprotect(p, SIZE, PROT_READ);
	mprotect(p, SIZE, RW);
	touch(p);
	if (!only_touched(p, PM_SOFT_DIRTY, true))
		return "stores after mprotect";
	put("/proc/self/clear_refs", "4");
	fork_and_exit();
	touch(p);
	return only_touched(p, PM_SOFT_DIRTY, true) ? NULL : "stores after fork";
}

static int uffd_open(char *p)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED,
	};
	struct uffdio_register reg = {
		.range = { (uintptr_t)p, SIZE },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	int fd = syscall(__NR_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	return fd;
}

static void uffd_protect(int fd, char *p, bool on)
{
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)p, SIZE },
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	if (ioctl(fd, UFFDIO_WRITEPROTECT, &wp))
		die("UFFDIO_WRITEPROTECT");
}

static const char *uffd_rounds(int fd, char *p)
{
	uffd_protect(fd, p, true);
	touch(p);
	if (!only_touched(p, PM_UFFD_WP, false))
		return "plain stores";
	uffd_protect(fd, p, true);
	mprotect(p, SIZE, PROT_READ);
	mprotect(p, SIZE, RW);
	touch(p);
	if (!only_touched(p, PM_UFFD_WP, false))
		return "stores after mprotect";
	uffd_protect(fd, p, true);
	fork_and_exit();
	touch(p);
	if (!only_touched(p, PM_UFFD_WP, false))
		return "stores after fork";
	uffd_protect(fd, p, false);
	return stores_done(p, second) == PAGES ? NULL : "a store faulted";
}

static const char *test_uffd_wp(const struct kind *k, char *p)
{
	int fd = uffd_open(p);
	const char *why = uffd_rounds(fd, p);

	close(fd);
	return why;
}

/* ---- Swap ---- */

static bool any_swapped(char *p)
{
	size_t i, n = 0;

	pagemap(getpid(), p, PAGES, after);
	for (i = 0; i < PAGES; i++)
		n += !!(after[i] & PM_SWAP);
	return n;
}

static const char *test_swapped(const struct kind *k, char *p)
{
	if (madvise(p + 100 * PAGE, 300 * PAGE, MADV_PAGEOUT))
		return "MADV_PAGEOUT failed";
	mprotect(p, SIZE, PROT_READ);
	if (stores_done(p, second) || !holds(p, 0, 1, first))
		return "wrong rights or contents when read-only";
	madvise(p, SIZE, MADV_PAGEOUT);
	if (!any_swapped(p))
		return "nothing was swapped out";
	mprotect(p, SIZE, RW);
	if (stores_done(p, second) != PAGES)
		return "a store faulted";
	return holds(p, 0, 1, second) ? NULL : "a store was lost";
}

/* A folio still in the swap cache has a reference that is not a mapping. */
static const char *test_swapped_fork(const struct kind *k, char *p)
{
	pid_t pid;

	madvise(p, SIZE, MADV_PAGEOUT);
	pid = child_start(child_sees_first, p);
	child_says();
	if (!holds(p, 0, 1, first))
		return "contents changed by swap";
	fill(p, 0, 1, second);
	child_go();
	if (!child_end(pid))
		return "the child saw the parent's store";
	madvise(p, SIZE, MADV_PAGEOUT);
	if (!holds(p, 0, 1, second))
		return "a store was lost in swap";
	fork_and_exit();
	fill(p, 0, 1, third);
	madvise(p, SIZE, MADV_PAGEOUT);
	return holds(p, 0, 1, third) ? NULL : "a store after swap-in was lost";
}

/* ---- NUMA hinting ---- */

static unsigned long vmstat(const char *name)
{
	FILE *f = fopen("/proc/vmstat", "r");
	unsigned long value, found = 0;
	char word_read[64];

	while (f && fscanf(f, "%63s %lu", word_read, &value) == 2)
		if (!strcmp(word_read, name))
			found = value;
	if (f)
		fclose(f);
	return found;
}

static void *thread_waits(void *arg)
{
	char c;

	if (read(*(int *)arg, &c, 1))
		die("the pipe of a thread that only waits");
	return NULL;
}

/*
 * The scanner takes the rights away while this process runs, and each access
 * gives them back: nobody may notice.  It comes within a second if the machine
 * is not busy.  A second thread, because pages on the node of a process that
 * has but one are left alone.
 */
static const char *test_numa_hinting(const struct kind *k, char *p)
{
	unsigned long start = vmstat("numa_hint_faults");
	time_t end = time(NULL) + 60;
	size_t i, round = 0;
	pthread_t thread;
	int wait[2];

	if (pipe(wait) || pthread_create(&thread, NULL, thread_waits, wait))
		die("a second thread");
	put("/proc/sys/kernel/numa_balancing", "1");
	fill(p, 0, 1, second);
	while (vmstat("numa_hint_faults") < start + 20 && time(NULL) < end) {
		round++;
		for (i = round % 3; i < PAGES; i += 3)
			*word(p, i) = *word(p, i) + 1;
		for (i = round % 3; i < PAGES; i += 3)
			*word(p, i) = *word(p, i) - 1;
		if (!(round % 16)) {
			mprotect(p, SIZE, PROT_READ);
			mprotect(p, SIZE, RW);
		}
	}
	put("/proc/sys/kernel/numa_balancing", "0");
	close(wait[1]);
	pthread_join(thread, NULL);
	close(wait[0]);
	if (!holds(p, 0, 1, second))
		return "a store was lost";
	return vmstat("numa_hint_faults") > start ? NULL : "no hinting fault was seen";
}

/* ---- Threads ---- */

#define NR_THREADS	4

static char *thread_mem;
static unsigned int thread_round;

static void *thread_stores(void *arg)
{
	size_t id = (uintptr_t)arg, i;

	/* 389 is odd: every page once, in an order without neighbours. */
	for (i = 0; i < PAGES; i++) {
		size_t page = i * 389 % PAGES;

		if (page % NR_THREADS == id)
			*word(thread_mem, page) = page + thread_round;
	}
	return NULL;
}

static void threads(pthread_t *thread)
{
	uintptr_t i;

	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, thread_stores, (void *)i))
			die("pthread_create");
}

static void join(pthread_t *thread)
{
	int i;

	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
}

static bool holds_round(char *p)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (*word(p, i) != i + thread_round || *stamp(p, i) != stamp_of(i))
			return false;
	return true;
}

static const char *test_threads(const struct kind *k, char *p)
{
	pthread_t thread[NR_THREADS];

	thread_mem = p;
	for (thread_round = 1; thread_round < 10; thread_round++) {
		fork_and_exit();
		threads(thread);
		mprotect(p, SIZE, RW);
		join(thread);
		if (!holds_round(p))
			return "a store was lost";
	}
	return NULL;
}

/* What a child got at fork() stays as it is while the parent's threads write. */
static bool child_sees_no_change(char *p)
{
	static uint64_t copy[PAGES];
	size_t i;

	for (i = 0; i < PAGES; i++)
		copy[i] = *word(p, i);
	tell_parent();
	await_parent();
	for (i = 0; i < PAGES; i++)
		if (copy[i] != *word(p, i))
			return false;
	return true;
}

static const char *test_threads_fork(const struct kind *k, char *p)
{
	pthread_t thread[NR_THREADS];

	thread_mem = p;
	for (thread_round = 1; thread_round < 10; thread_round++) {
		pid_t pid;

		threads(thread);
		pid = child_start(child_sees_no_change, p);
		child_says();
		join(thread);
		child_go();
		if (!child_end(pid))
			return "a child saw a later store";
		if (!holds_round(p))
			return "a store was lost";
	}
	return NULL;
}

/* ---- Random walk against a model ---- */

static uint64_t model[PAGES];
static int model_prot[PAGES];

static bool child_holds_model(char *p)
{
	size_t i;

	tell_parent();
	await_parent();
	mprotect(p, SIZE, RW);
	for (i = 0; i < PAGES; i++) {
		if (*word(p, i) != model[i])
			return false;
		*word(p, i) = ~0UL;
	}
	return true;
}

static void random_protect(char *p)
{
	static const int prot[] = { PROT_NONE, PROT_READ, RW, RW };
	size_t start = rnd(PAGES), nr = 1 + rnd(rnd(2) ? 40 : PAGES);
	int want = prot[rnd(4)];

	if (nr > PAGES - start)
		nr = PAGES - start;
	if (mprotect(p + start * PAGE, nr * PAGE, want))
		die("mprotect");
	while (nr--)
		model_prot[start++] = want;
}

static const char *random_access(char *p)
{
	size_t i = rnd(PAGES);
	uint64_t value = rnd(UINT64_MAX);
	int writable = model_prot[i] == RW;
	int readable = model_prot[i] != PROT_NONE;

	if (rnd(2)) {
		if (store(word(p, i), value) != writable)
			return "a store faulted or not against the model";
		if (writable)
			model[i] = value;
	} else {
		if (load(word(p, i), &value) != readable)
			return "a load faulted or not against the model";
		if (readable && value != model[i])
			return "a load gave a wrong value";
	}
	return NULL;
}

static const char *random_walk(char *p, pid_t *pid)
{
	const char *why = NULL;
	int op;

	for (op = 0; op < FUZZ_OPS && !why; op++) {
		uint64_t dice = rnd(100);

		if (dice < 20) {
			random_protect(p);
		} else if (dice < 23 && !*pid) {
			*pid = child_start(child_holds_model, p);
			child_says();
		} else if (dice < 25 && *pid) {
			child_go();
			if (!child_end(*pid))
				why = "a child saw a later store";
			*pid = 0;
		} else if (dice < 26) {
			put("/proc/self/clear_refs", "4");
		} else {
			why = random_access(p);
		}
	}
	return why;
}

static const char *test_random(const struct kind *k, char *p)
{
	const char *why;
	pid_t pid = 0;
	size_t i;

	random_state = 0x2545f4914f6cdd1dUL + k->folio + k->pmd;
	for (i = 0; i < PAGES; i++) {
		model[i] = i;
		model_prot[i] = RW;
	}
	why = random_walk(p, &pid);
	if (pid) {
		child_go();
		if (!child_end(pid) && !why)
			why = "the last child saw a later store";
	}
	mprotect(p, SIZE, RW);
	for (i = 0; i < PAGES && !why; i++)
		if (*word(p, i) != model[i] || *stamp(p, i) != stamp_of(i))
			why = "contents differ from the model";
	return why;
}

/* ---- Memory that is not an anonymous folio ---- */

static const char *test_zero_page(const struct kind *k, char *p)
{
	char *q = map_at(ARENA2, SIZE);
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (*word(q, i))
			return "fresh memory is not zero";
	mprotect(q, SIZE, PROT_READ);
	mprotect(q, SIZE, RW);
	*word(q, 5) = 1;
	for (i = 0; i < PAGES; i++) {
		uint64_t want = i == 5 ? 1 : 0;

		if (*word(q, i) != want)
			return "the zero page was written";
	}
	return NULL;
}

/* A memfd as the pattern @first has it, mapped at ARENA2 with @flags. */
static char *map_file(int flags, char **other)
{
	int fd = memfd_create("bench", 0);
	char *p;

	if (fd < 0 || ftruncate(fd, SIZE))
		die("memfd");
	p = mmap(ARENA2, SIZE, RW, flags | MAP_FIXED_NOREPLACE, fd, 0);
	*other = mmap(ARENA2 + 2 * SIZE, SIZE, RW, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	if (p == MAP_FAILED || *other == MAP_FAILED)
		die("mmap file");
	close(fd);
	for (size_t i = 0; i < PAGES; i++) {
		*word(*other, i) = i;
		*stamp(*other, i) = stamp_of(i);
	}
	return p;
}

static const char *test_private_file(const struct kind *k, char *p)
{
	char *file, *q = map_file(MAP_PRIVATE, &file);

	if (!holds(q, 0, 1, first))
		return "wrong file contents";
	fill(q, 0, 2, second);
	mprotect(q, SIZE, PROT_READ);
	if (stores_done(q, third))
		return "a store to a read-only page succeeded";
	mprotect(q, SIZE, RW);
	fork_and_exit();
	if (!holds(q, 0, 2, second) || !holds(q, 1, 2, first))
		return "contents changed";
	fill(q, 0, 1, third);
	if (!holds(file, 0, 1, first))
		return "a private store reached the file";
	return holds(q, 0, 1, third) ? NULL : "a store was lost";
}

static const char *test_shared_file(const struct kind *k, char *p)
{
	char *file, *q = map_file(MAP_SHARED, &file);

	if (!holds(q, 0, 1, first))
		return "wrong file contents";
	fill(q, 0, 2, second);
	mprotect(q, SIZE, PROT_READ);
	if (stores_done(q, third))
		return "a store to a read-only page succeeded";
	mprotect(q, SIZE, RW);
	fork_and_exit();
	fill(q, 0, 1, third);
	return holds(file, 0, 1, third) ? NULL : "a shared store was lost";
}

/* ---- All of them ---- */

static const struct test {
	const char *name;
	const char *(*run)(const struct kind *k, char *p);
	int nr_kinds;		/* the first so many kinds; 0 is all */
} tests[] = {
	{ "read-only", test_read_only },
	{ "none", test_none },
	{ "read-only-part", test_read_only_part },
	{ "protect-while-shared", test_protect_while_shared },
	{ "child-first", test_child_first },
	{ "parent-first", test_parent_first },
	{ "interleaved", test_interleaved },
	{ "reuse", test_reuse },
	{ "child-takes-over", test_child_takes_over },
	{ "grandchild", test_grandchild },
	{ "second-child", test_second_child },
	{ "child-keeps-part", test_child_keeps_part },
	{ "parent-keeps-part", test_parent_keeps_part },
	{ "vmsplice-child", test_vmsplice_child },
	{ "vmsplice-parent", test_vmsplice_parent },
	{ "pinned", test_pinned },
	{ "pinned-after-fork", test_pinned_after_fork },
	{ "munmap-part", test_munmap_part },
	{ "dontneed-part", test_dontneed_part },
	{ "free-part", test_free_part },
	{ "mremap-part", test_mremap_part },
	/* A PMD is one entry: it can only be soft-dirty as a whole. */
	{ "soft-dirty", test_soft_dirty, K_2M_PMD },
	{ "uffd-wp", test_uffd_wp },
	{ "swapped", test_swapped },
	{ "swapped-fork", test_swapped_fork },
	{ "numa-hinting", test_numa_hinting },
	{ "threads", test_threads },
	{ "threads-fork", test_threads_fork },
	{ "random", test_random },
	{ "zero-page", test_zero_page, 1 },
	{ "private-file", test_private_file, 1 },
	{ "shared-file", test_shared_file, 1 },
};

/* swapon() wants a signature: version 1, last page, at fixed offsets. */
static void swap_on_ram_disk(void)
{
	static char head[PAGE];
	uint32_t info[2] = { 1, 64 * MIB / PAGE - 1 };
	int fd;

	if (mknod("/ram0", S_IFBLK | 0600, makedev(1, 0)))
		die("mknod");
	memcpy(head + 1024, info, sizeof(info));
	memcpy(head + PAGE - 10, "SWAPSPACE2", 10);
	fd = open("/ram0", O_RDWR);
	if (fd < 0 || write(fd, head, PAGE) != (ssize_t)PAGE || fsync(fd))
		die("ram disk");
	close(fd);
	if (swapon("/ram0", 0))
		die("swapon");
}

/* The default is to look at a process after a second, then seldom. */
static void scan_often(void)
{
	if (mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL))
		die("debugfs");
	put("/sys/kernel/debug/sched/numa_balancing/scan_delay_ms", "1");
	put("/sys/kernel/debug/sched/numa_balancing/scan_period_min_ms", "10");
	put("/sys/kernel/debug/sched/numa_balancing/scan_period_max_ms", "50");
	put("/proc/sys/kernel/numa_balancing", "0");
}

static bool run_one(const struct test *t, const struct kind *k)
{
	char *p = map_kind(k, ARENA, SIZE);
	const char *why;

	if (folios_as_asked(k, p, SIZE) != SIZE / k->folio)
		why = "no folios of this size";
	else
		why = t->run(k, p);
	munmap(ARENA, SIZE);
	munmap(ARENA2, 3 * SIZE);
	if (why)
		printf("FAIL %s/%s: %s\n", t->name, k->name, why);
	else
		printf("PASS %s/%s\n", t->name, k->name);
	return !why;
}

/* "bench=check" or "bench=check-batched" on the kernel's command line. */
static int correctness(void)
{
	const char *mode = getenv("bench");
	size_t i, failed = 0;
	int k;

	if (page_size != PAGE)
		die("pages of %zu bytes", page_size);
	batched = mode && !strcmp(mode, "check-batched");
	put(THP "enabled", "always");
	catch_signals();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	swap_on_ram_disk();
	scan_often();
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		for (k = 0; k < (tests[i].nr_kinds ?: NR_KINDS); k++)
			failed += !run_one(&tests[i], &kinds[k]);
	return failed != 0;
}

int main(void)
{
	return guest_main(correctness);
}
