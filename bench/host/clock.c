// SPDX-License-Identifier: GPL-2.0
/*
 * The time stamp counter has a rate of its own, whatever the processor's clock
 * is at the moment: what a tick is has to be found out.
 */
#include <cpuid.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define CHAIN		200000
/* What a multiplication waits for another, on all x86-64 since 2008. */
#define MULTIPLY	3
#define TRIES		20

/* Minus one where there is none, as in most virtual machines. */
static int cycle_counter(void)
{
	static int fd = -2;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	if (fd == -2)
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	return fd;
}

static uint64_t read_cycles(void)
{
	uint64_t value = 0;

	if (read(cycle_counter(), &value, sizeof(value)) != sizeof(value))
		return 0;
	return value;
}

/**
 * clock_cycles_by() - how cycles are known
 *
 * Return: "perf", the processor's own counter; or "multiplications".
 */
const char *clock_cycles_by(void)
{
	return cycle_counter() >= 0 ? "perf" : "multiplications";
}

/**
 * clock_cycles_per_tick() - cycles for each tick of the time stamp counter
 *
 * Over a chain of multiplications of which each waits for the one before. The
 * best of some tries: whatever disturbs makes it slower.
 *
 * Return: cycles.
 */
double clock_cycles_per_tick(void)
{
	const int counted = cycle_counter() >= 0;
	double best = 0;
	int try, i;

	for (try = 0; try < TRIES; try++) {
		uint64_t cycles = counted ? read_cycles() : 0, x = 3;
		uint64_t start = ticks();
		double took, value;

		for (i = 0; i < CHAIN; i++)
			asm volatile("imul %0, %0" : "+r" (x));
		took = ticks() - start;
		value = counted ? read_cycles() - cycles : CHAIN * MULTIPLY;
		if (value / took > best)
			best = value / took;
	}
	return best;
}

struct moment {
	double ns;
	uint64_t ticks;
};

/* Both clocks at once: of some tries, the one that was interrupted least. */
static struct moment now(void)
{
	struct moment best = { };
	uint64_t shortest = UINT64_MAX;
	int try;

	for (try = 0; try < TRIES; try++) {
		uint64_t start = ticks(), took;
		struct timespec time;

		clock_gettime(CLOCK_MONOTONIC_RAW, &time);
		took = ticks() - start;
		if (took >= shortest)
			continue;
		shortest = took;
		best.ns = time.tv_sec * 1e9 + time.tv_nsec;
		best.ticks = start + took / 2;
	}
	return best;
}

/**
 * clock_ns_per_tick() - what a tick of the time stamp counter is
 *
 * Return: nanoseconds.
 */
double clock_ns_per_tick(void)
{
	const struct moment from = now();
	struct moment to;

	do {
		to = now();
	} while (to.ns - from.ns < 5e7);
	return (to.ns - from.ns) / (to.ticks - from.ticks);
}

/**
 * clock_cpu() - the processor's own name
 *
 * Return: the name.
 */
const char *clock_cpu(void)
{
	static unsigned int word[13];
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002 + i, &word[i * 4], &word[i * 4 + 1],
				 &word[i * 4 + 2], &word[i * 4 + 3]))
			return "unknown";
	return (const char *)word + strspn((const char *)word, " ");
}
