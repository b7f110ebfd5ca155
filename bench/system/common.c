// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

#define THP	"/sys/kernel/mm/transparent_hugepage/"

size_t page_size, pmd_size;

void die(const char *format, ...)
{
	int error = errno;
	va_list args;

	printf("PROGRAM FAILED: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" (%s)\n", strerror(error));
	fflush(stdout);
	_exit(3);
}

bool try_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t len = strlen(text);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, len) == len;
	close(fd);
	return ok;
}

void put(const char *path, const char *text)
{
	if (!try_put(path, text))
		die("%s", path);
}

/* The number after the first word @name of a line; a file of one number. */
bool number_from(const char *path, const char *name, unsigned long *value)
{
	FILE *f = fopen(path, "r");
	char line[256];
	bool found = false;
	size_t len = strlen(name);

	while (f && !found && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && (!len || strchr(" :\t", line[len])))
			found = sscanf(line + len, "%*[: \t]%lu", value) == 1 ||
				sscanf(line + len, "%lu", value) == 1;
	if (f)
		fclose(f);
	return found;
}

uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

uint64_t random_state;

uint64_t rnd(uint64_t below)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % below;
}

/* ---- Sizes of folios ---- */

static struct size {
	unsigned long kb;
	char path[128], before[32];
} sizes[32];
static size_t nr_sizes;

/* The word in brackets is the one in force. */
static bool setting(const char *path, char *word, size_t size)
{
	char line[128] = "", *start, *end;
	int fd = open(path, O_RDONLY);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, line, sizeof(line) - 1);
	close(fd);
	start = strchr(line, '[');
	end = start ? strchr(start, ']') : NULL;
	if (len <= 0 || !end || (size_t)(end - start) > size)
		return false;
	memcpy(word, start + 1, end - start - 1);
	word[end - start - 1] = 0;
	return true;
}

static void find_sizes(void)
{
	DIR *dir = opendir(THP);
	struct dirent *d;
	struct size *s;

	while (dir && nr_sizes < ARRAY_SIZE(sizes) && (d = readdir(dir))) {
		s = &sizes[nr_sizes];
		if (sscanf(d->d_name, "hugepages-%lukB", &s->kb) != 1)
			continue;
		snprintf(s->path, sizeof(s->path), THP "hugepages-%lukB/enabled", s->kb);
		/* Some sizes are only for shmem. */
		if (setting(s->path, s->before, sizeof(s->before)))
			nr_sizes++;
	}
	if (dir)
		closedir(dir);
	if (!nr_sizes)
		die("no folio sizes below " THP);
}

void folio_sizes(const unsigned long *kb, size_t nr)
{
	size_t i, j;

	for (i = 0; i < nr_sizes; i++) {
		bool wanted = false;

		for (j = 0; j < nr; j++)
			wanted |= sizes[i].kb == kb[j];
		put(sizes[i].path, wanted ? "always" : "never");
	}
}

void folio_sizes_restore(void)
{
	size_t i;

	for (i = 0; i < nr_sizes; i++)
		try_put(sizes[i].path, sizes[i].before);
}

void common_init(void)
{
	unsigned long bytes;

	setvbuf(stdout, NULL, _IOLBF, 0);
	page_size = sysconf(_SC_PAGESIZE);
	if (!number_from(THP "hpage_pmd_size", "", &bytes))
		die(THP "hpage_pmd_size");
	pmd_size = bytes;
	find_sizes();
}

/* ---- Where pages are ---- */

void pagemap(pid_t pid, const void *p, size_t nr, uint64_t *entry)
{
	size_t len = nr * sizeof(*entry);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 ||
	    pread(fd, entry, len, (uintptr_t)p / page_size * sizeof(*entry)) != (ssize_t)len)
		die("%s", path);
	close(fd);
}

static uint64_t kpage(int *fd, const char *path, uint64_t pfn)
{
	uint64_t value;

	if (*fd <= 0)
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 || pread(*fd, &value, sizeof(value), pfn * sizeof(value)) != sizeof(value))
		die("%s", path);
	return value;
}

uint64_t page_flags(uint64_t pfn)
{
	static int fd;

	return kpage(&fd, "/proc/kpageflags", pfn);
}

uint64_t page_mapcount(uint64_t pfn)
{
	static int fd;

	return kpage(&fd, "/proc/kpagecount", pfn);
}

/* ---- Accesses that may not be allowed ---- */

static __thread sigjmp_buf landing;
static __thread volatile bool armed;
__thread int fault_signal;

static void on_fault(int sig)
{
	if (!armed) {
		static const char text[] = "PROGRAM FAILED: a fault where none may be\n";

		_exit(write(1, text, sizeof(text) - 1) > 0 ? 4 : 5);
	}
	fault_signal = sig;
	siglongjmp(landing, 1);
}

void catch_faults(void)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

static volatile uint64_t *word_of(const char *page, int i)
{
	return (volatile uint64_t *)(page + i * (page_size - sizeof(uint64_t)));
}

bool load_words(const char *page, struct words *words)
{
	bool ok = false;

	armed = true;
	if (!sigsetjmp(landing, 0)) {
		words->w[0] = *word_of(page, 0);
		words->w[1] = *word_of(page, 1);
		ok = true;
	}
	armed = false;
	return ok;
}

bool store_words(char *page, const struct words *words)
{
	bool ok = false;

	armed = true;
	if (!sigsetjmp(landing, 0)) {
		*word_of(page, 0) = words->w[0];
		*word_of(page, 1) = words->w[1];
		ok = true;
	}
	armed = false;
	return ok;
}

/* ---- Pages pinned for I/O ---- */

static void *ring_map(struct ring *ring, size_t len, uint64_t what)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		       ring->fd, what);

	if (p == MAP_FAILED || madvise(p, len, MADV_DONTFORK))
		die("memory of an io_uring");
	return p;
}

static void ring_maps(struct ring *ring, const struct io_uring_params *params)
{
	char *sq, *cq;

	ring->sq_len = params->sq_off.array + params->sq_entries * sizeof(uint32_t);
	ring->cq_len = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
	ring->sqes_len = params->sq_entries * sizeof(struct io_uring_sqe);
	ring->sq = ring_map(ring, ring->sq_len, IORING_OFF_SQ_RING);
	ring->cq = ring_map(ring, ring->cq_len, IORING_OFF_CQ_RING);
	sq = ring->sq;
	cq = ring->cq;
	ring->sqes = ring_map(ring, ring->sqes_len, IORING_OFF_SQES);
	ring->sq_tail = (uint32_t *)(sq + params->sq_off.tail);
	ring->sq_mask = (uint32_t *)(sq + params->sq_off.ring_mask);
	ring->sq_array = (uint32_t *)(sq + params->sq_off.array);
	ring->cq_head = (uint32_t *)(cq + params->cq_off.head);
	ring->cq_tail = (uint32_t *)(cq + params->cq_off.tail);
	ring->cq_mask = (uint32_t *)(cq + params->cq_off.ring_mask);
	ring->cqes = cq + params->cq_off.cqes;
}

/* 0, or what io_uring_register() said. */
int ring_open(struct ring *ring, void *buffer, size_t len)
{
	struct io_uring_params params = { 0 };
	struct iovec v = { buffer, len };

	ring->fd = syscall(__NR_io_uring_setup, 1, &params);
	if (ring->fd < 0)
		die("io_uring_setup");
	if (syscall(__NR_io_uring_register, ring->fd, IORING_REGISTER_BUFFERS, &v, 1)) {
		int error = errno;

		close(ring->fd);
		ring->fd = -1;
		return error;
	}
	ring_maps(ring, &params);
	return 0;
}

void ring_close(struct ring *ring)
{
	munmap(ring->sq, ring->sq_len);
	munmap(ring->cq, ring->cq_len);
	munmap(ring->sqes, ring->sqes_len);
	ring_forget(ring);
}

void ring_forget(struct ring *ring)
{
	close(ring->fd);
	ring->fd = -1;
}

static int ring_do(struct ring *ring, const struct io_uring_sqe *sqe)
{
	uint32_t tail = *ring->sq_tail, head = *ring->cq_head, at = tail & *ring->sq_mask;
	struct io_uring_cqe *cqe;

	((struct io_uring_sqe *)ring->sqes)[at] = *sqe;
	ring->sq_array[at] = at;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -errno;
	while (__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == head)
		syscall(__NR_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	cqe = (struct io_uring_cqe *)ring->cqes + (head & *ring->cq_mask);
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return cqe->res;
}

static int ring_io(struct ring *ring, int op, int file, off_t offset, void *where, size_t len)
{
	struct io_uring_sqe sqe = {
		.opcode = op, .fd = file, .off = offset,
		.addr = (uintptr_t)where, .len = len,
	};

	return ring_do(ring, &sqe);
}

int ring_write_file(struct ring *ring, int file, off_t offset, void *where, size_t len)
{
	return ring_io(ring, IORING_OP_WRITE_FIXED, file, offset, where, len);
}

int ring_read_file(struct ring *ring, int file, off_t offset, void *where, size_t len)
{
	return ring_io(ring, IORING_OP_READ_FIXED, file, offset, where, len);
}
