/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract of the batched PTE helpers: one prototype and one description
 * for each, whoever implements it.
 *
 * Included at the end of <linux/pgtable.h>. Order: flag types; the overrides
 * (<asm/pgtable_batch.h>, included early); the tree's own definitions; the
 * fallbacks; and here, last, the prototypes. A macro that maps a name to an
 * architecture's function has renamed the prototype by then, so a definition
 * whose signature differs, ours or the tree's own, does not compile.
 *
 * Common to all unless said otherwise: @nr is counted in entries and at least
 * one; the range lies in one page table (one PMD) and one VMA; present entries
 * map consecutive pages of one folio; the page table lock is held; nothing
 * here sleeps, enters or leaves lazy MMU mode.
 */
/* For a user of this header alone; on the way from there it does nothing. */
#include <linux/pgtable.h>

#ifndef _LINUX_PGTABLE_BATCH_H
#define _LINUX_PGTABLE_BATCH_H

#if !defined(__ASSEMBLY__) && !defined(__ASSEMBLER__) && defined(CONFIG_MMU)

#include <linux/bug.h>
#include <linux/minmax.h>
#include <linux/mm_types.h>
#include <linux/pgtable_batch_compat.h>
#include <linux/pgtable_batch_types.h>
#include <asm-generic/pgtable_batch.h>

/**
 * pte_batch_hint() - how many entries are known to belong together
 * @ptep: page table pointer of the entry
 * @pte: the entry's value
 *
 * Entries that the architecture keeps as one block (an arm64 contpte block)
 * belong to one folio and share all bits; no other entry has to be read to
 * know that. The answer may exceed what is left of the caller's range.
 *
 * PTE bits that may differ inside the range: none that this returns a block
 * for, except that accessed and dirty count for the block as a whole.
 * Default: 1.
 *
 * Context: the page table lock is held.
 * Return: the number of entries from @ptep to the end of the block, at least 1.
 */
unsigned int pte_batch_hint(pte_t *ptep, pte_t pte);

/**
 * pte_advance_pfn() - the entry that maps the page @nr pages further on
 * @pte: the entry, present (PROT_NONE included)
 * @nr: how far to go, in pages
 *
 * The only way to step: x86 stores the frame of a PROT_NONE entry inverted,
 * so that adding to the raw value goes the wrong way there. pte_next_pfn(pte)
 * is the step by one page.
 *
 * PTE bits that may differ inside the range: not applicable, one value.
 * Default: add to the frame number. Upstream: commit ce60f27bb62d.
 *
 * Context: any.
 * Return: @pte with its frame number advanced and all other bits kept.
 */
pte_t pte_advance_pfn(pte_t pte, unsigned long nr);

/**
 * set_ptes() - map consecutive pages
 * @mm: address space
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @pte: value of the first entry; the others have the frame advanced
 * @nr: number of entries
 *
 * For @nr == 1 the old and the new entry may be anything. For @nr > 1 no old
 * entry may be present and the new ones must be.
 *
 * PTE bits that may differ inside the range: none.
 * Default: loop over set_pte_at().
 *
 * Context: the page table lock is held.
 */
void set_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep, pte_t pte,
	      unsigned int nr);

/**
 * wrprotect_ptes() - write-protect a range
 * @mm: address space
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 *
 * PTE bits that may differ inside the range: all but the frame's order.
 * Default: loop over ptep_set_wrprotect().
 *
 * Context: the page table lock is held. The caller flushes the TLB.
 */
void wrprotect_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
		    unsigned int nr);

/**
 * get_and_clear_full_ptes() - clear a range, collecting accessed and dirty
 * @mm: address space
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 * @full: the whole address space goes away
 *
 * PTE bits that may differ inside the range: all but the frame's order. Only
 * accessed and dirty of the later entries are reported.
 * Default: loop over ptep_get_and_clear_full().
 *
 * Context: the page table lock is held. The caller flushes the TLB.
 * Return: the first entry, accessed or dirty if any entry was.
 */
pte_t get_and_clear_full_ptes(struct mm_struct *mm, unsigned long addr,
			      pte_t *ptep, unsigned int nr, int full);

/**
 * get_and_clear_ptes() - get_and_clear_full_ptes() of a living address space
 * @mm: address space
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 *
 * PTE bits that may differ inside the range: as get_and_clear_full_ptes().
 * Default: get_and_clear_full_ptes() with full = 0.
 *
 * Context: the page table lock is held. The caller flushes the TLB.
 * Return: the first entry, accessed or dirty if any entry was.
 */
pte_t get_and_clear_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
			 unsigned int nr);

/**
 * clear_full_ptes() - clear a range
 * @mm: address space
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 * @full: the whole address space goes away
 *
 * PTE bits that may differ inside the range: all but the frame's order.
 * Default: loop over ptep_get_and_clear_full().
 *
 * Context: the page table lock is held. The caller flushes the TLB.
 */
void clear_full_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
		     unsigned int nr, int full);

/**
 * clear_ptes() - clear_full_ptes() of a living address space
 * @mm: address space
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 *
 * PTE bits that may differ inside the range: as clear_full_ptes().
 * Default: clear_full_ptes() with full = 0.
 *
 * Context: the page table lock is held. The caller flushes the TLB.
 */
void clear_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
		unsigned int nr);

/**
 * clear_nonpresent_ptes() - clear a range of entries that map nothing
 * @mm: address space
 * @addr: address of the first entry
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, none of them present
 *
 * PTE bits that may differ inside the range: all.
 * Default: loop over pte_clear_not_present_full().
 *
 * Context: the page table lock is held. No TLB flush is needed.
 */
void clear_nonpresent_ptes(struct mm_struct *mm, unsigned long addr,
			   pte_t *ptep, unsigned int nr);

/**
 * clear_young_dirty_ptes() - make a range old, clean or both
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 * @flags: CYDP_CLEAR_YOUNG, CYDP_CLEAR_DIRTY
 *
 * An architecture may widen the range to whole blocks of the same folio.
 *
 * PTE bits that may differ inside the range: all but the frame's order.
 * Default: loop over the single-entry helpers.
 *
 * Context: the page table lock is held. The caller flushes the TLB.
 */
void clear_young_dirty_ptes(struct vm_area_struct *vma, unsigned long addr,
			    pte_t *ptep, unsigned int nr, cydp_t flags);

/**
 * test_and_clear_young_ptes() - make a range old
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 *
 * An architecture may widen the range to whole blocks of the same folio.
 *
 * PTE bits that may differ inside the range: all but the frame's order.
 * Default: loop over ptep_test_and_clear_young().
 *
 * Context: the page table lock is held.
 * Return: whether any entry was young.
 */
bool test_and_clear_young_ptes(struct vm_area_struct *vma, unsigned long addr,
			       pte_t *ptep, unsigned int nr);

/**
 * clear_flush_young_ptes() - make a range old and flush where that matters
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 *
 * PTE bits that may differ inside the range: all but the frame's order.
 * Default: loop over ptep_clear_flush_young().
 *
 * Context: the page table lock is held.
 * Return: whether any entry was young.
 */
bool clear_flush_young_ptes(struct vm_area_struct *vma, unsigned long addr,
			    pte_t *ptep, unsigned int nr);

/**
 * modify_prot_start_ptes() - begin to change the protection of a range
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 *
 * Until modify_prot_commit_ptes() the hardware does not update the entries.
 * Upstream's contract, which loses what single entries were: the pair gives
 * accessed and dirty of any entry to all. modify_prot_ptes() does not.
 *
 * PTE bits that may differ inside the range: accessed and dirty.
 * Default: loop over ptep_modify_prot_start(). Upstream: commit 0aa3657df3ec.
 *
 * Context: the page table lock is held.
 * Return: the first entry, accessed or dirty if any entry was.
 */
pte_t modify_prot_start_ptes(struct vm_area_struct *vma, unsigned long addr,
			     pte_t *ptep, unsigned int nr);

/**
 * modify_prot_commit_ptes() - finish what modify_prot_start_ptes() began
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @old_pte: what modify_prot_start_ptes() returned
 * @pte: new value of the first entry; the others have the frame advanced
 * @nr: number of entries, as given to modify_prot_start_ptes()
 *
 * PTE bits that may differ inside the range: none, all entries get the bits
 * of @pte.
 * Default: loop over ptep_modify_prot_commit(). Upstream: commit 0aa3657df3ec.
 *
 * Context: the page table lock is held, and has been since the start. The
 * caller flushes the TLB.
 */
void modify_prot_commit_ptes(struct vm_area_struct *vma, unsigned long addr,
			     pte_t *ptep, pte_t old_pte, pte_t pte,
			     unsigned int nr);

/**
 * modify_prot_ptes() - change the protection of a run, each entry for itself
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry, which must be present
 * @nr: number of entries that may be handled
 * @newprot: the new protection
 * @flags: what else to change, see modprot_t
 * @old_pte: on return, the first entry's old value
 * @new_pte: on return, the first entry's new value
 *
 * Start, modify and commit in one pass. Handles the first entry and as many
 * of the following ones as the architecture can in one go: those that equal
 * the first in all bits but the frame (or that form one hardware block with
 * it). Every entry keeps its own accessed, dirty and soft-dirty state, also
 * what the hardware sets meanwhile. So one decision, taken from @old_pte and
 * @new_pte, holds for every entry handled: whether a TLB flush is needed, for
 * one. The pages need not belong to one folio.
 *
 * What an earlier call with the same @vma, @newprot and @flags left in @old_pte
 * and @new_pte may be handed in again, so that entries like those need not be
 * worked out anew; otherwise both are to be __pte(0).
 *
 * PTE bits that may differ inside the range: any; the call stops before the
 * first entry that differs, present or not, except that accessed may differ
 * where nothing depends on it.
 * Default: one entry per call, by ptep_modify_prot_start() and _commit().
 *
 * Context: the page table lock is held. The caller flushes the TLB.
 * Return: the number of entries handled, 1 to @nr.
 */
unsigned int modify_prot_ptes(struct vm_area_struct *vma, unsigned long addr,
			      pte_t *ptep, unsigned int nr, pgprot_t newprot,
			      modprot_t flags, pte_t *old_pte, pte_t *new_pte);

/**
 * set_access_flags_ptes() - add rights to a range after a fault
 * @vma: VMA the pages are mapped in
 * @addr: address of the first page
 * @ptep: page table pointer of the first entry
 * @nr: number of entries, all present
 * @flags: SAF_YOUNG, SAF_DIRTY, SAF_WRITE: what each entry gets
 *
 * Rights only grow, and only those asked for: an entry that is clean stays
 * clean without SAF_DIRTY. Translations with fewer rights may stay in TLBs
 * where the architecture repairs them by a spurious fault, as after
 * ptep_set_access_flags(); flush_tlb_local_ptes() spares this CPU those.
 *
 * PTE bits that may differ inside the range: all but the frame's order.
 * Default: loop over ptep_set_access_flags().
 *
 * Context: the page table lock is held. The caller has checked that every
 * page may be accessed that way.
 * Return: whether any entry changed; update_mmu_cache_range() is then due.
 */
bool set_access_flags_ptes(struct vm_area_struct *vma, unsigned long addr,
			   pte_t *ptep, unsigned int nr, saf_t flags);

/**
 * pte_run_present() - find the end of a run of present entries
 * @ptep: page table pointer of the first entry
 * @pte: its value, present
 * @max_nr: number of entries that may be looked at
 *
 * A run says nothing about folios and touches no struct page.
 *
 * PTE bits that may differ inside the range: all.
 * Default: step by pte_batch_hint().
 *
 * Context: the page table lock is held.
 * Return: the number of present entries from @ptep on, 1 to @max_nr.
 */
unsigned int pte_run_present(pte_t *ptep, pte_t pte, unsigned int max_nr);

#endif /* !__ASSEMBLY__ && CONFIG_MMU */
#endif /* _LINUX_PGTABLE_BATCH_H */
