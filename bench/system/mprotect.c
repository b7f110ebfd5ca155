// SPDX-License-Identifier: GPL-2.0
/*
 * What mprotect() leaves behind, in a form that two kernels can be compared
 * by: the same steps on memory made in the same way, then everything that can
 * be seen of each page, one line per case and moment:
 *
 *   S kind/memory/steps moment field=value ...
 *
 * A value lists runs of equal pages (value*pages,...); long ones are cut and
 * end in a hash of the whole.  Nothing is judged here but what is wrong on any
 * kernel: an access allowed or refused against the protection, contents lost.
 *
 *   CASES=64K/moved mprotect	only those whose name has this in it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED	(1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC		(1 << 15)
#endif

#define ARENA		((char *)0x100000000000UL)
#define ELSEWHERE	((char *)0x110000000000UL)
#define RW		(PROT_READ | PROT_WRITE)
/* Two page tables and a half, with 4K pages. */
#define MAX_PAGES	1280
#define UNMAPPED	(-1)

enum reuse { NO_REUSE, AFTER_STORES, FROM_THE_START };
enum when { AFTER, READ, SOME, ALL };
static const char *const moments[] = { "after", "read", "some", "all" };

/**
 * struct kind - the folios of anonymous memory
 * @name: as printed
 * @kb: their size; 0 is single pages, 1 is the size of a PMD
 * @ptes: mapped by page table entries, though they could be mapped by a PMD
 */
static const struct kind {
	const char *name;
	unsigned long kb;
	bool ptes;
} kinds[] = {
	{ "4K", 0, false }, { "16K", 16, false }, { "64K", 64, false },
	{ "1M", 1024, false }, { "PMD-ptes", 1, true }, { "PMD", 1, false },
};

/* The case under way. */
static char *mem;
static size_t nr_pages;
static int prot[MAX_PAGES];		/* PROT_*, or UNMAPPED */
static struct words holds[MAX_PAGES];
static bool may_be_zero, may_refuse;	/* MADV_FREE; userfaultfd */
static int uffd = -1, file = -1;
static bool has_ext2;
static struct ring ring = { .fd = -1 };
static pid_t child;
static char name[96];
static unsigned int failed, cases;

static char *at(size_t i)
{
	return mem + i * page_size;
}

static __printf(1, 2) void bad(const char *format, ...)
{
	va_list args;

	failed++;
	printf("FAIL mprotect/%s: ", name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

/* ---- Making memory ---- */

static struct words pattern(size_t i, uint64_t round)
{
	struct words words = { { round << 32 | i, ~(round << 32 | i) } };

	return words;
}

static void store_page(size_t i, uint64_t round)
{
	holds[i] = pattern(i, round);
	if (!store_words(at(i), &holds[i]))
		bad("page %zu cannot be written while it is made", i);
}

static void map_anonymous(void)
{
	mem = mmap(ARENA, nr_pages * page_size, RW,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (mem != ARENA)
		die("mmap");
}

/* Two kernels that both failed to make large folios would be alike. */
static void check_folios(unsigned long kb)
{
	static uint64_t entry[MAX_PAGES];
	size_t per_folio = kb * 1024 / page_size ?: 1, i;
	bool large = per_folio > 1;

	pagemap(getpid(), mem, nr_pages, entry);
	for (i = 0; i < nr_pages / per_folio * per_folio; i++) {
		uint64_t flags = page_flags(entry[i] & PM_PFN);

		if (!(flags & (1ULL << KPF_HEAD | 1ULL << KPF_TAIL)) != !large) {
			bad("page %zu is not of a folio of %lu kB", i, kb);
			return;
		}
	}
}

static void map_kind(const struct kind *kind)
{
	unsigned long kb = kind->kb == 1 ? pmd_size / 1024 : kind->kb;
	size_t i, table = pmd_size / page_size;

	folio_sizes(&kb, 1);
	map_anonymous();
	for (i = 0; i < nr_pages; i++)
		store_page(i, 1);
	check_folios(kb);
	/* A protection that differs inside takes the PMD apart, not the folio. */
	for (i = 0; kind->ptes && i < nr_pages; i += table) {
		mprotect(at(i), page_size, PROT_READ);
		mprotect(at(i), page_size, RW);
	}
	/* khugepaged is to stay away. */
	madvise(mem, nr_pages * page_size, MADV_NOHUGEPAGE);
}

static void unmap(size_t from, size_t nr)
{
	munmap(at(from), nr * page_size);
	while (nr--)
		prot[from++] = UNMAPPED;
}

static void advise(size_t from, size_t nr, int advice)
{
	if (madvise(at(from), nr * page_size, advice))
		bad("madvise %d: %s", advice, strerror(errno));
}

static void empty(size_t from, size_t nr)
{
	advise(from, nr, MADV_DONTNEED);
	memset(&holds[from], 0, nr * sizeof(holds[0]));
}

static void wait_in_child(void)
{
	for (;;)
		pause();
}

static void fork_child(void)
{
	child = fork();
	if (child < 0)
		die("fork");
	if (!child)
		wait_in_child();
}

static void end_child(void)
{
	if (child) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
}

/* ---- Memory of every description: false if this kernel has it not ---- */

static bool make_plain(const struct kind *kind)
{
	map_kind(kind);
	return true;
}

static bool make_holes(const struct kind *kind)
{
	map_kind(kind);
	unmap(5, 3);
	unmap(100, 40);
	unmap(511, 2);
	unmap(700, 1);
	empty(20, 4);
	empty(300, 100);
	empty(900, 1);
	return true;
}

static bool make_moved(const struct kind *kind)
{
	char *to = ELSEWHERE + page_size;
	size_t len = nr_pages * page_size;

	map_kind(kind);
	if (mremap(mem, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		die("mremap");
	mem = to;
	return true;
}

/* Folios that begin in one mapping and end in another. */
static bool make_vmas(const struct kind *kind)
{
	map_kind(kind);
	advise(3, 47, MADV_DONTFORK);
	advise(60, 1, MADV_DONTFORK);
	advise(500, 30, MADV_DONTFORK);
	advise(1000, 100, MADV_WIPEONFORK);
	return true;
}

static bool make_pinned(const struct kind *kind)
{
	map_kind(kind);
	return !ring_open(&ring, mem, nr_pages * page_size);
}

static bool make_swapped(const struct kind *kind)
{
	unsigned long total = 0;

	map_kind(kind);
	number_from("/proc/meminfo", "SwapTotal:", &total);
	advise(100, 300, MADV_PAGEOUT);
	advise(600, 1, MADV_PAGEOUT);
	advise(1000, 280, MADV_PAGEOUT);
	return total;
}

/* Entries that a child has as well are read in through the swap cache. */
static bool make_swap_cache(const struct kind *kind)
{
	struct words words;
	size_t i;

	if (!make_swapped(kind))
		return false;
	fork_child();
	for (i = 200; i < 1100; i++)
		if (i % 3)
			load_words(at(i), &words);
	return true;
}

static bool open_uffd(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register reg = {
		.range = { (uintptr_t)mem, nr_pages * page_size },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	uffd = syscall(__NR_userfaultfd, O_CLOEXEC);
	return uffd >= 0 && !ioctl(uffd, UFFDIO_API, &api) &&
		!ioctl(uffd, UFFDIO_REGISTER, &reg);
}

static void uffd_protect(size_t from, size_t nr, bool on)
{
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)at(from), nr * page_size },
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	if (ioctl(uffd, UFFDIO_WRITEPROTECT, &wp))
		bad("UFFDIO_WRITEPROTECT: %s", strerror(errno));
}

static void uffd_protect_some(void)
{
	uffd_protect(0, 2, true);
	uffd_protect(10, 30, true);
	uffd_protect(64, 16, true);
	uffd_protect(400, 300, true);
	uffd_protect(480, 7, false);
	uffd_protect(1200, 80, true);
}

/* A fault that nobody is there to resolve ends in SIGBUS. */
static bool make_uffd(const struct kind *kind)
{
	map_kind(kind);
	if (!open_uffd(UFFD_FEATURE_SIGBUS | UFFD_FEATURE_PAGEFAULT_FLAG_WP))
		return false;
	uffd_protect_some();
	may_refuse = true;
	return true;
}

static bool make_uffd_async(const struct kind *kind)
{
	map_kind(kind);
	empty(30, 60);
	if (!open_uffd(UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED))
		return false;
	uffd_protect_some();
	return true;
}

static bool make_soft_dirty(const struct kind *kind)
{
	uint64_t entry;
	size_t i;

	map_kind(kind);
	put("/proc/self/clear_refs", "4");
	pagemap(getpid(), mem, 1, &entry);
	for (i = 0; i < nr_pages; i++)
		if (i % 7 == 1 || (i > 500 && i < 520))
			store_page(i, 1);
	return !(entry & PM_SOFT_DIRTY);
}

static bool make_freed(const struct kind *kind)
{
	size_t i;

	map_kind(kind);
	advise(8, 500, MADV_FREE);
	advise(600, 5, MADV_FREE);
	for (i = 0; i < nr_pages; i++)
		if (i % 5 == 1)
			store_page(i, 1);
	may_be_zero = true;
	return true;
}

static bool make_shared(const struct kind *kind)
{
	map_kind(kind);
	fork_child();
	return true;
}

static bool make_left(const struct kind *kind)
{
	map_kind(kind);
	fork_child();
	end_child();
	return true;
}

/* The child is gone; some pages have been written since, some before. */
static bool make_left_mixed(const struct kind *kind)
{
	size_t i;

	map_kind(kind);
	fork_child();
	for (i = 0; i < nr_pages; i++)
		if (i % 11 == 3 || (i > 64 && i < 100))
			store_page(i, 1);
	end_child();
	for (i = 0; i < nr_pages; i += 97)
		store_page(i, 1);
	return true;
}

static void *wait_in_thread(void *arg)
{
	char c;

	return read(*(int *)arg, &c, 1) ? NULL : arg;
}

/* For a while of its own, so that the scanner comes; memory is not touched. */
static bool scanned(void)
{
	unsigned long start = 0, now = 0;
	time_t end = time(NULL) + 60;

	number_from("/proc/vmstat", "numa_pte_updates", &start);
	put("/proc/sys/kernel/numa_balancing", "1");
	while (now < start + nr_pages && time(NULL) < end) {
		volatile unsigned int spin = 1000000;

		while (--spin)
			;
		number_from("/proc/vmstat", "numa_pte_updates", &now);
	}
	put("/proc/sys/kernel/numa_balancing", "0");
	return now >= start + nr_pages;
}

/*
 * The scanner was at the program's own variables and stack too.  Faults there
 * come when and if they are used, and are nothing to be counted.
 */
static void touch_own_memory(void)
{
	uintptr_t start, end, p;
	char line[256], write;
	FILE *f = fopen("/proc/self/maps", "r");

	if (!f)
		die("maps");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx r%c", &start, &end, &write) != 3 || write != 'w' ||
		    (start < (uintptr_t)at(nr_pages) && end > (uintptr_t)mem))
			continue;
		for (p = start; p < end; p += page_size)
			*(volatile char *)p;
	}
	fclose(f);
}

static bool make_hinting(const struct kind *kind)
{
	static const char sched[] = "/sys/kernel/debug/sched/numa_balancing/";
	char path[128];
	pthread_t thread;
	int idle[2];
	bool ok;

	if (access("/proc/sys/kernel/numa_balancing", W_OK))
		return false;
	snprintf(path, sizeof(path), "%sscan_delay_ms", sched);
	if (!try_put(path, "1"))
		return false;
	snprintf(path, sizeof(path), "%sscan_period_min_ms", sched);
	put(path, "10");
	map_kind(kind);
	/* Of a single thread the scanner leaves alone what is near. */
	if (pipe(idle) || pthread_create(&thread, NULL, wait_in_thread, idle))
		die("a second thread");
	ok = scanned();
	close(idle[1]);
	pthread_join(thread, NULL);
	close(idle[0]);
	touch_own_memory();
	return ok;
}

static void map_file(int flags)
{
	size_t i, len = nr_pages * page_size;

	if (file < 0 || ftruncate(file, len))
		die("file");
	for (i = 0; i < nr_pages; i++) {
		holds[i] = pattern(i, 1);
		pwrite(file, &holds[i].w[0], 8, i * page_size);
		pwrite(file, &holds[i].w[1], 8, (i + 1) * page_size - 8);
	}
	/* What is dirty is so because of stores. */
	fsync(file);
	mem = mmap(ARENA, len, RW, flags | MAP_FIXED_NOREPLACE, file, 0);
	if (mem != ARENA)
		die("mmap");
	for (i = 0; i < nr_pages; i++) {
		struct words words;

		if (i % 4 == 1 || (i > 256 && i < 300))
			store_page(i, 1);
		else if (i % 4 != 3)
			load_words(at(i), &words);
	}
}

static bool make_shmem_shared(const struct kind *kind)
{
	file = memfd_create("mprotect", 0);
	map_file(MAP_SHARED);
	return true;
}

static bool make_shmem_private(const struct kind *kind)
{
	file = memfd_create("mprotect", 0);
	map_file(MAP_PRIVATE);
	return true;
}

/* ext2 wants to hear of the first store to a page. */
static bool make_file_shared(const struct kind *kind)
{
	if (!has_ext2)
		return false;
	file = open("/fs/file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	map_file(MAP_SHARED);
	return true;
}

static bool make_file_private(const struct kind *kind)
{
	if (!has_ext2)
		return false;
	file = open("/fs/file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	map_file(MAP_PRIVATE);
	return true;
}

static bool make_zero_page(const struct kind *kind)
{
	struct words words;
	size_t i;

	folio_sizes(&(unsigned long){ 0 }, 1);
	map_anonymous();
	memset(holds, 0, sizeof(holds));
	for (i = 0; i < nr_pages; i++)
		if (i % 6 == 5 || (i > 100 && i < 140))
			store_page(i, 1);
		else if (i % 6)
			load_words(at(i), &words);
	return true;
}

static bool merged(void)
{
	time_t end = time(NULL) + 60;
	unsigned long sharing = 0, shared = 0;
	struct timespec nap = { .tv_nsec = 50000000 };

	put("/sys/kernel/mm/ksm/pages_to_scan", "10000");
	put("/sys/kernel/mm/ksm/sleep_millisecs", "0");
	put("/sys/kernel/mm/ksm/max_page_sharing", "2000");
	put("/sys/kernel/mm/ksm/run", "1");
	while (sharing + shared < nr_pages / 2 && time(NULL) < end) {
		nanosleep(&nap, NULL);
		number_from("/sys/kernel/mm/ksm/pages_sharing", "", &sharing);
		number_from("/sys/kernel/mm/ksm/pages_shared", "", &shared);
	}
	put("/sys/kernel/mm/ksm/run", "0");
	return sharing + shared >= nr_pages / 2;
}

/* Every second page is like eight others. */
static bool make_ksm(const struct kind *kind)
{
	size_t i;

	if (access("/sys/kernel/mm/ksm/run", W_OK))
		return false;
	put("/sys/kernel/mm/ksm/run", "2");
	map_kind(kind);
	for (i = 0; i < nr_pages; i += 2) {
		holds[i] = pattern(i / 16, 9);
		store_words(at(i), &holds[i]);
	}
	advise(0, nr_pages, MADV_MERGEABLE);
	return merged();
}

/**
 * struct memory - a way to make it
 * @name: as printed
 * @make: does it
 * @kinds: bits of the kinds of folios it is made of
 * @reuse: stores find large folios that are theirs alone again; how much of
 *	them is then copied, and by how many faults, is the kernel's choice
 */
#define EVERY_KIND	0x3f
static const struct memory {
	const char *name;
	bool (*make)(const struct kind *kind);
	unsigned int kinds;
	enum reuse reuse;
} memories[] = {
	{ "plain", make_plain, EVERY_KIND, NO_REUSE },
	{ "holes", make_holes, EVERY_KIND, NO_REUSE },
	{ "moved", make_moved, EVERY_KIND, NO_REUSE },
	{ "vmas", make_vmas, EVERY_KIND, NO_REUSE },
	{ "pinned", make_pinned, EVERY_KIND, NO_REUSE },
	{ "swapped", make_swapped, EVERY_KIND, NO_REUSE },
	{ "swap-cache", make_swap_cache, EVERY_KIND, NO_REUSE },
	{ "uffd", make_uffd, EVERY_KIND, NO_REUSE },
	{ "uffd-async", make_uffd_async, EVERY_KIND, NO_REUSE },
	{ "soft-dirty", make_soft_dirty, EVERY_KIND, NO_REUSE },
	{ "freed", make_freed, EVERY_KIND, NO_REUSE },
	{ "shared", make_shared, EVERY_KIND, NO_REUSE },
	{ "left", make_left, EVERY_KIND, AFTER_STORES },
	{ "left-mixed", make_left_mixed, EVERY_KIND, FROM_THE_START },
	{ "hinting", make_hinting, 1 << 0 | 1 << 2 | 1 << 4, NO_REUSE },
	{ "ksm", make_ksm, 1 << 0 | 1 << 2, NO_REUSE },
	{ "zero-page", make_zero_page, 1 << 0, NO_REUSE },
	{ "shmem-shared", make_shmem_shared, 1 << 0, NO_REUSE },
	{ "shmem-private", make_shmem_private, 1 << 0, NO_REUSE },
	{ "file-shared", make_file_shared, 1 << 0, NO_REUSE },
	{ "file-private", make_file_private, 1 << 0, NO_REUSE },
};

/* ---- Steps ---- */

/* Part by part, where there are holes. */
static void protect(size_t from, size_t nr, int want)
{
	size_t i, end = from + nr < nr_pages ? from + nr : nr_pages;

	while (from < end) {
		for (i = from; i < end && prot[i] != UNMAPPED; i++)
			prot[i] = want;
		if (i > from && mprotect(at(from), (i - from) * page_size, want))
			bad("mprotect %zu+%zu: %s", from, i - from, strerror(errno));
		from = i + 1;
	}
}

static void step_read_only(void)
{
	protect(0, nr_pages, PROT_READ);
}

static void step_back(void)
{
	protect(0, nr_pages, PROT_READ);
	protect(0, nr_pages, RW);
}

static void step_none_back(void)
{
	protect(0, nr_pages, PROT_NONE);
	protect(0, nr_pages, RW);
}

static void step_parts(void)
{
	protect(0, nr_pages, PROT_READ);
	protect(1, 6, RW);
	protect(15, 2, RW);
	protect(16, 16, RW);
	protect(255, 345, RW);
	protect(1000, 200, PROT_NONE);
	protect(1023, 2, RW);
	protect(300, 17, PROT_NONE);
	protect(300, 9, PROT_READ);
}

static void step_walk(void)
{
	static const int wanted[] = { PROT_READ, RW, PROT_NONE, RW };
	int i;

	random_state = 12345;
	for (i = 0; i < 60; i++) {
		size_t from = rnd(nr_pages), nr = 1 + rnd(i % 2 ? 24 : nr_pages / 2);

		protect(from, nr, wanted[rnd(4)]);
	}
}

/* With a child for a while: what was exclusive no longer is. */
static void step_fork_back(void)
{
	protect(0, nr_pages, PROT_READ);
	if (!child) {
		fork_child();
		protect(64, 500, RW);
		end_child();
	}
	protect(0, nr_pages, RW);
	if (uffd >= 0) {
		uffd_protect(0, 40, true);
		protect(0, 100, PROT_READ);
		uffd_protect(20, 10, false);
		protect(0, 100, RW);
	}
}

static const struct steps {
	const char *name;
	void (*run)(void);
	enum reuse reuse;
} steps[] = {
	{ "read-only", step_read_only, NO_REUSE },
	{ "back", step_back, NO_REUSE },
	{ "none-back", step_none_back, NO_REUSE },
	{ "parts", step_parts, NO_REUSE },
	{ "walk", step_walk, NO_REUSE },
	{ "fork-back", step_fork_back, AFTER_STORES },
};

/* ---- What can be seen ---- */

struct line {
	char text[8192];
	size_t len;
};

static __printf(2, 3) void append(struct line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->len;
	va_list args;

	va_start(args, format);
	line->len += vsnprintf(line->text + line->len, room, format, args);
	va_end(args);
	if (line->len >= sizeof(line->text))
		die("a line is too long");
}

/* Runs of equal values; the first few, and a hash of all. */
static void append_runs(struct line *line, const char *field, const uint64_t *value)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	size_t i, n, runs = 0;

	append(line, " %s=", field);
	for (i = 0; i < nr_pages; i++)
		hash = (hash ^ value[i]) * 0x100000001b3ULL;
	for (i = 0; i < nr_pages; i += n) {
		for (n = 1; i + n < nr_pages && value[i + n] == value[i]; n++)
			;
		if (runs++ < 12)
			append(line, "%s%llx*%zu", i ? "," : "", (unsigned long long)value[i], n);
	}
	if (runs > 12)
		append(line, ",...%zu:%016llx", runs, (unsigned long long)hash);
}

static uint64_t entries[MAX_PAGES];

static void append_bit(struct line *line, const char *field, uint64_t bit)
{
	static uint64_t value[MAX_PAGES];
	size_t i;

	for (i = 0; i < nr_pages; i++)
		value[i] = !!(entries[i] & bit);
	append_runs(line, field, value);
}

static bool is_present(size_t i)
{
	return entries[i] & PM_PRESENT && entries[i] & PM_PFN;
}

/* How many pages of its folio are before and behind this one. */
static void append_folios(struct line *line)
{
	static uint64_t value[MAX_PAGES];
	size_t i;

	for (i = 0; i < nr_pages; i++) {
		uint64_t flags = is_present(i) ? page_flags(entries[i] & PM_PFN) : 0;

		value[i] = (flags >> KPF_HEAD & 1) | (flags >> KPF_TAIL & 1) << 1 |
			(flags >> KPF_THP & 1) << 2;
	}
	append_runs(line, "folios", value);
}

static void append_flags(struct line *line)
{
	static const int bits[] = { KPF_ANON, KPF_SWAPCACHE, KPF_KSM, KPF_ZERO };
	static uint64_t value[MAX_PAGES], backed[MAX_PAGES], mapped[MAX_PAGES];
	size_t i, j;

	for (i = 0; i < nr_pages; i++) {
		uint64_t flags = is_present(i) ? page_flags(entries[i] & PM_PFN) : 0;

		value[i] = 0;
		for (j = 0; j < ARRAY_SIZE(bits); j++)
			value[i] |= (flags >> bits[j] & 1) << j;
		backed[i] = flags >> KPF_SWAPBACKED & 1;
		/* The zero page and merged pages are everybody's. */
		mapped[i] = is_present(i) && !(value[i] & 0xc) ?
			page_mapcount(entries[i] & PM_PFN) : 0;
	}
	append_runs(line, "flags", value);
	append_runs(line, "swapbacked", backed);
	append_runs(line, "mapped", mapped);
}

static void append_smaps(struct line *line)
{
	static const char *const fields[] = {
		"Rss", "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty",
		"Referenced", "Anonymous", "LazyFree", "AnonHugePages", "Swap",
	};
	unsigned long sum[ARRAY_SIZE(fields)] = { 0 }, start, end, kb, vmas = 0;
	bool inside = false;
	char text[256], word[64];
	FILE *f = fopen("/proc/self/smaps", "r");
	size_t i;

	if (!f)
		die("smaps");
	while (fgets(text, sizeof(text), f)) {
		if (sscanf(text, "%lx-%lx ", &start, &end) == 2) {
			inside = start >= (uintptr_t)mem && end <= (uintptr_t)at(nr_pages);
			vmas += inside;
		} else if (inside && sscanf(text, "%63[^:]: %lu", word, &kb) == 2) {
			for (i = 0; i < ARRAY_SIZE(fields); i++)
				if (!strcmp(word, fields[i]))
					sum[i] += kb;
		}
	}
	fclose(f);
	append(line, " vmas=%lu", vmas);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		append(line, " %s=%lu", fields[i], sum[i]);
}

static void append_contents(struct line *line)
{
	static uint64_t value[MAX_PAGES];
	struct words words;
	size_t i;

	for (i = 0; i < nr_pages; i++) {
		value[i] = 0xdead;
		if (prot[i] <= PROT_NONE)
			continue;
		load_words(at(i), &words);
		/* The round it was written in, if all else is right. */
		value[i] = words.w[0] == ~words.w[1] && (uint32_t)words.w[0] == i ?
			words.w[0] >> 32 : words.w[0] ^ words.w[1];
	}
	append_runs(line, "contents", value);
}

/*
 * @signals is what each access of this moment gave, NULL if there was none.
 * Moments that depend on how far folios are reused are marked.
 */
static void show(enum when when, const uint64_t *signals, unsigned long faults,
		 enum reuse reuse)
{
	bool choice = reuse == FROM_THE_START || (reuse == AFTER_STORES && when >= SOME);
	static struct line line;

	line.len = 0;
	append(&line, "S %s %s", name, moments[when]);
	if (choice)
		append(&line, " choice=1");
	pagemap(getpid(), mem, nr_pages, entries);
	append_bit(&line, "present", PM_PRESENT);
	append_bit(&line, "swap", PM_SWAP);
	append_bit(&line, "file", PM_FILE);
	append_bit(&line, "soft-dirty", PM_SOFT_DIRTY);
	append_bit(&line, "exclusive", PM_EXCLUSIVE);
	append_bit(&line, "uffd-wp", PM_UFFD_WP);
	append_flags(&line);
	append_folios(&line);
	append_smaps(&line);
	if (signals) {
		append_runs(&line, "signals", signals);
		append(&line, " faults=%lu", faults);
		append_contents(&line);
	}
	puts(line.text);
}

/* ---- Accesses ---- */

static uint64_t signals[MAX_PAGES];

static unsigned long minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static bool is_zero(const struct words *words)
{
	return !words->w[0] && !words->w[1];
}

static void read_page(size_t i)
{
	struct words words;
	bool allowed = prot[i] > PROT_NONE;

	signals[i] = load_words(at(i), &words) ? 0 : fault_signal;
	if (!signals[i] != allowed)
		bad("page %zu: a load was %s", i, allowed ? "refused" : "allowed");
	else if (allowed && memcmp(&words, &holds[i], sizeof(words)) &&
		 !(may_be_zero && is_zero(&words)))
		bad("page %zu: read %llx:%llx", i, (unsigned long long)words.w[0],
		    (unsigned long long)words.w[1]);
	if (allowed && may_be_zero)
		holds[i] = words;
}

static void write_page(size_t i, uint64_t round)
{
	struct words words = pattern(i, round);
	bool allowed = prot[i] == RW;

	signals[i] = store_words(at(i), &words) ? 0 : fault_signal;
	if (!signals[i])
		holds[i] = words;
	if (!signals[i] != allowed && !(allowed && may_refuse && signals[i] == SIGBUS))
		bad("page %zu: a store was %s", i, allowed ? "refused" : "allowed");
}

static void access_pages(enum when when, enum reuse reuse)
{
	unsigned long before = minor_faults();
	size_t i;

	memset(signals, 0xff, sizeof(signals));
	for (i = 0; i < nr_pages; i++) {
		if (when == READ)
			read_page(i);
		else if (when == ALL || i % 5 == 2)
			write_page(i, when);
	}
	show(when, signals, minor_faults() - before, reuse);
}

/* ---- A case ---- */

static void clean_up(void)
{
	end_child();
	if (ring.fd >= 0)
		ring_close(&ring);
	if (uffd >= 0)
		close(uffd);
	if (file >= 0)
		close(file);
	uffd = -1;
	file = -1;
	munmap(ARENA, 2 * MAX_PAGES * page_size);
	munmap(ELSEWHERE, 2 * MAX_PAGES * page_size);
	may_be_zero = false;
	may_refuse = false;
}

static void run_case(const struct kind *kind, const struct memory *memory,
		     const struct steps *step)
{
	enum reuse reuse = memory->reuse ?: step->reuse;
	unsigned int before = failed;
	size_t i;

	snprintf(name, sizeof(name), "%s/%s/%s", kind->name, memory->name, step->name);
	if (!strstr(name, getenv("CASES") ?: ""))
		return;
	for (i = 0; i < nr_pages; i++)
		prot[i] = RW;
	if (!memory->make(kind)) {
		printf("SKIP mprotect/%s: this kernel has it not\n", name);
		clean_up();
		return;
	}
	cases++;
	step->run();
	show(AFTER, NULL, 0, reuse);
	access_pages(READ, reuse);
	access_pages(SOME, reuse);
	access_pages(ALL, reuse);
	if (failed == before)
		printf("PASS mprotect/%s\n", name);
	clean_up();
}

/* An image that the initramfs brings, onto the second ram disk. */
static bool copy_image(void)
{
	static char block[65536];
	int from = open("/ext2", O_RDONLY), to = open("/dev/ram1", O_WRONLY);
	ssize_t n = from < 0 || to < 0 ? -1 : 1;

	while (n > 0) {
		n = read(from, block, sizeof(block));
		if (n > 0 && write(to, block, n) != n)
			n = -1;
	}
	close(from);
	close(to);
	return !n;
}

/* A file system that wants to know which pages become dirty. */
static void make_file_system(void)
{
	mkdir("/fs", 0755);
	has_ext2 = copy_image() && !mount("/dev/ram1", "/fs", "ext2", 0, NULL);
	if (!has_ext2)
		printf("mprotect: no ext2 on /dev/ram1\n");
}

int main(void)
{
	size_t m, k, s;

	common_init();
	catch_faults();
	nr_pages = 5 * pmd_size / page_size / 2;
	if (nr_pages > MAX_PAGES)
		nr_pages = MAX_PAGES;
	try_put("/proc/sys/vm/page-cluster", "0");
	try_put("/proc/sys/kernel/numa_balancing", "0");
	make_file_system();
	/* Faults on memory of our own are not to be counted. */
	folio_sizes(&(unsigned long){ 0 }, 1);
	if (mlockall(MCL_CURRENT))
		die("mlockall");
	for (m = 0; m < ARRAY_SIZE(memories); m++)
		for (k = 0; k < ARRAY_SIZE(kinds); k++)
			for (s = 0; s < ARRAY_SIZE(steps); s++)
				if (memories[m].kinds & 1 << k)
					run_case(&kinds[k], &memories[m], &steps[s]);
	folio_sizes_restore();
	printf("mprotect: %u cases, %u complaints\n", cases, failed);
	return failed != 0;
}
