// SPDX-License-Identifier: GPL-2.0
/*
 * What else is in page tables than written anonymous pages, and programs that
 * change protections for a living.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/fs.h>

#include "rows.h"

/* No folio larger than a page. */
static void only_pages(void)
{
	folio_sizes(NULL, 0);
}

/*
 * The worst that can come for who works on runs: each second page was only
 * read (the zero page), so no two neighbours are alike.
 */
void measure_mixed(void)
{
	size_t i;
	char *p;

	progress("mprotect", "mixed");
	only_pages();
	p = map_at(ARENA, SMALL_SIZE);
	for (i = 0; i < SMALL_SIZE / page_size; i += 2) {
		*word(p, i) = i;
		(void)*word(p, i + 1);
	}
	protect_rows("mixed", p, SMALL_SIZE, ROUNDS);
	munmap(p, SMALL_SIZE);
}

/* Page tables that are there, with one page each. */
void measure_holes(void)
{
	size_t off;
	char *p;

	progress("mprotect", "holes");
	only_pages();
	p = map_at(ARENA, SMALL_SIZE);
	for (off = 0; off < SMALL_SIZE; off += pmd_size)
		p[off] = 1;
	protect_rows("holes", p, SMALL_SIZE, ROUNDS);
	munmap(p, SMALL_SIZE);
}

static void measure_dirty_shmem(void)
{
	char *p;

	progress("mprotect", "shmem");
	p = mmap(ARENA, SMALL_SIZE, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != ARENA)
		die("mmap shared");
	memset(p, 1, SMALL_SIZE);
	protect_rows("shmem", p, SMALL_SIZE, ROUNDS);
	munmap(p, SMALL_SIZE);
}

/* Pages that were written by write(2), and only read through the mapping. */
static void measure_clean_shmem(void)
{
	int fd = memfd_create("clean", 0);
	char *page = calloc(1, page_size), *p;
	size_t off;

	progress("mprotect", "shmem-clean");
	if (fd < 0 || !page)
		die("memfd");
	for (off = 0; off < SWEEP_SIZE; off += page_size)
		if (write(fd, page, page_size) != (ssize_t)page_size)
			die("write");
	p = mmap(ARENA, SWEEP_SIZE, RW, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	if (p != ARENA)
		die("mmap shared");
	for (off = 0; off < SWEEP_SIZE; off += page_size)
		(void)*(volatile char *)(p + off);
	protect_rows("shmem-clean", p, SWEEP_SIZE, ROUNDS);
	munmap(p, SWEEP_SIZE);
	close(fd);
	free(page);
}

void measure_shared(void)
{
	measure_dirty_shmem();
	measure_clean_shmem();
}

/* swapon() wants a signature: version 1, last page, at fixed offsets. */
static bool swap_signature(int fd)
{
	uint64_t bytes = 0;
	uint32_t info[2] = { 1 };
	char *head = calloc(1, page_size);
	bool ok;

	if (!head || ioctl(fd, BLKGETSIZE64, &bytes))
		return false;
	info[1] = bytes / page_size - 1;
	memcpy(head + 1024, info, sizeof(info));
	memcpy(head + page_size - 10, "SWAPSPACE2", 10);
	ok = write(fd, head, page_size) == (ssize_t)page_size && !fsync(fd);
	free(head);
	return ok;
}

/* In the guest there is a ram disk for it; a machine has its own, or none. */
static void swap_on(void)
{
	int fd;

	if (!in_guest)
		return;
	mknod("/ram0", S_IFBLK | 0600, makedev(1, 0));
	fd = open("/ram0", O_RDWR);
	if (fd >= 0 && swap_signature(fd) && swapon("/ram0", 0))
		printf("P swapon: %s\n", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static bool all_swapped(char *p, size_t size)
{
	size_t i;

	pagemap(getpid(), p, size / page_size, before);
	for (i = 0; i < size / page_size; i++)
		if (!(before[i] & PM_SWAP))
			return false;
	return true;
}

void measure_swap(void)
{
	const size_t size = SWEEP_SIZE / 2;
	char *p;

	progress("mprotect", "swap");
	swap_on();
	p = map_kind(&kinds[K_4K], ARENA, size);
	if (madvise(p, size, MADV_PAGEOUT) || !all_swapped(p, size))
		skip("mprotect", "swap", "no swap, or not all pages went there");
	else
		protect_rows("swap", p, size, ROUNDS);
	munmap(p, size);
	if (in_guest)
		swapoff("/ram0");
}

/*
 * A compiler at run time: write code into a region, make it executable; open
 * it again, patch one word, close it.
 */
static void jit_regions(size_t size)
{
	const char *name = size_name(size, "iB");
	const int regions = 64;
	uint64_t rx = 0, rw = 0;
	int round, i;
	char *p;

	progress("jit", name);
	only_pages();
	p = map_at(ARENA, regions * size);
	memset(p, 0x90, regions * size);
	settle();
	for (i = 0; i < regions; i++)
		rx += protect(p + i * size, size, PROT_READ | PROT_EXEC);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < regions; i++) {
			rw += protect(p + i * size, size, RW);
			*word(p + i * size, 0) = round;
			rx += protect(p + i * size, size, PROT_READ | PROT_EXEC);
		}
	row("jit-rx", name, rx, (ROUNDS + 1) * regions, 0);
	row("jit-rw", name, rw, ROUNDS * regions, 0);
	munmap(p, regions * size);
}

void measure_jit(void)
{
	jit_regions(page_size);
	jit_regions(4 * page_size);
	jit_regions(16 * page_size);
}

/* As threads come and go: reserve, open all but the guard, use a little. */
static uint64_t stack_comes_and_goes(size_t size)
{
	uint64_t t = insns();
	char *p = mmap(ARENA, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		       -1, 0);

	if (p != ARENA || mprotect(p + page_size, size - page_size, RW))
		die("stack");
	*word(p, size / page_size - 1) = 1;
	*word(p, size / page_size - 2) = 1;
	munmap(p, size);
	return insns() - t;
}

/* A guard put into memory that is in use, and taken out again. */
static uint64_t guard_comes_and_goes(char *p)
{
	return protect(p, page_size, PROT_NONE) + protect(p, page_size, RW);
}

void measure_stacks(void)
{
	const size_t size = 64 * page_size;
	const char *name = size_name(size, "iB");
	const int rounds = 256;
	uint64_t stack = 0, guard = 0;
	char *p;
	int i;

	progress("stacks", name);
	only_pages();
	settle();
	for (i = 0; i < rounds; i++)
		stack += stack_comes_and_goes(size);
	row("stack", name, stack, rounds, 0);
	p = map_kind(&kinds[K_4K], ARENA, size);
	settle();
	for (i = 0; i < rounds; i++)
		guard += guard_comes_and_goes(p);
	row("guard", name, guard, rounds, 0);
	munmap(p, size);
}
