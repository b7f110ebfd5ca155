/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the program that measures shares with what it measures.
 *
 * A subject is one object with all helpers: either those of the fallbacks and,
 * beside them, the single-PTE loops, or those of the architecture. Each is
 * assembled once for each of four places in the cache lines.
 */
#ifndef PTEBATCH_SUBJECT_H
#define PTEBATCH_SUBJECT_H

#include <linux/folio_pte_batch.h>

enum operation {
	OP_SET,
	OP_WRPROTECT,
	OP_GET_CLEAR,
	OP_GET_CLEAR_FULL,
	OP_CLEAR,
	OP_CLEAR_FULL,
	OP_CLEAR_ABSENT,
	OP_CLEAR_YOUNG,
	OP_CLEAR_YOUNG_DIRTY,
	OP_TEST_YOUNG,
	OP_FLUSH_YOUNG,
	OP_START_COMMIT,
	OP_MODIFY,
	OP_ACCESS,
	OP_RUN,
	OP_FOLIO_BATCH,
	OP_FOLIO_RUN,
	OP_EXCLUSIVE,
	OP_CHANGE,
	OP_NUMA,
	OP_REUSE,
	OPERATIONS
};

#define SHIFTS		4
#define SHIFT_STEP	16

/**
 * struct work - tables, and what is to be done to them
 * @mm: address space
 * @vma: VMA the pages are mapped in
 * @ptep: the first entry
 * @addr: address of its page
 * @nr: entries for each call of the helper
 * @calls: how many calls for each table, side by side
 * @tables: how many tables, one after the other
 * @pte: value of the first entry, where one is to be set
 * @prot: the new protection
 * @flags: MODPROT_* or MM_CP_*, as the operation has it
 * @result: the sum of all that the helper returned
 */
struct work {
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	pte_t *ptep;
	unsigned long addr;
	unsigned int nr;
	unsigned int calls;
	unsigned int tables;
	pte_t pte;
	pgprot_t prot;
	unsigned long flags;
	u64 result;
};

typedef void (*measured_t)(struct work *work);

/**
 * struct subject - one object that can be measured
 * @generic: of the fallbacks
 * @shift: how far its code is moved, in bytes
 * @single: the loops over single entries
 * @batched: the helpers
 * @overridden: the helper, or what it is made of, is the architecture's
 * @next: the next subject
 */
struct subject {
	bool generic;
	const int *shift;
	measured_t single[OPERATIONS];
	measured_t batched[OPERATIONS];
	bool overridden[OPERATIONS];
	struct subject *next;
};

/* Of each object its own: the assembler's text has it. */
extern const int subject_shift;

void subject_register(struct subject *subject);

#endif /* PTEBATCH_SUBJECT_H */
