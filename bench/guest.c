// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a known folio geometry, and being process 1: the guest is reset
 * when the work is done, which ends QEMU.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define THP		"/sys/kernel/mm/transparent_hugepage/"

bool in_guest;

struct kind kinds[NR_KINDS] = {
	[K_64K]		= { "64K", 64UL << 10, false },
	[K_1M]		= { "1M", MIB, false },
};

/* 65536 and "iB": "64KiB".  The caller keeps it for good. */
const char *size_name(size_t size, const char *unit)
{
	bool mib = size >= MIB && size % MIB == 0;
	char *name;

	if (asprintf(&name, "%zu%s%s", mib ? size / MIB : size >> 10, mib ? "M" : "K", unit) < 0)
		die("asprintf");
	return name;
}

/* What depends on the size of a page and of a PMD. */
static void find_kinds(void)
{
	const char *name = size_name(pmd_size, "-pte");

	kinds[K_4K] = (struct kind) { size_name(page_size, ""), page_size, false };
	kinds[K_2M_PTE] = (struct kind) { name, pmd_size, false };
	kinds[K_2M_PMD] = (struct kind) { size_name(pmd_size, "-pmd"), pmd_size, true };
}

bool folio_size_offered(size_t size)
{
	char path[sizeof(THP) + 64];

	if (size == page_size)
		return true;
	snprintf(path, sizeof(path), THP "hugepages-%zukB/enabled", size >> 10);
	/* Large orders of shmem only have another file. */
	return !access(path, F_OK);
}

/* No kind comes twice: where pages are 64K, that is the first one. */
bool kind_offered(const struct kind *k)
{
	return (k == &kinds[K_4K] || k->folio > page_size) && folio_size_offered(k->folio);
}

char *map_at(char *where, size_t size)
{
	char *p = mmap(where, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != where)
		die("mmap");
	return p;
}

/* A protection that differs inside a huge page forces page table entries. */
static void split_pmds(char *p, size_t size)
{
	size_t off;

	for (off = 0; off < size; off += pmd_size) {
		if (mprotect(p + off, page_size, PROT_READ) ||
		    mprotect(p + off, page_size, PROT_READ | PROT_WRITE))
			die("mprotect");
	}
}

char *map_kind(const struct kind *k, char *where, size_t size)
{
	unsigned long kb = k->folio >> 10;
	char *p;
	size_t i;

	/* Let the page allocator hand out folios of one size only. */
	folio_sizes(&kb, 1);
	p = map_at(where, size);
	for (i = 0; i < size / page_size; i++) {
		*word(p, i) = i;
		*stamp(p, i) = stamp_of(i);
	}
	/* khugepaged must not map by a PMD again what is split here. */
	if (madvise(p, size, MADV_NOHUGEPAGE))
		die("madvise");
	if (k->folio == pmd_size && !k->pmd)
		split_pmds(p, size);
	return p;
}

/* Kilobytes of [p, p + size) that are mapped by PMDs. */
static size_t pmd_mapped_kb(char *p, size_t size)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long start, end, kb, sum = 0;
	bool inside = false;
	char line[256];

	if (!f)
		die("smaps");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start < (uintptr_t)p + size && end > (uintptr_t)p;
		else if (inside && sscanf(line, "AnonHugePages: %lu kB", &kb) == 1)
			sum += kb;
	}
	fclose(f);
	return sum;
}

/* Does a folio of exactly @n pages start at @pfn? */
static bool folio_is(int fd, uint64_t pfn, size_t n)
{
	const uint64_t head = 1ULL << KPF_HEAD, tail = 1ULL << KPF_TAIL;
	size_t i, len = (n + 1) * sizeof(uint64_t);
	static uint64_t *flags;

	if (!flags)
		flags = malloc((pmd_size / page_size + 1) * sizeof(*flags));
	if (pread(fd, flags, len, pfn * sizeof(*flags)) < (ssize_t)(n * sizeof(*flags)))
		return false;
	if (n == 1)
		return !(flags[0] & (head | tail));
	if (!(flags[0] & head))
		return false;
	for (i = 1; i < n; i++)
		if (!(flags[i] & tail))
			return false;
	return !(flags[n] & tail);
}

/*
 * How many folios of @p are as @k says: right size, naturally aligned,
 * physically contiguous, and mapped by what they should be mapped by.
 */
size_t folios_as_asked(const struct kind *k, char *p, size_t size)
{
	size_t n = k->folio / page_size, nr = size / page_size, i, j, good = 0;
	uint64_t *entry = malloc(nr * sizeof(*entry));
	int fd = open("/proc/kpageflags", O_RDONLY);

	if (fd < 0 || !entry)
		die("kpageflags");
	pagemap(getpid(), p, nr, entry);
	for (i = 0; i < nr; i += n) {
		uint64_t pfn = entry[i] & PM_PFN;

		for (j = 0; j < n; j++)
			if (!(entry[i + j] & PM_PRESENT) ||
			    (entry[i + j] & PM_PFN) != pfn + j)
				break;
		good += j == n && folio_is(fd, pfn, n);
	}
	close(fd);
	free(entry);
	return pmd_mapped_kb(p, size) == (k->pmd ? size / 1024 : 0) ? good : 0;
}

uint64_t minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static void power_off(void)
{
	fflush(stdout);
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void mount_all(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL)) {
		perror("mount");
		power_off();
	}
}

static void prepare(void)
{
	if (page_size)
		return;
	common_init();
	find_kinds();
}

/* In a child; @status as of waitpid(), true if it is what the work returned. */
static bool worked(int (*work)(void), int *status)
{
	pid_t pid = fork();

	if (!pid) {
		signal(SIGINT, SIG_DFL);
		prepare();
		*status = work();
		fflush(stdout);
		_exit(*status);
	}
	return waitpid(pid, status, 0) == pid && WIFEXITED(*status) && WEXITSTATUS(*status) <= 2;
}

/* Whatever becomes of the work, the machine gets its settings back. */
static int on_a_machine(int (*work)(void))
{
	int status;

	prepare();
	signal(SIGINT, SIG_IGN);
	if (!worked(work, &status))
		status = -1;
	folio_sizes_restore();
	return status != 0;
}

/*
 * The kernel logs each fault of process 1, and stops when that one is gone:
 * there, too, the work is done by a child.
 */
int guest_main(int (*work)(void))
{
	int status = 0;

	if (getpid() != 1)
		return on_a_machine(work);
	in_guest = true;
	setvbuf(stdout, NULL, _IOLBF, 0);
	mount_all();
	if (worked(work, &status))
		printf("GUEST DONE: %d\n", WEXITSTATUS(status));
	else
		printf("GUEST FAILED: the program gave up\n");
	power_off();
	return status;
}
