// SPDX-License-Identifier: GPL-2.0
/*
 * host-test [-l] [-s STRIDE] [-r SEED] [PATTERN...]: run the tests of all
 * backends that are linked in, or those whose name has a PATTERN at its start.
 * One line for each, and the count last.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "host.h"

struct host_backend *host_backends;
unsigned int host_stride = 1;
unsigned int host_warnings;
u64 host_cases;

static u64 random_state = 1;
static char said[256];

void host_register(struct host_backend *backend)
{
	backend->next = host_backends;
	host_backends = backend;
}

void host_seed(u64 seed)
{
	random_state = seed * 2 + 1;
}

u64 host_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dUL >> 16;
}

const char *host_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	return said;
}

#ifndef HOST_NO_MAIN
static unsigned int passed, failed;
static bool only_list;
static u64 seed = 1;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1000000000.0;
}

static bool wanted(const char *name, char **pattern)
{
	if (!*pattern)
		return true;
	for (; *pattern; pattern++)
		if (!strncmp(name, *pattern, strlen(*pattern)))
			return true;
	return false;
}

static void run_group(const char *name, const struct host_group *group)
{
	const double start = now();
	const char *why;

	host_seed(seed);
	host_cases = 0;
	host_warnings = 0;
	mmu_init();
	why = group->run();
	if (!why && !host_cases)
		why = "no case was run";
	if (why)
		failed++;
	else
		passed++;
	printf("  %s    %s (%lu cases, %.2f s)%s%s\n", why ? "FAIL" : "PASS",
	       name, host_cases, now() - start, why ? ": " : "", why ? why : "");
	fflush(stdout);
}

static void run_mode(struct host_backend *backend, unsigned int mode,
		     char **pattern)
{
	const struct host_group *group;
	char name[128];

	for (group = backend->groups; group->name; group++) {
		snprintf(name, sizeof(name), "%s.%s.%s", backend->name,
			 backend->modes[mode], group->name);
		if (!wanted(name, pattern))
			continue;
		if (only_list) {
			printf("%s\n", name);
			continue;
		}
		backend->set_mode(mode);
		run_group(name, group);
	}
}

static char **options(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-l"))
			only_list = true;
		else if (!strcmp(argv[i], "-s") && i + 1 < argc)
			host_stride = atoi(argv[++i]);
		else if (!strcmp(argv[i], "-r") && i + 1 < argc)
			seed = strtoul(argv[++i], NULL, 0);
		else
			exit(2);
	}
	return argv + i;
}

int main(int argc, char **argv)
{
	char **pattern = options(argc, argv);
	struct host_backend *backend;
	unsigned int mode;

	for (backend = host_backends; backend; backend = backend->next)
		for (mode = 0; backend->modes[mode]; mode++)
			run_mode(backend, mode, pattern);
	if (only_list)
		return 0;
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed || !passed;
}
#endif
