/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_COUNTER_H
#define BENCH_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct counter - what the numbers are, and how fine
 * @name: icount (virtual time under -icount shift=0), instructions (of this
 *	thread, by perf) or ns
 * @grain: the smallest step of the counter, in its unit
 * @insns: one is one instruction
 */
struct counter {
	const char *name;
	unsigned long grain;
	bool insns;
};

extern struct counter counter;

void counter_open(bool icount);
/* What was executed so far, by this thread and by the kernel for it. */
uint64_t insns(void);
/* @n rounds of a loop of two instructions. */
void two_instructions(uint64_t n);

#endif /* BENCH_COUNTER_H */
