// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle of the mprotect differential test: mm/mprotect.c as it was before
 * any patch.  scripts/mprotect-oracle puts its text into the build directory;
 * it is kept nowhere else, so a kernel can be built without it.
 */
#define MPROTECT_NAME(name) oracle_##name
#include "mprotect_rename.h"

/* Batches by folio, where the pristine text has them: each of one entry. */
#define folio_pte_batch_flags(...)	mprotect_one_entry(__VA_ARGS__)

static __maybe_unused unsigned int
mprotect_one_entry(struct folio *folio, struct vm_area_struct *vma, pte_t *ptep,
		   pte_t *ptentp, unsigned int max_nr, fpb_t flags)
{
	return 1;
}

#ifdef PTEBATCH_MPROTECT_ORACLE
const bool mprotect_have_oracle = true;
#include "mprotect_pristine.c.inc"
#else
const bool mprotect_have_oracle;

/* change_protection() is a macro here: the oracle's name. */
long change_protection(struct mmu_gather *tlb, struct vm_area_struct *vma,
		       unsigned long start, unsigned long end,
		       unsigned long cp_flags)
{
	return -ENOENT;
}
#endif
