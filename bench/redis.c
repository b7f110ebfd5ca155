// SPDX-License-Identifier: GPL-2.0
/*
 * What a snapshot costs a server: Redis is filled, forks a child that writes the
 * snapshot (BGSAVE), and then has each key set once more.  /init of the guest of
 * bench/run --redis.  Rows are about the server's process alone: its minor faults,
 * and its CPU time, of which under -icount shift=0 a nanosecond is an instruction.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rows.h"

#define DIRECTORY	"/run"
#define SOCKET		DIRECTORY "/socket"
#define SNAPSHOT	DIRECTORY "/dump.rdb"
#define FOLIOS_64K	"/sys/kernel/mm/transparent_hugepage/hugepages-64kB/stats/anon_fault_alloc"

/* As many as the server's hash table then has buckets: it does not grow later. */
#define KEYS		131072
#define VALUE		512
/* Commands sent before the replies are read; it divides KEYS. */
#define BATCH		64

/**
 * struct usage - what the server has used so far
 * @insns: of all its threads, in user space and kernel
 * @faults: minor ones
 */
struct usage {
	uint64_t insns, faults;
};

/**
 * struct text - commands or replies
 * @at: where they are
 * @len: their length
 */
struct text {
	char at[BATCH * (VALUE + 64)];
	size_t len;
};

static pid_t server;
static int connection;
static unsigned int order[KEYS];

/* ---- The server ---- */

static uint64_t cpu_time(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		die("the CPU time of a process");
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

static uint64_t server_faults(void)
{
	unsigned long faults;
	char path[64], line[512] = "", *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", server);
	f = fopen(path, "r");
	if (!f || !fgets(line, sizeof(line), f))
		die("%s", path);
	fclose(f);
	state = strrchr(line, ')');
	if (!state || sscanf(state, ") %*c %*d %*d %*d %*d %*d %*u %lu", &faults) != 1)
		die("%s: %s", path, line);
	return faults;
}

/* Once it has done what comes after its last reply. */
static struct usage server_usage(void)
{
	struct usage usage;
	clockid_t clock;

	settle();
	if (clock_getcpuclockid(server, &clock))
		die("the server's clock");
	usage.insns = cpu_time(clock);
	usage.faults = server_faults();
	return usage;
}

static struct usage used_since(struct usage start)
{
	struct usage now = server_usage();

	return (struct usage) { now.insns - start.insns, now.faults - start.faults };
}

/* No snapshot but those asked for, and no THP but what is set here. */
static void exec_server(void)
{
	execl("/bin/redis-server", "redis-server", "--port", "0", "--unixsocket", SOCKET,
	      "--dir", DIRECTORY, "--save", "", "--loglevel", "warning",
	      "--disable-thp", "no", NULL);
	die("redis-server");
}

/* A server that says nothing for a minute will not say anything more. */
static void connect_server(void)
{
	struct sockaddr_un name = { AF_UNIX, SOCKET };
	struct timeval minute = { .tv_sec = 60 };
	int tries = 1000;

	connection = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connection < 0 ||
	    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof(minute)))
		die("socket");
	while (connect(connection, (struct sockaddr *)&name, sizeof(name))) {
		if (!tries--)
			die(SOCKET);
		usleep(10000);
	}
}

static void start_server(void)
{
	server = fork();
	if (server < 0)
		die("fork");
	if (!server)
		exec_server();
	connect_server();
}

static void stop_server(void)
{
	close(connection);
	kill(server, SIGKILL);
	if (waitpid(server, NULL, 0) != server)
		die("waitpid");
	unlink(SOCKET);
	unlink(SNAPSHOT);
}

/* ---- What it is asked ---- */

static __printf(2, 3) void add(struct text *text, const char *format, ...)
{
	size_t room = sizeof(text->at) - text->len;
	va_list args;
	size_t len;

	va_start(args, format);
	len = vsnprintf(text->at + text->len, room, format, args);
	va_end(args);
	if (len >= room)
		die("a batch is too long");
	text->len += len;
}

/* True if the reply is the expected one. */
static bool ask(const struct text *request, const struct text *expected)
{
	static char reply[sizeof(expected->at)];
	size_t done;
	ssize_t len;

	for (done = 0; done < request->len; done += len) {
		len = write(connection, request->at + done, request->len - done);
		if (len <= 0)
			die("write to the server");
	}
	for (done = 0; done < expected->len; done += len) {
		len = read(connection, reply + done, expected->len - done);
		if (len <= 0)
			die("no more than %zu bytes from the server: %.80s", done, reply);
	}
	return !memcmp(reply, expected->at, done);
}

/* Of @key in @round: no two are alike. */
static const char *value_of(unsigned int key, unsigned int round)
{
	static char value[VALUE + 1];

	memset(value, 'a' + key % 26, VALUE);
	value[sprintf(value, "%u.%u", key, round)] = ' ';
	return value;
}

static void set_batch(const unsigned int *keys, unsigned int round)
{
	static struct text request, expected;
	int i;

	request.len = 0;
	expected.len = 0;
	for (i = 0; i < BATCH; i++) {
		add(&request, "*3\r\n$3\r\nSET\r\n$10\r\nkey:%06u\r\n$%d\r\n%s\r\n",
		    keys[i], VALUE, value_of(keys[i], round));
		add(&expected, "+OK\r\n");
	}
	if (!ask(&request, &expected))
		die("SET");
}

static bool get_batch(const unsigned int *keys, unsigned int round)
{
	static struct text request, expected;
	int i;

	request.len = 0;
	expected.len = 0;
	for (i = 0; i < BATCH; i++) {
		add(&request, "*2\r\n$3\r\nGET\r\n$10\r\nkey:%06u\r\n", keys[i]);
		add(&expected, "$%d\r\n%s\r\n", VALUE, value_of(keys[i], round));
	}
	return ask(&request, &expected);
}

/* What that took. */
static struct usage set_all(unsigned int round)
{
	struct usage start = server_usage();
	size_t i;

	for (i = 0; i < KEYS; i += BATCH)
		set_batch(order + i, round);
	return used_since(start);
}

static bool all_are_of(unsigned int round)
{
	bool good = true;
	size_t i;

	for (i = 0; i < KEYS && good; i += BATCH)
		good = get_batch(order + i, round);
	return good;
}

/* As they are created: one after the other. */
static void in_sequence(void)
{
	unsigned int i;

	for (i = 0; i < KEYS; i++)
		order[i] = i;
}

/* Each key once, in the order that @seed gives. */
static void shuffle(uint64_t seed)
{
	size_t i, j;

	random_state = seed;
	for (i = KEYS - 1; i; i--) {
		unsigned int key = order[i];

		j = rnd(i + 1);
		order[i] = order[j];
		order[j] = key;
	}
}

/* ---- The snapshot ---- */

/* 0 where there is none: it has ended, and the server knows. */
static pid_t snapshot_child(void)
{
	unsigned long pid;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", server, server);
	return number_from(path, "", &pid) ? pid : 0;
}

static pid_t start_snapshot(void)
{
	static struct text request, expected;
	pid_t child;

	request.len = 0;
	expected.len = 0;
	add(&request, "BGSAVE\r\n");
	add(&expected, "+Background saving started\r\n");
	if (!ask(&request, &expected))
		die("BGSAVE");
	child = snapshot_child();
	if (!child)
		die("the snapshot ended before it was looked at");
	return child;
}

static void end_of_snapshot(const char *memory)
{
	while (snapshot_child())
		usleep(10000);
	check("redis-snapshot", memory, !access(SNAPSHOT, F_OK));
}

/* ---- What is measured ---- */

static void show(const char *what, const char *memory, uint64_t units, struct usage used)
{
	row(what, memory, used.insns, units, used.faults);
}

/* A new server with all keys in it, and an order for what comes next. */
static struct usage fill(void)
{
	struct usage used;

	start_server();
	in_sequence();
	used = set_all(0);
	shuffle(1);
	return used;
}

static void finish(const char *memory, unsigned int round)
{
	check("redis-values", memory, all_are_of(round));
	stop_server();
}

static unsigned long folios_64k(void)
{
	unsigned long folios;

	if (!number_from(FOLIOS_64K, "", &folios))
		die(FOLIOS_64K);
	return folios;
}

/* How much of the server's memory is in such folios; none are freed meanwhile. */
static void show_folios(const char *memory, unsigned long before)
{
	unsigned long anon;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", server);
	if (!number_from(path, "RssAnon", &anon))
		die("%s", path);
	printf("I anon-%s %lu kB, %lu kB in folios of 64K\n", memory, anon,
	       (folios_64k() - before) * 64);
}

/* The child has gone before the first key is set anew. */
static void after_snapshot(const char *memory)
{
	unsigned long folios = folios_64k();
	struct usage start;

	progress("redis-after", memory);
	show("redis-load", memory, KEYS, fill());
	show_folios(memory, folios);
	start = server_usage();
	start_snapshot();
	show("redis-fork", memory, 1, used_since(start));
	end_of_snapshot(memory);
	show("redis-after", memory, KEYS, set_all(1));
	finish(memory, 1);
}

/* The child waits until all keys were set anew, so that all has to be copied. */
static void during_snapshot(const char *memory)
{
	pid_t child;

	progress("redis-during", memory);
	fill();
	child = start_snapshot();
	kill(child, SIGSTOP);
	show("redis-during", memory, KEYS, set_all(1));
	kill(child, SIGCONT);
	end_of_snapshot(memory);
	shuffle(2);
	show("redis-again", memory, KEYS, set_all(2));
	finish(memory, 2);
}

/* Does the CPU time of a process count its instructions?  The best of five says so. */
static void calibrate(void)
{
	uint64_t best = UINT64_MAX, t;
	int i;

	for (i = 0; i < 5; i++) {
		settle();
		t = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
		two_instructions(10000000);
		t = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - t;
		best = t < best ? t : best;
	}
	row("calibrate", "loop", best, 20000000, 0);
}

/* Of @memory, which is what folio_sizes() was told. */
static void measure_memory(const char *memory, bool folios)
{
	unsigned long before = folios_64k();

	after_snapshot(memory);
	during_snapshot(memory);
	check("redis-folios", memory, (folios_64k() > before) == folios);
}

static int measure(void)
{
	unsigned long kb = 64;

	if (mkdir(DIRECTORY, 0755) || mount("tmpfs", DIRECTORY, "tmpfs", 0, NULL))
		die(DIRECTORY);
	/* Redis asks for this, and wants to be sure that it can fork. */
	put("/proc/sys/vm/overcommit_memory", "1");
	counter_open(true);
	printf("I counter %s\nI grain %lu\nI page %zu\n", counter.name, counter.grain, page_size);
	calibrate();
	folio_sizes(NULL, 0);
	measure_memory("4K", false);
	folio_sizes(&kb, 1);
	measure_memory("64K", true);
	return failed != 0;
}

int main(void)
{
	return guest_main(measure);
}
