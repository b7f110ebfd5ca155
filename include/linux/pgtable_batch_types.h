/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_PGTABLE_BATCH_TYPES_H
#define _LINUX_PGTABLE_BATCH_TYPES_H

#include <linux/bits.h>
#include <linux/types.h>

/**
 * typedef modprot_t - what modify_prot_ptes() does besides the new protection
 *
 * The flags state what holds for the whole range. What an entry's own bits
 * decide is still decided entry by entry.
 */
typedef int __bitwise modprot_t;

/* Nothing but pte_modify(). */
#define MODPROT_NONE		((__force modprot_t)0)
/* Set the uffd-wp bit. */
#define MODPROT_UFFD_WP		((__force modprot_t)BIT(0))
/* Clear the uffd-wp bit; MODPROT_UFFD_WP wins if both are given. */
#define MODPROT_UFFD_WP_RESOLVE	((__force modprot_t)BIT(1))
/* Set the accessed bit. */
#define MODPROT_MKYOUNG		((__force modprot_t)BIT(2))
/* The pages may be written: make writable what its own bits do not refuse. */
#define MODPROT_MKWRITE		((__force modprot_t)BIT(3))
/* Likewise, but only entries that are dirty (shared mappings). */
#define MODPROT_MKWRITE_DIRTY	((__force modprot_t)BIT(4))
/* Writes are tracked: an entry that is not soft-dirty refuses to be writable. */
#define MODPROT_SOFT_DIRTY_WP	((__force modprot_t)BIT(5))
/* Writes are watched: an entry with uffd-wp refuses to be writable. */
#define MODPROT_KEEP_UFFD_WP	((__force modprot_t)BIT(6))
/* The uffd-wp bit stops reads as well: what has it stays PROT_NONE. */
#ifdef CONFIG_USERFAULTFD_RWP
#define MODPROT_UFFD_RWP	((__force modprot_t)BIT(7))
#else
#define MODPROT_UFFD_RWP	MODPROT_NONE
#endif

/**
 * typedef saf_t - which rights set_access_flags_ptes() adds to each entry
 */
typedef int __bitwise saf_t;

#define SAF_YOUNG		((__force saf_t)BIT(0))
#define SAF_DIRTY		((__force saf_t)BIT(1))
#define SAF_WRITE		((__force saf_t)BIT(2))

#endif /* _LINUX_PGTABLE_BATCH_TYPES_H */
