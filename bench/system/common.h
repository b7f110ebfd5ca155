/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of this directory share.  They run as root on any Linux:
 * in the guests of `make check-system`, and by hand on a machine.
 */
#ifndef SYSTEM_COMMON_H
#define SYSTEM_COMMON_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's names for what the compiler shall check. */
#define __noreturn	__attribute((noreturn))
#define __printf(a, b)	__attribute((format(printf, a, b)))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define PM_SOFT_DIRTY	(1ULL << 55)
#define PM_EXCLUSIVE	(1ULL << 56)
#define PM_UFFD_WP	(1ULL << 57)
#define PM_FILE		(1ULL << 61)
#define PM_SWAP		(1ULL << 62)
#define PM_PRESENT	(1ULL << 63)
#define PM_PFN		((1ULL << 55) - 1)

/* Bits of /proc/kpageflags. */
#define KPF_ANON	12
#define KPF_SWAPCACHE	13
#define KPF_SWAPBACKED	14
#define KPF_HEAD	15
#define KPF_TAIL	16
#define KPF_KSM		21
#define KPF_THP		22
#define KPF_ZERO	24

/* Bytes of a page, and of what an entry of the next level maps. */
extern size_t page_size, pmd_size;

/**
 * struct words - the two words of a page that the tests look at
 * @w: the first and the last one
 */
struct words {
	uint64_t w[2];
};

void common_init(void);
__noreturn __printf(1, 2) void die(const char *format, ...);
bool try_put(const char *path, const char *text);
void put(const char *path, const char *text);
bool number_from(const char *path, const char *name, unsigned long *value);
uint64_t env_number(const char *name, uint64_t otherwise);

/* Random numbers: the same on every machine for the same seed. */
extern uint64_t random_state;
uint64_t rnd(uint64_t below);

/* Anonymous folios of @kb (0: none but pages); more sizes than one may be set. */
void folio_sizes(const unsigned long *kb, size_t nr);
void folio_sizes_restore(void);

/* /proc/PID/pagemap from @p on, /proc/kpageflags and /proc/kpagecount. */
void pagemap(pid_t pid, const void *p, size_t nr, uint64_t *entry);
uint64_t page_flags(uint64_t pfn);
uint64_t page_mapcount(uint64_t pfn);

/*
 * Loads and stores that say whether they were allowed.  Each thread may do
 * one at a time.
 */
void catch_faults(void);
extern __thread int fault_signal;	/* of the last one that was not */
bool load_words(const char *page, struct words *words);
bool store_words(char *page, const struct words *words);

/**
 * struct ring - an io_uring with one registered buffer
 * @fd: its descriptor, or -1
 *
 * The buffer's pages are pinned until ring_close(), whatever becomes of the
 * mapping.  Other processes get neither the ring's memory nor, if they close
 * @fd, the pin.
 */
struct ring {
	int fd;
	void *sq, *cq, *sqes;
	size_t sq_len, cq_len, sqes_len;
	uint32_t *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	void *cqes;
};

int ring_open(struct ring *ring, void *buffer, size_t len);
void ring_close(struct ring *ring);
void ring_forget(struct ring *ring);
/* @file, @offset to or from @len bytes of the buffer, at address @where. */
int ring_write_file(struct ring *ring, int file, off_t offset, void *where, size_t len);
int ring_read_file(struct ring *ring, int file, off_t offset, void *where, size_t len);

#endif /* SYSTEM_COMMON_H */
