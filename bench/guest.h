/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two halves of the guest program share: memory of a known folio
 * geometry, a look at where its pages are, and numbers from the virtual CPU.
 */
#ifndef BENCH_GUEST_H
#define BENCH_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE		4096UL
#define PMD		(2UL << 20)
#define MIB		(1UL << 20)

/* Fixed, so that two boots lay out memory in the same way. */
#define ARENA		((char *)0x100000000000UL)
#define ARENA2		((char *)0x110000000000UL)

#define PM_SOFT_DIRTY	(1ULL << 55)
#define PM_UFFD_WP	(1ULL << 57)
#define PM_SWAP		(1ULL << 62)
#define PM_PRESENT	(1ULL << 63)
#define PM_PFN		((1ULL << 55) - 1)

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

enum { K_4K, K_64K, K_1M, K_2M_PTE, K_2M_PMD, NR_KINDS };
extern const struct kind kinds[NR_KINDS];

/* Instructions executed so far, under -icount shift=0. */
static inline uint64_t insns(void)
{
	uint32_t lo, hi;

	asm volatile("rdtsc" : "=a" (lo), "=d" (hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* The word at the start of page @i of @p is written by tests ... */
static inline volatile uint64_t *word(char *p, size_t i)
{
	return (volatile uint64_t *)(p + i * PAGE);
}

/* ... and the one at its end tells whether the page is still the same one. */
static inline volatile uint64_t *stamp(char *p, size_t i)
{
	return (volatile uint64_t *)(p + (i + 1) * PAGE) - 1;
}

static inline uint64_t stamp_of(size_t i)
{
	return 0x9e3779b97f4a7c15UL * (i + 1);
}

void die(const char *what);
void put(const char *path, const char *text);
bool try_put(const char *path, const char *text);
char *map_at(char *where, size_t size);
char *map_kind(const struct kind *k, char *where, size_t size);
void pagemap(const char *p, size_t size, uint64_t *entry);
size_t folios_as_asked(const struct kind *k, char *p, size_t size);
uint64_t minor_faults(void);

int measure(void);
int correctness(bool batched);

#endif /* BENCH_GUEST_H */
