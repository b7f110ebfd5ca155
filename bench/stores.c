// SPDX-License-Identifier: GPL-2.0
/* Stores after fork(): reused folios, copied pages, and what must not move. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

#define NR_THREADS	8

/* A page number for each @i below @nr, a power of two, in no order. */
static size_t scattered(size_t i, size_t nr)
{
	return (i * 0x9e3779b1UL + 12345) & (nr - 1);
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

	for (i = 0; i < size / page_size; i++) {
		uint64_t want = i * page_size % step ? i : ~(i * page_size);

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

static void look(char *p, size_t size, uint64_t *entry)
{
	pagemap(getpid(), p, size / page_size, entry);
}

/* fork(), child exits, then one store per page. */
static void measure_fault(const struct kind *k)
{
	uint64_t t;
	char *p;

	progress("fault", k->name);
	p = map_kind(k, ARENA, SIZE);
	check_geometry("fault-folios", k, p, SIZE);
	look(p, SIZE, before);

	t = fork_and_exit();
	row("fork", k->name, t, SIZE / page_size, 0);
	store_row("fault", k->name, p, SIZE, page_size);
	look(p, SIZE, after);
	row("moved", k->name, 0, SIZE / page_size, pages_moved(SIZE / page_size));
	check("fault-contents", k->name, stores_kept(p, SIZE, page_size));

	settle();
	t = insns();
	munmap(p, SIZE);
	row("munmap", k->name, insns() - t, SIZE / page_size, 0);
}

void measure_faults(void)
{
	each_kind(measure_fault, K_4K, K_2M_PMD);
}

/* The same with memset(): what a program that uses all of it sees. */
static void memset_kind(const struct kind *k)
{
	uint64_t t, faults;
	char *p;

	progress("memset", k->name);
	p = map_kind(k, ARENA, SMALL_SIZE);
	fork_and_exit();
	settle();
	faults = minor_faults();
	t = insns();
	memset(p, 0x5a, SMALL_SIZE);
	t = insns() - t;
	row("memset", k->name, t, SMALL_SIZE / page_size, minor_faults() - faults);
	munmap(p, SMALL_SIZE);
}

void measure_memset(void)
{
	each_kind(memset_kind, K_4K, K_2M_PMD);
}

/* One store per folio: what reuse of a whole folio costs if nobody wants it. */
static void sparse_stores(const struct kind *k, const char *what, size_t size)
{
	char *p;

	progress(what, k->name);
	p = map_kind(k, ARENA, size);
	fork_and_exit();
	store_row(what, k->name, p, size, k->folio);
	check(what, k->name, stores_kept(p, size, k->folio));
	munmap(p, size);
}

static void sparse_kind(const struct kind *k)
{
	sparse_stores(k, "sparse", SMALL_SIZE);
}

void measure_sparse(void)
{
	each_kind(sparse_kind, K_64K, K_2M_PTE);
}

/* Control: the very first store, that allocates and clears a folio. */
static void touch(const struct kind *k)
{
	unsigned long kb = k->folio >> 10;
	char *p;

	progress("touch", k->name);
	folio_sizes(&kb, 1);
	p = map_at(ARENA, SWEEP_SIZE);
	store_row("touch", k->name, p, SWEEP_SIZE, k->folio);
	munmap(p, SWEEP_SIZE);
}

/* What one fault takes, by the size of the folio. */
void measure_first(void)
{
	int order;

	for (order = 0; page_size << order <= pmd_size; order++) {
		const struct kind *k = kind_of_order(order);

		if (!k)
			continue;
		sparse_stores(k, "first", SWEEP_SIZE);
		touch(k);
	}
}

/* A child holds all pages: every store must copy, and pays for the question. */
static void copy_kind(const struct kind *k)
{
	int pipe_fd[2];
	pid_t pid;
	char *p, c;

	progress("copy", k->name);
	p = map_kind(k, ARENA, SMALL_SIZE);
	look(p, SMALL_SIZE, before);
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
	store_row("copy", k->name, p, SMALL_SIZE, page_size);
	look(p, SMALL_SIZE, after);
	check("copy-all-moved", k->name,
	      pages_moved(SMALL_SIZE / page_size) == SMALL_SIZE / page_size);
	close(pipe_fd[1]);
	waitpid(pid, NULL, 0);
	munmap(p, SMALL_SIZE);
}

void measure_copy(void)
{
	each_kind(copy_kind, K_4K, K_2M_PTE);
}

/* One store per page, in an order that no prefetch likes. */
static void random_kind(const struct kind *k)
{
	size_t i, nr = SMALL_SIZE / page_size;
	uint64_t t, faults;
	char *p;

	progress("random", k->name);
	p = map_kind(k, ARENA, SMALL_SIZE);
	fork_and_exit();
	settle();
	faults = minor_faults();
	t = insns();
	for (i = 0; i < nr; i++) {
		size_t page = scattered(i, nr);

		*word(p, page) = ~(page * page_size);
	}
	t = insns() - t;
	row("random", k->name, t, nr, minor_faults() - faults);
	check("random", k->name, stores_kept(p, SMALL_SIZE, page_size));
	munmap(p, SMALL_SIZE);
}

void measure_random(void)
{
	each_kind(random_kind, K_4K, K_2M_PTE);
}

/* All is read before it is written: real TLBs then know each page read-only. */
static void reread_kind(const struct kind *k)
{
	size_t i;
	char *p;

	progress("reread", k->name);
	p = map_kind(k, ARENA, SMALL_SIZE);
	fork_and_exit();
	for (i = 0; i < SMALL_SIZE / page_size; i++)
		(void)*word(p, i);
	store_row("reread", k->name, p, SMALL_SIZE, page_size);
	check("reread", k->name, stores_kept(p, SMALL_SIZE, page_size));
	munmap(p, SMALL_SIZE);
}

void measure_reread(void)
{
	each_kind(reread_kind, K_4K, K_2M_PTE);
}

static void *store_share(void *arg)
{
	size_t me = (size_t)arg, nr = SMALL_SIZE / page_size, i;

	for (i = me; i < nr; i += NR_THREADS) {
		size_t page = scattered(i, nr);

		*word(ARENA, page) = ~(page * page_size);
	}
	return NULL;
}

/* Eight threads at once on the same folios: nothing may be lost or moved. */
static void threads_kind(const struct kind *k)
{
	size_t i, nr = SMALL_SIZE / page_size;
	pthread_t thread[NR_THREADS];
	char *p;

	progress("threads", k->name);
	p = map_kind(k, ARENA, SMALL_SIZE);
	fork_and_exit();
	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, store_share, (void *)i))
			die("pthread_create");
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	check("threads", k->name, nr && stores_kept(p, SMALL_SIZE, page_size));
	munmap(p, SMALL_SIZE);
}

void measure_threads(void)
{
	each_kind(threads_kind, K_4K, K_2M_PTE);
}
