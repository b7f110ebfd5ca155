// SPDX-License-Identifier: GPL-2.0
/*
 * The measuring program: /init of the guest, or by hand on a machine, as root.
 * PARTS="mprotect sweep" in the environment does those parts only, KINDS="4K 64K"
 * only that memory, QUICK=1 what `make bench-quick` does.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rows.h"

/* One instruction is one count: two million of them say so. */
static void calibrate(void)
{
	uint64_t best = UINT64_MAX, t;
	int i;

	for (i = 0; i < 5; i++) {
		t = insns();
		two_instructions(1000000);
		t = insns() - t;
		best = t < best ? t : best;
	}
	row("calibrate", "loop", best, 2000000, 0);
}

/*
 * No other task may run between two readings: neither a kernel thread nor the
 * child that fork() has just made.  On a machine of somebody's, others go on.
 */
static void never_preempted(void)
{
	struct sched_param param = { .sched_priority = 1 };

	if (!in_guest)
		return;
	put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		die("sched_setscheduler");
}

/* Control: page tables of the other end are not aligned, so each entry moves. */
static void mremap_kind(const struct kind *k)
{
	char *to = ARENA2 + page_size, *p;
	uint64_t t;

	progress("mremap", k->name);
	p = map_kind(k, ARENA, SWEEP_SIZE);
	settle();
	t = insns();
	if (mremap(p, SWEEP_SIZE, SWEEP_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		die("mremap");
	row("mremap", k->name, insns() - t, SWEEP_SIZE / page_size, 0);
	munmap(to, SWEEP_SIZE);
}

static void measure_mremap(void)
{
	each_kind(mremap_kind, K_4K, K_2M_PTE);
}

static void measure_kind(const struct kind *k)
{
	uint64_t t;
	char *p;

	progress("mprotect", k->name);
	p = map_kind(k, ARENA, SIZE);
	check_geometry("mprotect-folios", k, p, SIZE);
	protect_rows(k->name, p, SIZE, ROUNDS);
	settle();
	t = insns();
	munmap(p, SIZE);
	row("unmap", k->name, insns() - t, SIZE / page_size, 0);
}

static void measure_mprotect(void)
{
	each_kind(measure_kind, K_4K, K_2M_PMD);
}

static const struct part {
	const char *name;
	void (*run)(void);
	bool quick;
} parts[] = {
	{ "mprotect", measure_mprotect, true },
	{ "mremap", measure_mremap, false },
	{ "ranges", measure_ranges, true },
	{ "mixed", measure_mixed, true },
	{ "shmem", measure_shared, true },
	{ "swap", measure_swap, false },
	{ "holes", measure_holes, false },
	{ "sweep", measure_sweep, false },
	{ "partial", measure_partial, false },
	{ "jit", measure_jit, true },
	{ "stacks", measure_stacks, true },
	{ "faults", measure_faults, true },
	{ "memset", measure_memset, false },
	{ "sparse", measure_sparse, false },
	{ "copy", measure_copy, false },
	{ "first", measure_first, false },
	{ "random", measure_random, false },
	{ "reread", measure_reread, false },
	{ "threads", measure_threads, false },
};

static void say_what_this_is(void)
{
	struct utsname name;

	uname(&name);
	printf("I release %s\nI machine %s\n", name.release, name.machine);
	printf("I counter %s\nI grain %lu\n", counter.name, counter.grain);
	printf("I page %zu\nI pmd %zu\n", page_size, pmd_size);
}

static int measure(void)
{
	const char *wanted = getenv("PARTS");
	size_t i;

	quick = env_number("QUICK", 0);
	memset(before, 1, sizeof(before));
	memset(after, 1, sizeof(after));
	counter_open(in_guest);
	say_what_this_is();
	never_preempted();
	calibrate();
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (listed(wanted, parts[i].name) && (!quick || parts[i].quick))
			parts[i].run();
	return failed != 0;
}

int main(void)
{
	return guest_main(measure);
}
