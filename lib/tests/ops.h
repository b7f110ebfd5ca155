/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every operation twice: by the batched helper, and by the dumb loop over
 * single entries that says what is right.
 */

static struct mm_struct mm;
static struct vm_area_struct vma;
/* The table at the start of a case. */
static u64 initial[HOST_SLOTS];
/* The table at the start of the operation, which may not be the first. */
static const u64 *at_start = initial;

enum op_kind {
	OP_MODPROT,
	OP_MODPROT_RUN,
	OP_ACCESS,
	OP_WRPROTECT,
	OP_GET_CLEAR,
	OP_GET_CLEAR_FULL,
	OP_CLEAR,
	OP_CLEAR_FULL,
	OP_CYDP,
	OP_YOUNG,
	OP_FLUSH_YOUNG,
	OP_START_COMMIT,
	OP_SET,
	OP_CLEAR_ABSENT,
	OP_RUN,
	OP_MODPROT_TURNS,
	OP_KINDS
};

/**
 * struct op - one operation
 * @kind: which
 * @prot: the new protection
 * @flags: of the helper
 * @reuse: hand the last step's values in again
 */
struct op {
	enum op_kind kind;
	pgprot_t prot;
	int flags;
	bool reuse;
};

/* By itself, or as callers do it: in one go, what to flush noted on the way. */
static bool op_is_modprot(const struct op *op)
{
	return op->kind == OP_MODPROT || op->kind == OP_MODPROT_RUN ||
	       op->kind == OP_MODPROT_TURNS;
}

/*
 * May dirty be set in an entry of a block that allows no write by itself, because
 * another one does? Linux's own wrprotect_ptes() takes write access out of a
 * folded block entry by entry, which is right only where it is not. Nothing of
 * ours relies on that.
 */
static bool op_bears_trust(const struct op *op)
{
	return op->kind != OP_WRPROTECT;
}

/* Called before each entry of the dumb loop: there, an entry is one step. */
static void (*single_step)(unsigned int i);

/* Every flag of modify_prot_ptes() that this tree has. */
#define MODPROT_ALL		(0x7f | MODPROT_UFFD_RWP)

static inline unsigned long slot_addr(unsigned int slot)
{
	return HOST_BASE + slot * PAGE_SIZE;
}

static inline pte_t *slot_ptep(unsigned int slot)
{
	return (pte_t *)(mmu_table + slot);
}

static inline u64 pte_raw(pte_t pte)
{
	return pte.pte;
}

static inline pte_t raw_pte(u64 raw)
{
	return (pte_t) { raw };
}

static inline void note_flush(struct mmu_gather *tlb, unsigned int slot,
			      unsigned int nr, pte_t old, pte_t new)
{
	if (pte_needs_flush(old, new))
		tlb_flush_pte_range(tlb, slot_addr(slot), nr * PAGE_SIZE);
}

/* May this entry become writable, for all that its own bits say? */
static pte_t oracle_modify_write(pte_t pte, int flags)
{
	bool may = flags & MODPROT_MKWRITE;

	if (flags & MODPROT_MKWRITE_DIRTY && pte_dirty(pte))
		may = true;
	if (pte_write(pte) || pte_protnone(pte))
		may = false;
	if (flags & MODPROT_SOFT_DIRTY_WP && !pte_soft_dirty(pte))
		may = false;
	if (flags & MODPROT_KEEP_UFFD_WP && pte_uffd_wp(pte))
		may = false;
	return may ? pte_mkwrite(pte, &vma) : pte;
}

/* mprotect's own words for one entry, without a helper of ours. */
static pte_t oracle_modify(pte_t pte, pgprot_t prot, int flags)
{
	pte = pte_modify(pte, prot);
	if (flags & MODPROT_UFFD_WP)
		pte = pte_mkuffd_wp(pte);
	if ((flags & (MODPROT_UFFD_WP | MODPROT_UFFD_WP_RESOLVE)) ==
	    MODPROT_UFFD_WP_RESOLVE)
		pte = pte_clear_uffd_wp(pte);
	/* Who stops reads, stops them until the bit goes. */
	if (flags & MODPROT_UFFD_RWP && pte_uffd_wp(pte))
		pte = pte_modify(pte, PAGE_NONE);
	if (flags & MODPROT_MKYOUNG)
		pte = pte_mkyoung(pte);
	return oracle_modify_write(pte, flags);
}

static pte_t oracle_access(pte_t pte, int flags)
{
	if (flags & SAF_YOUNG)
		pte = pte_mkyoung(pte);
	/* Rights only grow: what was writable shadow stack stays it. */
	if (flags & SAF_DIRTY && pte_write(pte))
		flags |= SAF_WRITE;
	if (flags & SAF_DIRTY)
		pte = pte_mkdirty(pte);
	if (flags & SAF_WRITE)
		pte = pte_mkwrite(pte, &vma);
	return pte;
}

/* Accessed and dirty and nothing else: no soft-dirty, no right the less. */
static pte_t oracle_merge(pte_t pte, pte_t other)
{
	pte_t merged = pte_dirty(pte) ? pte : pte_mkdirty(pte);

	if (!pte_soft_dirty(pte))
		merged = pte_clear_soft_dirty(merged);
	if (pte_dirty(other))
		pte = merged;
	return pte_young(other) ? pte_mkyoung(pte) : pte;
}

/*
 * What clearing a range returns. arm64 does that by its own code, to which a
 * second dirty entry makes the first dirty to software if only the hardware had.
 */
static pte_t oracle_collect(pte_t pte, pte_t other)
{
	if (IS_ENABLED(CONFIG_ARM64_CONTPTE) && pte_dirty(other))
		pte = pte_mkdirty(pte);
	return oracle_merge(pte, other);
}

/* An entry that was not handled is as valid to the hardware as before. */
static bool left_alone(unsigned int slot)
{
	const u64 raw = pte_raw(*slot_ptep(slot));

	return !mmu_watched || hw.rights(raw) == hw.rights(at_start[slot]);
}

static u64 batched_modprot(const struct op *op, unsigned int slot,
			   unsigned int nr, struct mmu_gather *tlb)
{
	pte_t old = raw_pte(0), new = raw_pte(0);
	unsigned int done = 0, step;

	do {
		if (!op->reuse) {
			old = __pte(0);
			new = __pte(0);
		}
		step = modify_prot_ptes(&vma, slot_addr(slot + done),
					slot_ptep(slot + done), nr - done,
					op->prot, op->flags, &old, &new);
		if (!step || step > nr - done) {
			mmu.bad = "modify_prot_ptes() returned a wrong number";
			return done;
		}
		if (!pte_present(old) ||
		    pte_val(new) != pte_val(oracle_modify(old, op->prot, op->flags)))
			mmu.bad = "the first entry's values are wrong";
		note_flush(tlb, slot + done, step, old, new);
		done += step;
		if (done < nr && !left_alone(slot + done))
			mmu.bad = "an entry was left half changed";
	} while (done < nr && pte_present(ptep_get(slot_ptep(slot + done))));
	return done;
}

static u64 batched_modprot_run(const struct op *op, unsigned int slot,
			       unsigned int nr, struct mmu_gather *tlb)
{
	struct modprot_kind kind[2] = { };

	return tlb_modify_prot_run(tlb, &vma, slot_addr(slot), slot_ptep(slot),
				   nr, op->prot, op->flags, kind, kind + 1);
}

/* As where no two neighbouring pages are alike: one entry per call. */
static u64 batched_modprot_turns(const struct op *op, unsigned int slot,
				 unsigned int nr, struct mmu_gather *tlb)
{
	struct modprot_kind kind = { };
	unsigned int i;

	for (i = 0; i < nr && (!i || pte_present(ptep_peek(slot_ptep(slot + i)))); i++)
		tlb_modify_prot_run(tlb, &vma, slot_addr(slot + i),
				    slot_ptep(slot + i), 1, op->prot, op->flags,
				    &kind, &kind);
	return i;
}

static u64 single_modprot(const struct op *op, unsigned int slot,
			  struct mmu_gather *tlb)
{
	const unsigned long addr = slot_addr(slot);
	pte_t *ptep = slot_ptep(slot);
	pte_t old, new;

	old = ptep_modify_prot_start(&vma, addr, ptep);
	new = oracle_modify(old, op->prot, op->flags);
	ptep_modify_prot_commit(&vma, addr, ptep, old, new);
	note_flush(tlb, slot, 1, old, new);
	return 1;
}

static u64 batched_start_commit(const struct op *op, unsigned int slot,
				unsigned int nr)
{
	const unsigned long addr = slot_addr(slot);
	pte_t *ptep = slot_ptep(slot);
	pte_t old, new;

	old = modify_prot_start_ptes(&vma, addr, ptep, nr);
	new = pte_modify(old, op->prot);
	modify_prot_commit_ptes(&vma, addr, ptep, old, new, nr);
	return pte_raw(old);
}

/* The first entry's bits for all, accessed or dirty if any entry was. */
static u64 single_start_commit(const struct op *op, unsigned int slot,
			       unsigned int nr)
{
	pte_t old = __pte(0), new;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		pte_t pte = ptep_modify_prot_start(&vma, slot_addr(slot + i),
						   slot_ptep(slot + i));

		old = i ? oracle_collect(old, pte) : pte;
	}
	new = pte_modify(old, op->prot);
	for (i = 0; i < nr; i++) {
		ptep_modify_prot_commit(&vma, slot_addr(slot + i),
					slot_ptep(slot + i), old, new);
		new = pte_advance_pfn(new, 1);
	}
	return pte_raw(old);
}

static pte_t op_set_value(const struct op *op, unsigned int slot)
{
	return pfn_pte(HOST_PFN + slot, op->prot);
}

/* run_batched() - the helper; returns what the helper returns. */
static u64 run_batched(const struct op *op, unsigned int slot, unsigned int nr,
		       struct mmu_gather *tlb)
{
	const unsigned long addr = slot_addr(slot);
	pte_t *ptep = slot_ptep(slot);

	switch (op->kind) {
	case OP_MODPROT:
		return batched_modprot(op, slot, nr, tlb);
	case OP_MODPROT_RUN:
		return batched_modprot_run(op, slot, nr, tlb);
	case OP_MODPROT_TURNS:
		return batched_modprot_turns(op, slot, nr, tlb);
	case OP_ACCESS:
		return set_access_flags_ptes(&vma, addr, ptep, nr, op->flags);
	case OP_WRPROTECT:
		wrprotect_ptes(&mm, addr, ptep, nr);
		return 0;
	case OP_GET_CLEAR:
		return pte_raw(get_and_clear_ptes(&mm, addr, ptep, nr));
	case OP_GET_CLEAR_FULL:
		return pte_raw(get_and_clear_full_ptes(&mm, addr, ptep, nr, 1));
	case OP_CLEAR:
		clear_ptes(&mm, addr, ptep, nr);
		return 0;
	case OP_CLEAR_FULL:
		clear_full_ptes(&mm, addr, ptep, nr, 1);
		return 0;
	case OP_CYDP:
		clear_young_dirty_ptes(&vma, addr, ptep, nr, op->flags);
		return 0;
	case OP_YOUNG:
		return test_and_clear_young_ptes(&vma, addr, ptep, nr);
	case OP_FLUSH_YOUNG:
		return clear_flush_young_ptes(&vma, addr, ptep, nr);
	case OP_START_COMMIT:
		return batched_start_commit(op, slot, nr);
	case OP_SET:
		set_ptes(&mm, addr, ptep, op_set_value(op, slot), nr);
		return 0;
	case OP_CLEAR_ABSENT:
		clear_nonpresent_ptes(&mm, addr, ptep, nr);
		return 0;
	case OP_RUN:
		return pte_run_present(ptep, ptep_get(ptep), nr);
	case OP_KINDS:
		break;
	}
	return ~0UL;
}

/* What a range of one entry is for the helpers that only clear. */
static u64 single_cydp(const struct op *op, unsigned int slot)
{
	const unsigned long addr = slot_addr(slot);
	pte_t *ptep = slot_ptep(slot);
	pte_t pte;

	if (op->flags == CYDP_CLEAR_YOUNG) {
		ptep_test_and_clear_young(&vma, addr, ptep);
		return 0;
	}
	pte = ptep_get_and_clear(&mm, addr, ptep);
	if (op->flags & CYDP_CLEAR_YOUNG)
		pte = pte_mkold(pte);
	if (op->flags & CYDP_CLEAR_DIRTY)
		pte = pte_mkclean(pte);
	set_pte_at(&mm, addr, ptep, pte);
	return 0;
}

static u64 single_access(const struct op *op, unsigned int slot)
{
	pte_t *ptep = slot_ptep(slot);
	pte_t entry = oracle_access(ptep_get(ptep), op->flags);

	return !!ptep_set_access_flags(&vma, slot_addr(slot), ptep, entry, 1);
}

static u64 single_one(const struct op *op, unsigned int slot, unsigned int i,
		      struct mmu_gather *tlb)
{
	const unsigned long addr = slot_addr(slot + i);
	pte_t *ptep = slot_ptep(slot + i);

	switch (op->kind) {
	case OP_MODPROT:
	case OP_MODPROT_RUN:
	case OP_MODPROT_TURNS:
		return single_modprot(op, slot + i, tlb);
	case OP_ACCESS:
		return single_access(op, slot + i);
	case OP_WRPROTECT:
		ptep_set_wrprotect(&mm, addr, ptep);
		return 0;
	case OP_CLEAR:
		ptep_get_and_clear(&mm, addr, ptep);
		return 0;
	case OP_CLEAR_FULL:
		ptep_get_and_clear_full(&mm, addr, ptep, 1);
		return 0;
	case OP_CYDP:
		return single_cydp(op, slot + i);
	case OP_YOUNG:
		return !!ptep_test_and_clear_young(&vma, addr, ptep);
	case OP_FLUSH_YOUNG:
		return !!ptep_clear_flush_young(&vma, addr, ptep);
	case OP_SET:
		set_pte_at(&mm, addr, ptep,
			   pte_advance_pfn(op_set_value(op, slot), i));
		return 0;
	case OP_CLEAR_ABSENT:
		pte_clear(&mm, addr, ptep);
		return 0;
	default:
		return 0;
	}
}

static u64 single_get_clear(const struct op *op, unsigned int slot,
			    unsigned int nr)
{
	const int full = op->kind == OP_GET_CLEAR_FULL;
	pte_t pte = __pte(0), one;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (single_step)
			single_step(i);
		one = ptep_get_and_clear_full(&mm, slot_addr(slot + i),
					      slot_ptep(slot + i), full);
		pte = i ? oracle_collect(pte, one) : one;
	}
	return pte_raw(pte);
}

/* run_single() - the dumb loop; returns what the helper has to return. */
static u64 run_single(const struct op *op, unsigned int slot, unsigned int nr,
		      struct mmu_gather *tlb)
{
	const bool present_only = op_is_modprot(op) || op->kind == OP_RUN;
	u64 result = 0, one;
	unsigned int i;

	if (op->kind == OP_GET_CLEAR || op->kind == OP_GET_CLEAR_FULL)
		return single_get_clear(op, slot, nr);
	if (op->kind == OP_START_COMMIT)
		return single_start_commit(op, slot, nr);
	for (i = 0; i < nr; i++) {
		if (single_step)
			single_step(i);
		if (present_only && !pte_present(ptep_get(slot_ptep(slot + i))))
			break;
		one = single_one(op, slot, i, tlb);
		result = present_only ? i + 1 : result | one;
	}
	return result;
}

/* Does the caller flush the range in any case, without a decision? */
static bool op_is_flushed(const struct op *op)
{
	switch (op->kind) {
	case OP_WRPROTECT:
	case OP_GET_CLEAR:
	case OP_GET_CLEAR_FULL:
	case OP_CLEAR:
	case OP_CLEAR_FULL:
	case OP_CYDP:
	case OP_START_COMMIT:
		return true;
	default:
		return false;
	}
}
