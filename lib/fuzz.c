// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer's way in. The first byte of an input picks the backend and its
 * mode, the rest is what <tests/fuzz.h> makes of it.
 */
#include <stdlib.h>

#include "host.h"

/* As libFuzzer calls it. */
int fuzz_input(const u8 *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

/* The backend that number @pick stands for, in one of its modes. */
static struct host_backend *choose(unsigned int pick)
{
	struct host_backend *backend = host_backends;
	unsigned int mode = 0;

	while (pick--) {
		if (backend->modes[++mode])
			continue;
		mode = 0;
		backend = backend->next ? backend->next : host_backends;
	}
	backend->set_mode(mode);
	return backend;
}

int fuzz_input(const u8 *data, size_t size)
{
	struct host_backend *backend;
	const char *why;

	if (size < 2)
		return 0;
	mmu_init();
	host_seed(data[1]);
	host_cases = 0;
	backend = choose(data[0] % 32);
	why = backend->fuzz(data + 1, size - 1);
	if (!why)
		return 0;
	printf("%s: %s\n", backend->name, why);
	abort();
}
