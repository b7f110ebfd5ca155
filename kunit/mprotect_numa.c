// SPDX-License-Identifier: GPL-2.0
/*
 * What the two test copies of mm/mprotect.c are told about NUMA: the truth, or
 * what the running test case makes up.
 */
#include <linux/hash.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/sched/sysctl.h>
#include <linux/topology.h>
#include "../../internal.h"
#include "mprotect_oracle.h"

struct mprotect_numa mprotect_numa;

int mprotect_numa_mode(void)
{
	return mprotect_numa.fake ? mprotect_numa.mode :
				    sysctl_numa_balancing_mode;
}

int mprotect_numa_node(void)
{
	return mprotect_numa.fake ? mprotect_numa.this_node : numa_node_id();
}

int mprotect_numa_nid(const struct folio *folio)
{
	if (!mprotect_numa.fake)
		return folio_nid(folio);
	return hash_long(folio_pfn((struct folio *)folio) ^ mprotect_numa.salt,
			 2);
}

bool mprotect_numa_toptier(int nid)
{
	return mprotect_numa.fake ? !(nid & 1) : node_is_toptier(nid);
}

bool mprotect_numa_timed(struct folio *folio)
{
	if (!mprotect_numa.fake)
		return folio_use_access_time(folio);
	return (mprotect_numa.mode & NUMA_BALANCING_MEMORY_TIERING) &&
	       !mprotect_numa_toptier(mprotect_numa_nid(folio));
}

/*
 * Stamping a folio again right after itself changes nothing in the kernel
 * (same jiffies), so a batch may stamp once: only a change of folio counts.
 */
int mprotect_numa_stamp(struct folio *folio, int time)
{
	if (!mprotect_numa.fake)
		return folio_xchg_access_time(folio, time);
	if (folio != mprotect_numa.last) {
		mprotect_numa.last = folio;
		mprotect_numa.stamped = hash_long(mprotect_numa.stamped ^
						  folio_pfn(folio),
						  BITS_PER_LONG);
	}
	return 0;
}

#ifdef HAVE_vma_flags_t
/* Made up: a folio stays at home, and in fast memory if only tiers are minded. */
bool mprotect_numa_may(struct folio *folio, struct vm_area_struct *vma,
		       bool alone)
{
	bool home, fast;

	if (!mprotect_numa.fake || !folio)
		return folio_can_map_prot_numa(folio, vma, alone);
	home = mprotect_numa_nid(folio) == mprotect_numa.this_node;
	fast = mprotect_numa_toptier(mprotect_numa_nid(folio));
	if ((home && alone) ||
	    (fast && !(mprotect_numa.mode & NUMA_BALANCING_NORMAL)))
		return false;
	if (mprotect_numa_timed(folio))
		mprotect_numa_stamp(folio, 0);
	return true;
}
#endif
