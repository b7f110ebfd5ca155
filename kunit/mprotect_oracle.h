/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two more copies of mm/mprotect.c for the differential test: the text of the
 * pristine tree (the oracle) and the text of this tree (the subject), each
 * under its own names, and the NUMA decisions of both under the test's
 * control.
 */
#ifndef _PTEBATCH_MPROTECT_ORACLE_H
#define _PTEBATCH_MPROTECT_ORACLE_H

#include <linux/mm.h>

struct mmu_gather;

/**
 * struct mprotect_numa - what the two copies believe about NUMA
 * @fake: the members below count, not the machine
 * @mode: stands in for sysctl_numa_balancing_mode
 * @this_node: stands in for numa_node_id()
 * @salt: decides on which of four nodes a folio lives
 * @last: folio whose access time was stamped last
 * @stamped: digest of the sequence of folios that were stamped
 */
struct mprotect_numa {
	bool fake;
	int mode;
	int this_node;
	unsigned long salt;
	struct folio *last;
	unsigned long stamped;
};

extern struct mprotect_numa mprotect_numa;

int mprotect_numa_mode(void);
int mprotect_numa_node(void);
int mprotect_numa_nid(const struct folio *folio);
bool mprotect_numa_toptier(int nid);
bool mprotect_numa_timed(struct folio *folio);
int mprotect_numa_stamp(struct folio *folio, int time);
bool mprotect_numa_may(struct folio *folio, struct vm_area_struct *vma,
		       bool alone);

/* Whether the pristine text was there when this kernel was built. */
extern const bool mprotect_have_oracle;

long oracle_change_protection(struct mmu_gather *tlb,
			      struct vm_area_struct *vma, unsigned long start,
			      unsigned long end, unsigned long cp_flags);
long subject_change_protection(struct mmu_gather *tlb,
			       struct vm_area_struct *vma, unsigned long start,
			       unsigned long end, unsigned long cp_flags);

#endif /* _PTEBATCH_MPROTECT_ORACLE_H */
