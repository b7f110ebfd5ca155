// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "rows.h"

int failed;
bool quick;
uint64_t before[MAX_PAGES], after[MAX_PAGES];

void row(const char *what, const char *kind, uint64_t insn, uint64_t units, uint64_t faults)
{
	printf("R %s/%s %lu %lu %lu\n", what, kind, insn, units, faults);
}

void check(const char *what, const char *kind, bool ok)
{
	printf("C %s/%s %s\n", what, kind, ok ? "PASS" : "FAIL");
	failed += !ok;
}

void skip(const char *what, const char *kind, const char *why)
{
	printf("S %s/%s %s\n", what, kind, why);
}

void progress(const char *what, const char *kind)
{
	printf("P %s/%s\n", what, kind);
}

void check_geometry(const char *what, const struct kind *k, char *p, size_t size)
{
	check(what, k->name, folios_as_asked(k, p, size) == size / k->folio);
}

/*
 * Let those who wait have their turn now.  A task that waits for a second gets
 * the CPU even from a real-time task (the fair server), and the serial line
 * interrupts until it is empty.
 */
void settle(void)
{
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	usleep(50000);
}

uint64_t protect(char *p, size_t size, int prot)
{
	uint64_t t = insns();

	if (mprotect(p, size, prot))
		die("mprotect");
	return insns() - t;
}

void protect_rows(const char *kind, char *p, size_t size, int rounds)
{
	uint64_t ro = 0, rw = 0, none = 0, back = 0, units = size / page_size * rounds;
	int i;

	settle();
	protect(p, size, PROT_READ);
	protect(p, size, RW);
	for (i = 0; i < rounds; i++) {
		ro += protect(p, size, PROT_READ);
		rw += protect(p, size, RW);
	}
	for (i = 0; i < rounds; i++) {
		none += protect(p, size, PROT_NONE);
		back += protect(p, size, RW);
	}
	row("mprotect-ro", kind, ro, units, 0);
	row("mprotect-rw", kind, rw, units, 0);
	row("mprotect-none", kind, none, units, 0);
	row("mprotect-back", kind, back, units, 0);
}

/* fork(), and a child that is gone when this returns. */
uint64_t fork_and_exit(void)
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

/* Is @name a word of @list?  Everything is where there is no list. */
bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	if (!list || !*list)
		return true;
	for (at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

static bool kind_wanted(const struct kind *k)
{
	return kind_offered(k) && listed(getenv("KINDS"), k->name) &&
		!(quick && (k == &kinds[K_1M] || k->pmd));
}

void each_kind(void (*measure)(const struct kind *k), int first, int last)
{
	int i;

	for (i = first; i <= last; i++)
		if (kind_wanted(&kinds[i]))
			measure(&kinds[i]);
}

const struct kind *kind_of_order(int order)
{
	static struct kind k;
	static char name[16];

	snprintf(name, sizeof(name), "order%d", order);
	k = (struct kind) { name, page_size << order, false };
	return k.folio <= pmd_size && folio_size_offered(k.folio) ? &k : NULL;
}
