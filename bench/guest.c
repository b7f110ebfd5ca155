// SPDX-License-Identifier: GPL-2.0
/*
 * /init of the benchmark guest.  "bench=measure" or "bench=check" on the
 * kernel command line says which half to run; the machine is reset after it,
 * which ends QEMU.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#define KPF_HEAD	(1ULL << 15)
#define KPF_TAIL	(1ULL << 16)

const struct kind kinds[NR_KINDS] = {
	[K_4K]		= { "4K", PAGE, false },
	[K_64K]		= { "64K", 16 * PAGE, false },
	[K_1M]		= { "1M", 256 * PAGE, false },
	[K_2M_PTE]	= { "2M-pte", PMD, false },
	[K_2M_PMD]	= { "2M-pmd", PMD, true },
};

static void power_off(void)
{
	fflush(stdout);
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

void die(const char *what)
{
	printf("GUEST FAILED: %s: %s\n", what, strerror(errno));
	power_off();
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
		die(path);
}

/* Let the page allocator hand out folios of one size only. */
static void only_folios_of(size_t size)
{
	char path[sizeof(THP) + sizeof(((struct dirent *)0)->d_name) + 16];
	DIR *dir = opendir(THP);
	struct dirent *d;
	unsigned long kb;

	if (!dir)
		die(THP);
	while ((d = readdir(dir))) {
		if (sscanf(d->d_name, "hugepages-%lukB", &kb) != 1)
			continue;
		snprintf(path, sizeof(path), THP "%s/enabled", d->d_name);
		/* Large orders of shmem only have another file. */
		if (!access(path, F_OK))
			put(path, kb * 1024 == size ? "always" : "never");
	}
	closedir(dir);
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

	for (off = 0; off < size; off += PMD) {
		if (mprotect(p + off, PAGE, PROT_READ) ||
		    mprotect(p + off, PAGE, PROT_READ | PROT_WRITE))
			die("mprotect");
	}
}

char *map_kind(const struct kind *k, char *where, size_t size)
{
	char *p;
	size_t i;

	only_folios_of(k->folio);
	p = map_at(where, size);
	for (i = 0; i < size / PAGE; i++) {
		*word(p, i) = i;
		*stamp(p, i) = stamp_of(i);
	}
	/* khugepaged must not map by a PMD again what is split here. */
	if (madvise(p, size, MADV_NOHUGEPAGE))
		die("madvise");
	if (k->folio == PMD && !k->pmd)
		split_pmds(p, size);
	return p;
}

void pagemap(const char *p, size_t size, uint64_t *entry)
{
	size_t len = size / PAGE * sizeof(*entry);
	int fd = open("/proc/self/pagemap", O_RDONLY);

	if (fd < 0 ||
	    pread(fd, entry, len, (uintptr_t)p / PAGE * sizeof(*entry)) != (ssize_t)len)
		die("pagemap");
	close(fd);
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
	static uint64_t flags[513];
	size_t i, len = (n + 1) * sizeof(*flags);

	if (pread(fd, flags, len, pfn * sizeof(*flags)) < (ssize_t)(n * sizeof(*flags)))
		return false;
	if (n == 1)
		return !(flags[0] & (KPF_HEAD | KPF_TAIL));
	if (!(flags[0] & KPF_HEAD))
		return false;
	for (i = 1; i < n; i++)
		if (!(flags[i] & KPF_TAIL))
			return false;
	return !(flags[n] & KPF_TAIL);
}

/*
 * How many folios of @p are as @k says: right size, naturally aligned,
 * physically contiguous, and mapped by what they should be mapped by.
 */
size_t folios_as_asked(const struct kind *k, char *p, size_t size)
{
	size_t n = k->folio / PAGE, i, j, good = 0;
	uint64_t *entry = malloc(size / PAGE * sizeof(*entry));
	int fd = open("/proc/kpageflags", O_RDONLY);

	if (fd < 0 || !entry)
		die("kpageflags");
	pagemap(p, size, entry);
	for (i = 0; i < size / PAGE; i += n) {
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

static void mount_all(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL))
		die("mount");
}

static int run(const char *mode)
{
	if (mode && !strcmp(mode, "measure"))
		return measure();
	if (mode && !strncmp(mode, "check", 5))
		return correctness(!strcmp(mode, "check-batched"));
	puts("bench= must be measure, check or check-batched");
	return 2;
}

/*
 * The work is done by a child: the kernel logs each fault of process 1, and
 * stops when that one is gone.
 */
int main(int argc, char **argv)
{
	int status = 0;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	mount_all();
	put(THP "enabled", "always");
	pid = fork();
	if (!pid) {
		status = run(getenv("bench"));
		fflush(stdout);
		_exit(status);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		die("the program was killed");
	printf("GUEST DONE: %d\n", WEXITSTATUS(status));
	power_off();
}
