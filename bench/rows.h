/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the measurements share.  Every row is one line on the console:
 *
 *	R <measure>/<memory> <instructions> <units> <faults>
 *
 * where units are what the instructions are divided by (page table entries,
 * pages, stores, calls).  C <key> PASS|FAIL are checks that a number means what
 * it says: the folios were as asked for, no page moved, no byte was lost.
 * S <key> <why> says what could not be measured here.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "counter.h"
#include "guest.h"

#define SIZE		(256 * MIB)	/* what the seeds were measured with */
#define SMALL_SIZE	(64 * MIB)
#define SWEEP_SIZE	(16 * MIB)
#define ROUNDS		4
#define MAX_PAGES	(SIZE / 4096)
#define RW		(PROT_READ | PROT_WRITE)

extern int failed;
/* Fewer rows, of the same size. */
extern bool quick;
/* Of pagemap; written before any fork(), so that using them costs no fault. */
extern uint64_t before[MAX_PAGES], after[MAX_PAGES];

void row(const char *what, const char *kind, uint64_t insn, uint64_t units, uint64_t faults);
void check(const char *what, const char *kind, bool ok);
void skip(const char *what, const char *kind, const char *why);
void progress(const char *what, const char *kind);
void check_geometry(const char *what, const struct kind *k, char *p, size_t size);

void settle(void);
uint64_t protect(char *p, size_t size, int prot);
void protect_rows(const char *kind, char *p, size_t size, int rounds);
uint64_t fork_and_exit(void);

bool listed(const char *list, const char *name);
/* @measure for the kinds from @first to @last that are offered and wanted. */
void each_kind(void (*measure)(const struct kind *k), int first, int last);

/* Folios of 2^@order pages as a kind "order<n>", or NULL. */
const struct kind *kind_of_order(int order);

/* sweep.c */
void measure_sweep(void);
void measure_ranges(void);
void measure_partial(void);

/* patterns.c */
void measure_mixed(void);
void measure_shared(void);
void measure_swap(void);
void measure_holes(void);
void measure_jit(void);
void measure_stacks(void);

/* stores.c */
void measure_faults(void);
void measure_memset(void);
void measure_sparse(void);
void measure_copy(void);
void measure_first(void);
void measure_random(void);
void measure_reread(void);
void measure_threads(void);

#endif /* BENCH_ROWS_H */
