/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86, 64-bit: the layout that the host model shares with the kernel.
 *
 * No include guard: whoever includes this says what LAYOUT() is. The model
 * makes constants of it, scripts/headers/layout.c compares it with the tree.
 */
LAYOUT(_PAGE_PRESENT,		1UL << 0);
LAYOUT(_PAGE_RW,		1UL << 1);
LAYOUT(_PAGE_USER,		1UL << 2);
LAYOUT(_PAGE_PWT,		1UL << 3);
LAYOUT(_PAGE_PCD,		1UL << 4);
LAYOUT(_PAGE_ACCESSED,		1UL << 5);
LAYOUT(_PAGE_DIRTY,		1UL << 6);
LAYOUT(_PAGE_PSE,		1UL << 7);
LAYOUT(_PAGE_PAT,		1UL << 7);
LAYOUT(_PAGE_GLOBAL,		1UL << 8);
LAYOUT(_PAGE_PROTNONE,		1UL << 8);
LAYOUT(_PAGE_SPECIAL,		1UL << 9);
LAYOUT(_PAGE_UFFD_WP,		1UL << 10);
LAYOUT(_PAGE_SOFT_DIRTY,	1UL << 11);
LAYOUT(_PAGE_DEVMAP,		1UL << 57);
LAYOUT(_PAGE_SAVED_DIRTY,	1UL << 58);
LAYOUT(_PAGE_BIT_PKEY_BIT0,	59);
LAYOUT(_PAGE_BIT_PKEY_BIT3,	62);
LAYOUT(_PAGE_NX,		1UL << 63);
LAYOUT(PTE_PFN_MASK,		((1UL << 52) - 1) & ~4095UL);
LAYOUT(PAGE_SHIFT,		12);
LAYOUT(PTRS_PER_PTE,		512);
/* What pte_modify() keeps; here without the encryption bit, which is found at boot. */
LAYOUT(_PAGE_CHG_MASK,		PTE_PFN_MASK | _PAGE_PCD | _PAGE_PWT |
				_PAGE_SPECIAL | _PAGE_ACCESSED | _PAGE_DIRTY |
				_PAGE_SAVED_DIRTY | _PAGE_SOFT_DIRTY |
				_PAGE_DEVMAP | _PAGE_UFFD_WP | _PAGE_PAT);
