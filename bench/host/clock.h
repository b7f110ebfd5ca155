/* SPDX-License-Identifier: GPL-2.0 */
/* Time, and what it is in nanoseconds and in cycles of this processor. */
#ifndef PTEBATCH_CLOCK_H
#define PTEBATCH_CLOCK_H

#include <stdint.h>

/* Stores of before are done, and nothing of after has begun. */
static inline uint64_t ticks(void)
{
	uint64_t low, high;

	asm volatile("mfence\n\tlfence\n\trdtsc\n\tlfence"
		     : "=a" (low), "=d" (high) : : "memory");
	return high << 32 | low;
}

const char *clock_cpu(void);
const char *clock_cycles_by(void);
double clock_cycles_per_tick(void);
double clock_ns_per_tick(void);

#endif /* PTEBATCH_CLOCK_H */
