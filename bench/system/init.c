// SPDX-License-Identifier: GPL-2.0
/*
 * Process 1 of the guests of `make check-system`: prepares the machine, runs
 * the commands of /list one after the other, says how each ended, and resets
 * the machine, which ends QEMU.
 *
 * A line of /list: name, seconds it may take, program, arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#define MAX_ARGS	16
/* Of the words of a line. */
#define SPACE		"\n "

static void power_off(void)
{
	fflush(stdout);
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void mount_on(const char *where, const char *type, const char *options)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, options))
		printf("INIT: no %s\n", type);
}

static void device(const char *name, unsigned int major, unsigned int minor, mode_t type)
{
	if (mknod(name, type | 0666, makedev(major, minor)) && errno != EEXIST)
		printf("INIT: no %s\n", name);
}

/* swapon() wants a signature: version 1, last page, at fixed offsets. */
static void swap_on_ram_disk(void)
{
	long size = sysconf(_SC_PAGESIZE);
	char *head = calloc(1, size);
	int fd = open("/dev/ram0", O_RDWR);
	uint64_t bytes = 0;
	uint32_t info[2] = { 1 };

	if (ioctl(fd, BLKGETSIZE64, &bytes))
		printf("INIT: no ram disk\n");
	info[1] = bytes / size - 1;

	memcpy(head + 1024, info, sizeof(info));
	memcpy(head + size - 10, "SWAPSPACE2", 10);
	if (fd < 0 || write(fd, head, size) != size || fsync(fd) || swapon("/dev/ram0", 0))
		printf("INIT: no swap: %s\n", strerror(errno));
	close(fd);
	free(head);
}

static void prepare(void)
{
	mount_on("/proc", "proc", NULL);
	mount_on("/sys", "sysfs", NULL);
	mount_on("/sys/kernel/debug", "debugfs", NULL);
	mount_on("/tmp", "tmpfs", "size=256m");
	mount_on("/dev/shm", "tmpfs", "size=256m");
	mount_on("/dev/hugepages", "hugetlbfs", NULL);
	device("/dev/null", 1, 3, S_IFCHR);
	device("/dev/zero", 1, 5, S_IFCHR);
	device("/dev/random", 1, 8, S_IFCHR);
	device("/dev/urandom", 1, 9, S_IFCHR);
	device("/dev/ram0", 1, 0, S_IFBLK);
	device("/dev/ram1", 1, 1, S_IFBLK);
	swap_on_ram_disk();
	common_init();
	chdir("/tmp");
}

static int wait_for(pid_t pid, int seconds)
{
	time_t end = time(NULL) + seconds;
	struct timespec nap = { .tv_nsec = 20000000 };
	int status;

	for (;;) {
		pid_t gone = waitpid(-1, &status, WNOHANG);

		if (gone == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (gone <= 0)
			nanosleep(&nap, NULL);
		if (time(NULL) >= end)
			return -1;
	}
}

/* Everything but us: what a test left behind is not the next one's. */
static void run(const char *name, int seconds, char **argv)
{
	pid_t pid;
	int status;

	printf("RUN %s\n", name);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setsid();
		execv(argv[0], argv);
		_exit(127);
	}
	status = wait_for(pid, seconds);
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	if (status < 0)
		printf("\nEXIT %s timeout\n", name);
	else
		printf("\nEXIT %s %d\n", name, status);
}

int main(void)
{
	char line[512], *argv[MAX_ARGS + 1];
	FILE *list;

	setvbuf(stdout, NULL, _IOLBF, 0);
	prepare();
	list = fopen("/list", "r");
	while (list && fgets(line, sizeof(line), list)) {
		int n = 0;
		char *word;

		for (word = strtok(line, SPACE); word && n < MAX_ARGS; word = strtok(NULL, SPACE))
			argv[n++] = word;
		argv[n] = NULL;
		if (n >= 3)
			run(argv[0], atoi(argv[1]), argv + 2);
	}
	printf("GUEST DONE\n");
	power_off();
}
