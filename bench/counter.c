// SPDX-License-Identifier: GPL-2.0
/*
 * A counter of instructions on every machine.  In a guest it is the clock that
 * a program can read: under -icount shift=0 an instruction is a nanosecond.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counter.h"
#include "system/common.h"

#define NSEC	1000000000UL

struct counter counter = { "ns", 1, false };

static bool by_clock;
static int perf_fd = -1;
/* Nanoseconds per tick of the clock: mul / div. */
static uint64_t mul = 1, div = 1;

#if defined(__x86_64__)

static inline uint64_t ticks(void)
{
	uint32_t lo, hi;

	asm volatile("rdtsc" : "=a" (lo), "=d" (hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* QEMU's runs at 1 GHz of virtual time. */
static uint64_t ticks_per_second(void)
{
	return NSEC;
}

void two_instructions(uint64_t n)
{
	asm volatile("1: dec %0; jnz 1b" : "+r" (n) : : "cc");
}

#elif defined(__aarch64__)

static inline uint64_t ticks(void)
{
	uint64_t value;

	asm volatile("isb; mrs %0, cntvct_el0" : "=r" (value) : : "memory");
	return value;
}

static uint64_t ticks_per_second(void)
{
	uint64_t value;

	asm volatile("mrs %0, cntfrq_el0" : "=r" (value));
	return value;
}

void two_instructions(uint64_t n)
{
	asm volatile("1: subs %0, %0, #1; b.ne 1b" : "+r" (n) : : "cc");
}

#elif defined(__powerpc64__)

static inline uint64_t ticks(void)
{
	uint64_t value;

	asm volatile("mfspr %0, 268" : "=r" (value) : : "memory");
	return value;
}

static uint64_t ticks_per_second(void)
{
	unsigned long value;

	if (!number_from("/proc/cpuinfo", "timebase", &value))
		die("the frequency of the time base");
	return value;
}

void two_instructions(uint64_t n)
{
	asm volatile("1: addic. %0, %0, -1; bne 1b" : "+b" (n) : : "cr0", "xer");
}

#else
#error "no counter for this machine"
#endif

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void open_clock(void)
{
	uint64_t hz = ticks_per_second(), common = common_divisor(NSEC, hz);

	mul = NSEC / common;
	div = hz / common;
	by_clock = true;
	counter = (struct counter) { "icount", (mul + div - 1) / div, true };
}

/* Instructions in user space and kernel, if that is allowed here. */
static void open_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
		.exclude_hv = 1,
	};
	uint64_t value;

	perf_fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
	if (perf_fd >= 0 && read(perf_fd, &value, sizeof(value)) == sizeof(value) && value)
		counter = (struct counter) { "instructions", 1, true };
	else
		perf_fd = -1;
}

void counter_open(bool icount)
{
	if (icount)
		open_clock();
	else
		open_perf();
}

uint64_t insns(void)
{
	struct timespec now;
	uint64_t value;

	if (by_clock)
		return ticks() * mul / div;
	if (perf_fd >= 0 && read(perf_fd, &value, sizeof(value)) == sizeof(value))
		return value;
	/* Of this thread: what others do meanwhile is not ours. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * NSEC + now.tv_nsec;
}
