/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of the contract's names the tree brings itself.
 *
 * A static inline function cannot be seen by the preprocessor, so the names
 * found in the tree are listed here, and the fallbacks in
 * <asm-generic/pgtable_batch.h> step back for each. The list is written anew
 * from a look at the tree whenever the series is generated; never from a
 * version number, because vendor trees make those lie.
 */
#ifndef _LINUX_PGTABLE_BATCH_COMPAT_H
#define _LINUX_PGTABLE_BATCH_COMPAT_H

/* present in this tree: begin */
#ifndef pte_batch_hint
#define pte_batch_hint pte_batch_hint
#endif
#ifndef pte_advance_pfn
#define pte_advance_pfn pte_advance_pfn
#endif
#ifndef set_ptes
#define set_ptes set_ptes
#endif
#ifndef wrprotect_ptes
#define wrprotect_ptes wrprotect_ptes
#endif
#ifndef clear_young_dirty_ptes
#define clear_young_dirty_ptes clear_young_dirty_ptes
#endif
#ifndef get_and_clear_full_ptes
#define get_and_clear_full_ptes get_and_clear_full_ptes
#endif
#ifndef clear_full_ptes
#define clear_full_ptes clear_full_ptes
#endif
#ifndef swap_pte_batch
#define swap_pte_batch swap_pte_batch
#endif
/* present in this tree: end */

#endif /* _LINUX_PGTABLE_BATCH_COMPAT_H */
