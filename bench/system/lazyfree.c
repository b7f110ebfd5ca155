// SPDX-License-Identifier: GPL-2.0
/*
 * Does this kernel lose a process's memory because another one gave up its own?
 *
 * A page comes back from a fast swap device clean and with nothing left in swap,
 * and fork() shares it.  MADV_FREE of one process then finds a folio that is
 * neither dirty nor in the swap cache and, without asking how many map it, makes
 * it one that reclaim may drop.  Nothing in the other process's memory says so:
 * when it is the only owner left, its memory is zero.
 * Documentation/upstream-findings.rst has the code that does it.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cow.h"

#define PAGES	16

static bool store_all(char *p, uint64_t value)
{
	int i;

	for (i = 0; i < PAGES; i++) {
		struct words words = words_of(value + i);

		if (!store_words(p + i * page_size, &words))
			return false;
	}
	return true;
}

/* How many pages from @p on are not what store_all() left there. */
static unsigned int count_other(char *p, uint64_t value)
{
	unsigned int i, other = 0;
	struct words words;

	for (i = 0; i < PAGES; i++) {
		if (!load_words(p + i * page_size, &words))
			die("lazyfree: no access to plain memory");
		other += words.w[0] != value + i;
	}
	return other;
}

/* The child: waits for the parent to be done, asks for reclaim, and looks. */
static __noreturn void victim(char *p, int parent_is_done)
{
	char c;

	if (read(parent_is_done, &c, 1) != 1)
		die("lazyfree: pipe");
	madvise(p, PAGES * page_size, MADV_PAGEOUT);
	_exit(count_other(p, 1));
}

/**
 * lazyfree_lost() - try it
 *
 * Return: how many of 16 pages the child lost.
 */
unsigned int lazyfree_lost(void)
{
	size_t bytes = PAGES * page_size;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int done[2], status = 0;
	pid_t pid;

	if (p == MAP_FAILED || pipe(done))
		die("lazyfree: mmap, pipe");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	if (!store_all(p, 1))
		die("lazyfree: no access to plain memory");
	/* Out, and back by loads: nothing has made the pages dirty since. */
	madvise(p, bytes, MADV_PAGEOUT);
	if (count_other(p, 1))
		die("lazyfree: memory did not come back from swap");
	pid = fork();
	if (pid < 0)
		die("lazyfree: fork");
	if (!pid)
		victim(p, done[0]);
	madvise(p, bytes, MADV_FREE);
	/* Copies for the parent: the child is the only owner of the old pages. */
	store_all(p, 1 + PAGES);
	if (write(done[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid ||
	    !WIFEXITED(status))
		die("lazyfree: the child");
	close(done[0]);
	close(done[1]);
	munmap(p, bytes);
	return WEXITSTATUS(status);
}
