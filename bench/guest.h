/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of this directory share: memory of a known folio geometry,
 * and a look at where its pages are.  Each is its own process 1 in a guest, and
 * an ordinary program (of root's) on a machine.
 */
#ifndef BENCH_GUEST_H
#define BENCH_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/common.h"

#define MIB		(1UL << 20)

/* Fixed, so that two boots lay out memory in the same way. */
#define ARENA		((char *)0x100000000000UL)
#define ARENA2		((char *)0x110000000000UL)

/**
 * struct kind - one way to back anonymous memory
 * @name: as printed
 * @folio: bytes per folio
 * @pmd: mapped by a PMD (otherwise by PTEs, whatever the size)
 */
struct kind {
	const char *name;
	size_t folio;
	bool pmd;
};

/* The first is the size of a page, the last two that of a PMD. */
enum { K_4K, K_64K, K_1M, K_2M_PTE, K_2M_PMD, NR_KINDS };
extern struct kind kinds[NR_KINDS];

/* The word at the start of page @i of @p is written by tests ... */
static inline volatile uint64_t *word(char *p, size_t i)
{
	return (volatile uint64_t *)(p + i * page_size);
}

/* ... and the one at its end tells whether the page is still the same one. */
static inline volatile uint64_t *stamp(char *p, size_t i)
{
	return (volatile uint64_t *)(p + (i + 1) * page_size) - 1;
}

static inline uint64_t stamp_of(size_t i)
{
	return 0x9e3779b97f4a7c15UL * (i + 1);
}

bool folio_size_offered(size_t size);
bool kind_offered(const struct kind *k);
const char *size_name(size_t size, const char *unit);
char *map_at(char *where, size_t size);
char *map_kind(const struct kind *k, char *where, size_t size);
size_t folios_as_asked(const struct kind *k, char *p, size_t size);
uint64_t minor_faults(void);

/* @work is done by a child, of process 1 in a guest. */
int guest_main(int (*work)(void));
extern bool in_guest;

#endif /* BENCH_GUEST_H */
