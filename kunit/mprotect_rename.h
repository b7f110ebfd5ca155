/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included once per object, right before the text of an mm/mprotect.c: lets
 * that text be compiled beside the kernel's own copy.  The includer defines
 * MPROTECT_NAME(name), the new name of a global function.
 *
 * The new names come before the headers, which declare them then; all else
 * comes after the headers, so that only the text itself sees it.
 */
#define can_change_pte_writable	MPROTECT_NAME(can_change_pte_writable)
#define change_protection	MPROTECT_NAME(change_protection)
#define mprotect_fixup		MPROTECT_NAME(mprotect_fixup)

#include <linux/highmem.h>
#include <linux/hugetlb.h>
#include <linux/ksm.h>
#include <linux/memory-tiers.h>
#include <linux/mempolicy.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagewalk.h>
#include <linux/sched/sysctl.h>
#include <linux/syscalls.h>
#include <linux/topology.h>
#include <linux/userfaultfd_k.h>
#include <asm/tlb.h>
#include "../../internal.h"
#include "mprotect_oracle.h"

/* The system calls stay functions, but nobody can reach them. */
#undef SYSCALL_DEFINE1
#undef SYSCALL_DEFINE2
#undef SYSCALL_DEFINE3
#undef SYSCALL_DEFINE4
#define SYSCALL_DEFINE1(name, t1, a1) \
	static long __maybe_unused mprotect_sys_##name(t1 a1)
#define SYSCALL_DEFINE2(name, t1, a1, t2, a2) \
	static long __maybe_unused mprotect_sys_##name(t1 a1, t2 a2)
#define SYSCALL_DEFINE3(name, t1, a1, t2, a2, t3, a3) \
	static long __maybe_unused mprotect_sys_##name(t1 a1, t2 a2, t3 a3)
#define SYSCALL_DEFINE4(name, t1, a1, t2, a2, t3, a3, t4, a4) \
	static long __maybe_unused mprotect_sys_##name(t1 a1, t2 a2, t3 a3, \
						       t4 a4)

/*
 * NUMA hinting works the same way on a machine with one node, or in a kernel
 * without NUMA, once these questions have answers.
 */
#ifndef CONFIG_NUMA_BALANCING
#define CONFIG_NUMA_BALANCING 1
#endif
#undef sysctl_numa_balancing_mode
#undef numa_node_id
#define sysctl_numa_balancing_mode	mprotect_numa_mode()
#define numa_node_id()			mprotect_numa_node()
#define folio_nid(folio)		mprotect_numa_nid(folio)
#define node_is_toptier(nid)		mprotect_numa_toptier(nid)
#define folio_use_access_time(folio)	mprotect_numa_timed(folio)
#define folio_xchg_access_time(folio, time) mprotect_numa_stamp(folio, time)

/* The same questions, where they have become a function. */
#define folio_can_map_prot_numa(folio, vma, alone) \
	mprotect_numa_may(folio, vma, alone)
