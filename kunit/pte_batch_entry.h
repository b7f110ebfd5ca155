/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the KUnit suites for batched page-table helpers share: entries built
 * from a list of bits, page tables with guards around them, and a way to print
 * an entry so that a failure can be read without a decoder.
 *
 * No suite attaches an mm to its thread: the mm below belongs to no task, so
 * each suite frees what it allocated, and no test depends on current->mm.
 */
#ifndef _PTE_BATCH_ENTRY_H
#define _PTE_BATCH_ENTRY_H

#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/prandom.h>
#include <linux/types.h>

/* What an entry may carry besides its page frame. */
#define ENTRY_WRITE		BIT(0)
#define ENTRY_YOUNG		BIT(1)
#define ENTRY_DIRTY		BIT(2)
#define ENTRY_SOFT_DIRTY	BIT(3)
#define ENTRY_UFFD_WP		BIT(4)
#define ENTRY_PROTNONE		BIT(5)
#define ENTRY_SPECIAL		BIT(6)
#define ENTRY_ALL_BITS		GENMASK(6, 0)

/* Room for one decoded entry. */
#define ENTRY_TEXT		160

/* A value that no test entry has, on both sides of each table. */
#define TABLE_GUARD		0x5a

/**
 * struct batch_table - one page table with a guard page on either side
 * @pages: address of the four pages, zero if there are none
 * @ptep: first entry of the table, in the second page
 */
struct batch_table {
	unsigned long pages;
	pte_t *ptep;
};

/**
 * struct batch_env - an address space of our own to run helpers in
 * @mm: a real mm, because helpers flush, and mark ranges to be flushed
 * @vma: a VMA of @mm that is in no tree
 * @addr: address that the first entry of each table stands for
 * @ptl: lock of the page table that @mm has at @addr
 * @folio: a folio with one page for each entry, or NULL if memory is short
 */
struct batch_env {
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	unsigned long addr;
	/* Of the table that the mm has at @addr. */
	spinlock_t *ptl;
	struct folio *folio;
};

int batch_env_init(struct batch_env *env);
void batch_env_exit(struct batch_env *env);

int batch_table_init(struct batch_table *table);
void batch_table_exit(struct batch_table *table);
void batch_table_fill(struct batch_env *env, struct batch_table *table);
bool batch_table_guards_hold(struct batch_table *table);

unsigned int entry_fix_bits(unsigned int bits);
bool entry_bits_possible(unsigned int bits);
pte_t entry_build(struct batch_env *env, unsigned long pfn, unsigned int bits);
void entry_set(struct batch_env *env, pte_t *table, unsigned int slot,
	       pte_t pte);
const char *entry_text(char *text, pte_t pte);
u64 entry_raw(pte_t pte);
u64 entry_exact(pte_t pte);
unsigned int entry_block(pte_t *ptep);
bool entry_slot_equal(pte_t *a, pte_t *b);
unsigned int entry_table_differs(pte_t *a, pte_t *b);
bool entry_blocks_hold(pte_t *table);

static inline unsigned long batch_addr(struct batch_env *env, unsigned int slot)
{
	return env->addr + slot * PAGE_SIZE;
}

static inline unsigned long batch_pfn(struct batch_env *env, unsigned int page)
{
	return folio_pfn(env->folio) + page;
}

#endif /* _PTE_BATCH_ENTRY_H */
