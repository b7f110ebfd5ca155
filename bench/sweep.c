// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes: every order of folio, ranges from one page to some megabytes, and
 * ranges that cut folios.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "rows.h"

void measure_sweep(void)
{
	const struct kind *k;
	int order;
	char *p;

	for (order = 0; page_size << order <= pmd_size; order++) {
		k = kind_of_order(order);
		if (!k)
			continue;
		progress("mprotect", k->name);
		p = map_kind(k, ARENA, SWEEP_SIZE);
		check_geometry("sweep-folios", k, p, SWEEP_SIZE);
		protect_rows(k->name, p, SWEEP_SIZE, ROUNDS);
		munmap(p, SWEEP_SIZE);
	}
}

/* 400 KiB is the range of the report that batching made order 0 slower. */
void measure_ranges(void)
{
	static const struct { size_t pages; int rounds; } range[] = {
		{ 1, 1024 }, { 10, 512 }, { 100, 256 }, { 1024, 16 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(range); i++) {
		size_t size = range[i].pages * page_size;
		const char *name = size_name(size, "iB");
		char *p;

		progress("mprotect", name);
		p = map_kind(&kinds[K_4K], ARENA, size);
		protect_rows(name, p, size, range[i].rounds);
		munmap(p, size);
	}
}

/* Each @step-th page alone read-only, then all writable in one call. */
static void every_page(const struct kind *k, size_t step)
{
	size_t i, nr = SWEEP_SIZE / page_size;
	uint64_t set = 0, back;
	char name[32], *p;

	snprintf(name, sizeof(name), "%s-every%zu", k->name, step);
	progress("partial", name);
	p = map_kind(k, ARENA, SWEEP_SIZE);
	settle();
	for (i = 0; i < nr; i += step)
		set += protect(p + i * page_size, page_size, PROT_READ);
	back = protect(p, SWEEP_SIZE, RW);
	row("partial-page", name, set, (nr + step - 1) / step, 0);
	row("partial-all", name, back, nr, 0);
	munmap(p, SWEEP_SIZE);
}

/* Pieces that start and end inside of folios: 21 pages from the third on. */
static void odd_pieces(const struct kind *k)
{
	const size_t first = 3 * page_size, len = 21 * page_size, step = 48 * page_size;
	uint64_t ro = 0, rw = 0, units = 0;
	size_t off;
	char *p;

	progress("odd", k->name);
	p = map_kind(k, ARENA, SWEEP_SIZE);
	settle();
	for (off = first; off + len <= SWEEP_SIZE; off += step)
		ro += protect(p + off, len, PROT_READ);
	for (off = first; off + len <= SWEEP_SIZE; off += step) {
		rw += protect(p + off, len, RW);
		units += len / page_size;
	}
	row("odd-ro", k->name, ro, units, 0);
	row("odd-rw", k->name, rw, units, 0);
	munmap(p, SWEEP_SIZE);
}

void measure_partial(void)
{
	static const int some[] = { K_4K, K_64K, K_2M_PTE };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some); i++) {
		const struct kind *k = &kinds[some[i]];

		if (!kind_offered(k))
			continue;
		every_page(k, 2);
		every_page(k, 3);
		every_page(k, 7);
		odd_pieces(k);
	}
}
