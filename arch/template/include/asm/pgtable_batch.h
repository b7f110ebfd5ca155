/* SPDX-License-Identifier: GPL-2.0 */
/*
 * template: what may be done better than the single-PTE loop. Copy this file,
 * rename it and its guard, and say here why this architecture may do better,
 * with the section of its manual. With nothing overridden it compiles and the
 * suite passes: the fallbacks are right everywhere.
 *
 * An override is a function with a name of its own,
 *
 *	static inline void foo_wrprotect_ptes(struct mm_struct *mm, ...)
 *	{
 *		...
 *	}
 *
 *	#define wrprotect_ptes foo_wrprotect_ptes
 *
 * and the define that maps the public name to it. Its signature is compared
 * with the contract in <linux/pgtable_batch.h> when the kernel is built, its
 * result with the single-PTE loop when the suite is run.
 *
 * The file is included before the generic single-PTE helpers are defined:
 * declare those that are used. Entries are read by ptep_get() only, stepped by
 * pte_advance_pfn() only, and @nr may be anything from one to a page table.
 */

/* For a user of this header alone; on the way from there it does nothing. */
#include <linux/pgtable.h>

#ifndef _ASM_TEMPLATE_PGTABLE_BATCH_H
#define _ASM_TEMPLATE_PGTABLE_BATCH_H

#if !defined(__ASSEMBLY__) && !defined(PTE_BATCH_FORCE_GENERIC)

#include <linux/pgtable_batch_types.h>

#endif /* !__ASSEMBLY__ && !PTE_BATCH_FORCE_GENERIC */
#endif /* _ASM_TEMPLATE_PGTABLE_BATCH_H */
