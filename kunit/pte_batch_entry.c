// SPDX-License-Identifier: GPL-2.0
/*
 * Entries and page tables for the KUnit suites of batched page-table helpers.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <asm/tlb.h>

#include "pte_batch_entry.h"

/* Guard, table, guard; the allocator rounds up to four. */
#define TABLE_ORDER		2

/*
 * uffd-wp was renamed once: used where the tree has the name we know, or where
 * our headers say what it is now.
 */
#if defined(HAVE_pte_mkuffd_wp) || defined(pte_mkuffd_wp)
#define ENTRY_HAS_UFFD_WP	IS_ENABLED(CONFIG_HAVE_ARCH_USERFAULTFD_WP)

static pte_t entry_mkuffd_wp(pte_t pte)
{
	return pte_mkuffd_wp(pte);
}

static bool entry_uffd_wp(pte_t pte)
{
	return pte_uffd_wp(pte);
}
#else
#define ENTRY_HAS_UFFD_WP	0

static pte_t entry_mkuffd_wp(pte_t pte)
{
	return pte;
}

static bool entry_uffd_wp(pte_t pte)
{
	return false;
}
#endif

/*
 * The table that the mm itself has stays empty: powerpc asserts that it is
 * locked, whichever table an entry is in.
 */
static bool env_add_table(struct batch_env *env)
{
	pte_t *ptep = get_locked_pte(env->mm, env->addr, &env->ptl);

	if (!ptep)
		return false;
	pte_unmap_unlock(ptep, env->ptl);
	return true;
}

static void env_drop_table(struct batch_env *env)
{
	struct mmu_gather tlb;

	tlb_gather_mmu(&tlb, env->mm);
	free_pgd_range(&tlb, env->addr, env->addr + PMD_SIZE, 0, 0);
	tlb_finish_mmu(&tlb);
}

/**
 * batch_env_init() - make an mm, a VMA and pages to map
 * @env: what to fill
 *
 * Return: 0, or -ENOMEM with nothing left allocated. A missing @env->folio is
 * not an error: who needs it skips.
 */
int batch_env_init(struct batch_env *env)
{
	env->mm = mm_alloc();
	if (!env->mm)
		return -ENOMEM;

	env->vma = kzalloc(sizeof(*env->vma), GFP_KERNEL);
	if (!env->vma) {
		batch_env_exit(env);
		return -ENOMEM;
	}

	/* Low enough for every arch, and the first entry of some table. */
	env->addr = 4 * PMD_SIZE;
	env->vma->vm_mm = env->mm;
	env->vma->vm_start = env->addr;
	env->vma->vm_end = env->addr + PMD_SIZE;
	vm_flags_init(env->vma, VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE);
	env->vma->vm_page_prot = vm_get_page_prot(VM_READ | VM_WRITE);
	if (!env_add_table(env)) {
		batch_env_exit(env);
		return -ENOMEM;
	}
	env->folio = folio_alloc(GFP_KERNEL | __GFP_NOWARN,
				 ilog2(PTRS_PER_PTE));
	return 0;
}

void batch_env_exit(struct batch_env *env)
{
	if (env->folio)
		folio_put(env->folio);
	kfree(env->vma);
	if (env->ptl)
		env_drop_table(env);
	if (env->mm)
		mmput(env->mm);
	memset(env, 0, sizeof(*env));
}

int batch_table_init(struct batch_table *table)
{
	table->pages = __get_free_pages(GFP_KERNEL | __GFP_ZERO, TABLE_ORDER);
	if (!table->pages)
		return -ENOMEM;
	table->ptep = (pte_t *)(table->pages + PAGE_SIZE);
	return 0;
}

void batch_table_exit(struct batch_table *table)
{
	if (table->pages)
		free_pages(table->pages, TABLE_ORDER);
	table->pages = 0;
}

/**
 * batch_table_fill() - put something that shows each touch in every slot
 * @env: where the pages come from
 * @table: what to fill
 *
 * Each entry can lose its write, young and dirty bit, and may be overwritten
 * or cleared: whatever a helper does to one entry too many is seen.
 */
void batch_table_fill(struct batch_env *env, struct batch_table *table)
{
	unsigned int slot;

	memset((void *)table->pages, TABLE_GUARD, PAGE_SIZE);
	memset((void *)(table->pages + 2 * PAGE_SIZE), TABLE_GUARD, PAGE_SIZE);
	memset(table->ptep, 0, PTRS_PER_PTE * sizeof(pte_t));
	for (slot = 0; slot < PTRS_PER_PTE; slot++)
		entry_set(env, table->ptep, slot,
			  entry_build(env, batch_pfn(env, slot),
				      ENTRY_WRITE | ENTRY_YOUNG | ENTRY_DIRTY));
}

bool batch_table_guards_hold(struct batch_table *table)
{
	const void *low = (void *)table->pages;

	return !memchr_inv(low, TABLE_GUARD, PAGE_SIZE) &&
	       !memchr_inv(low + 2 * PAGE_SIZE, TABLE_GUARD, PAGE_SIZE);
}

/**
 * entry_fix_bits() - take out what cannot be in one entry together
 * @bits: any combination
 *
 * Return: @bits without write where the entry is write protected for
 * userfaultfd or allows no access at all: no kernel path makes such an entry.
 */
unsigned int entry_fix_bits(unsigned int bits)
{
	if (bits & (ENTRY_UFFD_WP | ENTRY_PROTNONE))
		bits &= ~ENTRY_WRITE;
	if (!IS_ENABLED(CONFIG_MEM_SOFT_DIRTY))
		bits &= ~ENTRY_SOFT_DIRTY;
	if (!ENTRY_HAS_UFFD_WP)
		bits &= ~ENTRY_UFFD_WP;
	/*
	 * arm64 decides from the alignment alone whether a run becomes one
	 * contiguous block, and a special entry must not be in one.
	 */
	if (!IS_ENABLED(CONFIG_ARCH_HAS_PTE_SPECIAL) ||
	    IS_ENABLED(CONFIG_ARM64_CONTPTE))
		bits &= ~ENTRY_SPECIAL;
	return bits;
}

bool entry_bits_possible(unsigned int bits)
{
	return entry_fix_bits(bits) == bits;
}

/**
 * entry_build() - an entry with exactly these bits
 * @env: whose VMA decides what writable means
 * @pfn: page frame
 * @bits: ENTRY_* flags for which entry_bits_possible() holds
 *
 * Built by the kernel's own pte_mk*() functions: a value made of raw bits
 * could be one that the hardware reads as something else.
 *
 * Return: the entry.
 */
pte_t entry_build(struct batch_env *env, unsigned long pfn, unsigned int bits)
{
	unsigned long access = bits & ENTRY_PROTNONE ? VM_NONE : VM_READ;
	pte_t pte = pfn_pte(pfn, vm_get_page_prot(access));

	pte = bits & ENTRY_YOUNG ? pte_mkyoung(pte) : pte_mkold(pte);
	if (bits & ENTRY_WRITE)
		pte = pte_mkwrite(pte, env->vma);
	pte = bits & ENTRY_DIRTY ? pte_mkdirty(pte) : pte_mkclean(pte);
	/* After dirty, which sets soft-dirty too on some arches. */
	pte = bits & ENTRY_SOFT_DIRTY ? pte_mksoft_dirty(pte) :
					pte_clear_soft_dirty(pte);
	if (bits & ENTRY_UFFD_WP)
		pte = entry_mkuffd_wp(pte);
	if (bits & ENTRY_SPECIAL)
		pte = pte_mkspecial(pte);
	return pte;
}

/* Store one entry in an empty or a filled slot; an empty one just clears it. */
void entry_set(struct batch_env *env, pte_t *table, unsigned int slot,
	       pte_t pte)
{
	unsigned long addr = batch_addr(env, slot);

	spin_lock(env->ptl);
	pte_clear(env->mm, addr, table + slot);
	if (!pte_none(pte))
		set_pte_at(env->mm, addr, table + slot, pte);
	spin_unlock(env->ptl);
}

u64 entry_raw(pte_t pte)
{
	return pte_val(pte);
}

#ifdef CONFIG_ARM64_CONTPTE
#define ENTRY_CHUNK CONT_PTES

/* One block's entries stand side by side, aligned. */
static pte_t *block_start(pte_t *ptep)
{
	return PTR_ALIGN_DOWN(ptep, CONT_PTES * sizeof(*ptep));
}

/**
 * entry_exact() - the part of an entry that a helper must get right
 * @pte: entry
 *
 * Return: the raw value; on arm64 without the contiguous bit, which the
 * architecture puts where it wants to, as long as entry_blocks_hold().
 */
u64 entry_exact(pte_t pte)
{
	return entry_raw(pte_mknoncont(pte));
}

/**
 * entry_block() - how many entries share accessed and dirty
 * @ptep: any of them
 *
 * Return: the number of entries in the block, 1 where there is none.
 */
unsigned int entry_block(pte_t *ptep)
{
	return pte_valid_cont(__ptep_get(ptep)) ? CONT_PTES : 1;
}

/* The entry, accessed or dirty if any entry in its block's place is. */
static pte_t entry_of_block(pte_t *ptep)
{
	pte_t *start = block_start(ptep), pte = __ptep_get(ptep);
	unsigned int i;

	for (i = 0; i < CONT_PTES; i++) {
		const pte_t one = __ptep_get(start + i);

		if (pte_dirty(one))
			pte = pte_mkdirty(pte);
		if (pte_young(one))
			pte = pte_mkyoung(pte);
	}
	return pte;
}

static u64 bits_of_block(pte_t pte)
{
	return entry_raw(pte_mkold(pte_mkclean(pte)));
}

/**
 * entry_blocks_hold() - are all entries of each contiguous block alike?
 * @table: the page table
 *
 * The raw entries, but for the frame, accessed and dirty: the TLB may take any
 * one of them for all.
 *
 * Return: false if one is not, or is special or not valid.
 */
bool entry_blocks_hold(pte_t *table)
{
	pte_t first = __pte(0), pte;
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++) {
		pte = __ptep_get(table + i);
		if (i % CONT_PTES == 0)
			first = pte;
		if (!pte_cont(first) && !pte_cont(pte))
			continue;
		if (!pte_valid(pte) || pte_special(pte) ||
		    bits_of_block(pte) !=
		    bits_of_block(pte_advance_pfn(first, i % CONT_PTES)))
			return false;
	}
	return true;
}
#else
/* As many as any page table is a multiple of. */
#define ENTRY_CHUNK 16

u64 entry_exact(pte_t pte)
{
	return entry_raw(pte);
}

unsigned int entry_block(pte_t *ptep)
{
	return 1;
}

static pte_t entry_of_block(pte_t *ptep)
{
	return ptep_get(ptep);
}

bool entry_blocks_hold(pte_t *table)
{
	return true;
}
#endif

/**
 * entry_slot_equal() - are two entries equal, as exactly as they can be?
 * @a: an entry in a page table or in a copy of one, aligned to its blocks
 * @b: the same entry of another table or copy
 *
 * Entries of one block share accessed and dirty. Where one of the tables has a
 * block and the other has not, those two bits are compared for all the block's
 * entries taken together; everything else, and every other entry, as it is.
 *
 * Return: whether they are.
 */
bool entry_slot_equal(pte_t *a, pte_t *b)
{
	if (entry_exact(ptep_get(a)) == entry_exact(ptep_get(b)))
		return true;
	if (entry_block(a) == 1 && entry_block(b) == 1)
		return false;
	return entry_exact(entry_of_block(a)) == entry_exact(entry_of_block(b));
}

/**
 * entry_table_differs() - the first entry that is not equal in two page tables
 * @a: a page table, or a copy of one
 * @b: another
 *
 * What is the same to the last bit needs no second look, which is much shorter
 * where blocks are large: a table of 16K has 16 of 128 entries.
 *
 * Return: its slot by entry_slot_equal(), PTRS_PER_PTE if there is none.
 */
unsigned int entry_table_differs(pte_t *a, pte_t *b)
{
	unsigned int first, i;

	for (first = 0; first < PTRS_PER_PTE; first += ENTRY_CHUNK) {
		if (!memcmp(a + first, b + first, ENTRY_CHUNK * sizeof(*a)))
			continue;
		for (i = first; i < first + ENTRY_CHUNK; i++)
			if (!entry_slot_equal(a + i, b + i))
				return i;
	}
	return PTRS_PER_PTE;
}

/**
 * entry_text() - decode an entry for a message
 * @text: ENTRY_TEXT bytes
 * @pte: entry
 *
 * Return: @text.
 */
const char *entry_text(char *text, pte_t pte)
{
	if (pte_none(pte)) {
		snprintf(text, ENTRY_TEXT, "%#llx (none)", entry_raw(pte));
		return text;
	}
	if (!pte_present(pte)) {
		snprintf(text, ENTRY_TEXT, "%#llx (not present)",
			 entry_raw(pte));
		return text;
	}
	snprintf(text, ENTRY_TEXT, "%#llx (present%s%s%s%s%s%s%s pfn %#lx)",
		 entry_raw(pte),
		 pte_write(pte) ? " write" : "",
		 pte_young(pte) ? " young" : "",
		 pte_dirty(pte) ? " dirty" : "",
		 pte_soft_dirty(pte) ? " soft-dirty" : "",
		 entry_uffd_wp(pte) ? " uffd-wp" : "",
		 pte_protnone(pte) ? " protnone" : "",
		 pte_special(pte) ? " special" : "",
		 /* arm64 has it in 64 bits of another name. */
		 (unsigned long)pte_pfn(pte));
	return text;
}
