// SPDX-License-Identifier: GPL-2.0
/*
 * The measuring half.  Every row is one line on the console:
 *
 *	R <key> <instructions> <units> <faults>
 *
 * where units are what the instructions are divided by (page table entries,
 * pages, folios).  C <key> PASS|FAIL are checks that a number means what it
 * says: the folios were as asked for, no page moved, no byte was lost.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "guest.h"

#define SIZE		(256 * MIB)
#define SHARED_SIZE	(64 * MIB)
#define PAGES		(SIZE / PAGE)
#define ROUNDS		4
#define RANGE_PAGES	100	/* 400 KiB, the range of the order-0 report */
#define RANGE_ROUNDS	256

static int failed;
/* Written before any fork(), so that using them costs no fault later. */
static uint64_t before[PAGES], after[PAGES];

static void row(const char *what, const char *kind, uint64_t insn, uint64_t units,
		uint64_t faults)
{
	printf("R %s/%s %lu %lu %lu\n", what, kind, insn, units, faults);
}

static void check(const char *what, const char *kind, bool ok)
{
	printf("C %s/%s %s\n", what, kind, ok ? "PASS" : "FAIL");
	failed += !ok;
}

static void progress(const char *what, const char *kind)
{
	printf("P %s/%s\n", what, kind);
}

/* One instruction is one tick: two million of them say so. */
static void calibrate(void)
{
	uint64_t best = UINT64_MAX, t, n;
	int i;

	for (i = 0; i < 5; i++) {
		n = 1000000;
		t = insns();
		asm volatile("1: dec %0; jnz 1b" : "+r" (n));
		t = insns() - t;
		best = t < best ? t : best;
	}
	row("calibrate", "loop", best, 2000000, 0);
}

/*
 * No other task may run between two readings: neither a kernel thread nor the
 * child that fork() has just made.
 */
static void never_preempted(void)
{
	struct sched_param param = { .sched_priority = 1 };

	put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		die("sched_setscheduler");
}

/*
 * Let those who wait have their turn now.  A task that waits for a second gets
 * the CPU even from a real-time task (the fair server), and the serial line
 * interrupts until it is empty.
 */
static void settle(void)
{
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	usleep(50000);
}

static uint64_t protect(char *p, size_t size, int prot)
{
	uint64_t t = insns();

	if (mprotect(p, size, prot))
		die("mprotect");
	return insns() - t;
}

static void protect_rows(const char *kind, char *p, size_t size, int rounds)
{
	uint64_t ro = 0, rw = 0, none = 0, back = 0, units = size / PAGE * rounds;
	int i;

	settle();
	protect(p, size, PROT_READ);
	protect(p, size, PROT_READ | PROT_WRITE);
	for (i = 0; i < rounds; i++) {
		ro += protect(p, size, PROT_READ);
		rw += protect(p, size, PROT_READ | PROT_WRITE);
	}
	for (i = 0; i < rounds; i++) {
		none += protect(p, size, PROT_NONE);
		back += protect(p, size, PROT_READ | PROT_WRITE);
	}
	row("mprotect-ro", kind, ro, units, 0);
	row("mprotect-rw", kind, rw, units, 0);
	row("mprotect-none", kind, none, units, 0);
	row("mprotect-back", kind, back, units, 0);
}

static void check_geometry(const char *what, const struct kind *k, char *p, size_t size)
{
	check(what, k->name, folios_as_asked(k, p, size) == size / k->folio);
}

static void measure_mprotect(const struct kind *k)
{
	char *p;

	progress("mprotect", k->name);
	p = map_kind(k, ARENA, SIZE);
	check_geometry("mprotect-folios", k, p, SIZE);
	protect_rows(k->name, p, SIZE, ROUNDS);
	munmap(p, SIZE);
}

static void measure_range(void)
{
	char *p;

	progress("mprotect", "400KiB");
	p = map_kind(&kinds[K_4K], ARENA, RANGE_PAGES * PAGE);
	protect_rows("400KiB", p, RANGE_PAGES * PAGE, RANGE_ROUNDS);
	munmap(p, RANGE_PAGES * PAGE);
}

/*
 * The worst that can come for who works on runs: each second page was only
 * read (the zero page), so no two neighbours are alike.  measure_range() left
 * all folio sizes but 4K switched off.
 */
static void measure_mixed(void)
{
	size_t i;
	char *p;

	progress("mprotect", "mixed");
	p = map_at(ARENA, SHARED_SIZE);
	for (i = 0; i < SHARED_SIZE / PAGE; i += 2) {
		*word(p, i) = i;
		(void)*word(p, i + 1);
	}
	protect_rows("mixed", p, SHARED_SIZE, ROUNDS);
	munmap(p, SHARED_SIZE);
}

static void measure_shared(void)
{
	char *p;

	progress("mprotect", "shmem");
	p = mmap(ARENA, SHARED_SIZE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != ARENA)
		die("mmap shared");
	memset(p, 1, SHARED_SIZE);
	protect_rows("shmem", p, SHARED_SIZE, ROUNDS);
	munmap(p, SHARED_SIZE);
}

/* fork(), and a child that is gone when this returns. */
static uint64_t fork_and_exit(void)
{
	uint64_t t;
	pid_t pid;

	settle();
	t = insns();
	pid = fork();
	t = insns() - t;
	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid");
	return t;
}

/* One store to every @step bytes; the row counts stores. */
static void store_row(const char *what, const char *kind, char *p, size_t size, size_t step)
{
	uint64_t t, faults;
	size_t off;

	settle();
	faults = minor_faults();
	t = insns();
	for (off = 0; off < size; off += step)
		*(volatile uint64_t *)(p + off) = ~off;
	t = insns() - t;
	row(what, kind, t, size / step, minor_faults() - faults);
}

static bool stores_kept(char *p, size_t size, size_t step)
{
	size_t i;

	for (i = 0; i < size / PAGE; i++) {
		uint64_t want = i * PAGE % step ? i : ~(i * PAGE);

		if (*word(p, i) != want || *stamp(p, i) != stamp_of(i))
			return false;
	}
	return true;
}

static size_t pages_moved(size_t n)
{
	size_t i, moved = 0;

	for (i = 0; i < n; i++)
		moved += (before[i] & PM_PFN) != (after[i] & PM_PFN);
	return moved;
}

/* fork(), child exits, then one store per page. */
static void measure_fault(const struct kind *k)
{
	uint64_t t;
	char *p;

	progress("fault", k->name);
	p = map_kind(k, ARENA, SIZE);
	check_geometry("fault-folios", k, p, SIZE);
	pagemap(p, SIZE, before);
	memset(after, 0, sizeof(after));

	t = fork_and_exit();
	row("fork", k->name, t, PAGES, 0);
	store_row("fault", k->name, p, SIZE, PAGE);
	pagemap(p, SIZE, after);
	row("moved", k->name, 0, PAGES, pages_moved(PAGES));
	check("fault-contents", k->name, stores_kept(p, SIZE, PAGE));

	settle();
	t = insns();
	munmap(p, SIZE);
	row("munmap", k->name, insns() - t, PAGES, 0);
}

/* The same with memset(): what a program that uses all of it sees. */
static void measure_memset(const struct kind *k)
{
	uint64_t t, faults;
	char *p;

	progress("memset", k->name);
	p = map_kind(k, ARENA, SHARED_SIZE);
	fork_and_exit();
	settle();
	faults = minor_faults();
	t = insns();
	memset(p, 0x5a, SHARED_SIZE);
	t = insns() - t;
	row("memset", k->name, t, SHARED_SIZE / PAGE, minor_faults() - faults);
	munmap(p, SHARED_SIZE);
}

/* One store per folio: what reuse of a whole folio costs if nobody wants it. */
static void measure_sparse(const struct kind *k)
{
	char *p;

	progress("sparse", k->name);
	p = map_kind(k, ARENA, SHARED_SIZE);
	fork_and_exit();
	store_row("sparse", k->name, p, SHARED_SIZE, k->folio);
	check("sparse-contents", k->name, stores_kept(p, SHARED_SIZE, k->folio));
	munmap(p, SHARED_SIZE);
}

/* A child holds all pages: every store must copy, and pays for the question. */
static void measure_copy(const struct kind *k)
{
	int pipe_fd[2];
	pid_t pid;
	char *p, c;

	progress("copy", k->name);
	p = map_kind(k, ARENA, SHARED_SIZE);
	pagemap(p, SHARED_SIZE, before);
	if (pipe(pipe_fd))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(pipe_fd[1]);
		_exit(read(pipe_fd[0], &c, 1) != 0);
	}
	close(pipe_fd[0]);
	store_row("copy", k->name, p, SHARED_SIZE, PAGE);
	pagemap(p, SHARED_SIZE, after);
	check("copy-all-moved", k->name,
	      pages_moved(SHARED_SIZE / PAGE) == SHARED_SIZE / PAGE);
	close(pipe_fd[1]);
	waitpid(pid, NULL, 0);
	munmap(p, SHARED_SIZE);
}

int measure(void)
{
	int i;

	memset(before, 1, sizeof(before));
	never_preempted();
	calibrate();
	for (i = K_4K; i <= K_2M_PMD; i++)
		measure_mprotect(&kinds[i]);
	measure_range();
	measure_mixed();
	measure_shared();
	for (i = K_4K; i <= K_2M_PMD; i++)
		measure_fault(&kinds[i]);
	for (i = K_4K; i <= K_2M_PMD; i++)
		measure_memset(&kinds[i]);
	for (i = K_64K; i <= K_2M_PTE; i++)
		measure_sparse(&kinds[i]);
	for (i = K_4K; i <= K_2M_PTE; i++)
		measure_copy(&kinds[i]);
	return failed != 0;
}
