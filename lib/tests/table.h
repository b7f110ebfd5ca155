/* SPDX-License-Identifier: GPL-2.0 */
/* What tables hold, and when two of them are the same. */

#define STATUS_MAX 96
#define GUARD_RAW 0xdeadbeefdeadbeefUL

static u64 status[STATUS_MAX];
static unsigned int nr_status;

/* All combinations of the status bits that can exist. */
static void status_list(void)
{
	const unsigned int bits = ARRAY_SIZE(status_bits);
	unsigned int pick, i;

	nr_status = 0;
	for (pick = 0; pick < 1U << bits; pick++) {
		u64 value = 0;

		for (i = 0; i < bits; i++)
			value |= pick >> i & 1 ? status_bits[i] : 0;
		if (status_exists(value) && nr_status < STATUS_MAX)
			status[nr_status++] = value;
	}
}

static unsigned long slot_pfn(unsigned int slot)
{
	return HOST_PFN + HOST_SLOTS + slot;
}

static bool host_one_folio_pages(unsigned long pfn, unsigned int nr)
{
	const struct folio *folio;

	if (pfn < HOST_PFN || pfn + nr > HOST_PFN + HOST_PAGES)
		return false;
	folio = pfn_to_page(pfn)->folio;
	return folio && pfn_to_page(pfn + nr - 1)->folio == folio;
}

static inline bool host_one_folio(unsigned long pfn, unsigned int nr)
{
	return host_one_folio_pages(pfn, nr);
}

/**
 * struct outcome - all that an operation leaves
 * @table: the entries
 * @synced: pages that were synchronised with the instruction cache
 * @tlb: what the caller has to flush
 * @result: what was returned
 */
struct outcome {
	u64 table[HOST_SLOTS];
	bool synced[HOST_SLOTS];
	struct mmu_gather tlb;
	u64 result;
};

static struct outcome outcome_batched, outcome_single;

static void table_guard(void)
{
	unsigned int i;

	for (i = 0; i < HOST_GUARDS; i++) {
		mmu.area[i] = GUARD_RAW + i;
		mmu_table[HOST_SLOTS + i] = GUARD_RAW - i;
	}
}

static const char *table_guard_broken(void)
{
	unsigned int i;

	for (i = 0; i < HOST_GUARDS; i++)
		if (mmu.area[i] != GUARD_RAW + i ||
		    mmu_table[HOST_SLOTS + i] != GUARD_RAW - i)
			return "a guard was written";
	return NULL;
}

static void table_load(const u64 *table)
{
	memcpy(mmu_table, table, HOST_SLOTS * sizeof(*table));
}

#ifdef FORMAT_BLOCK
/*
 * Accessed and dirty of a block are one thing. Was it one at the start, or is
 * it one now?
 */
static bool table_block(const struct outcome *a, const struct outcome *b,
			unsigned int slot)
{
	const u64 any = a->table[slot] | b->table[slot] | initial[slot];
	const u64 valid = PTE_CONT | PTE_VALID;

	return (any & PTE_CONT) && (any & valid) == valid;
}

static u64 table_plain(u64 raw, bool merge)
{
	u64 gone = PTE_CONT;

	if (merge && pte_present(raw_pte(raw)))
		gone |= PTE_AF | PTE_DIRTY | PTE_RDONLY;
	return raw & ~gone;
}

static unsigned int table_state(const u64 *table, unsigned int slot, bool merge)
{
	const unsigned int first = merge ? slot & ~CONT_BLOCK_MASK : slot;
	unsigned int i, state = 0;

	if (!merge)
		return 0;
	for (i = first; i < first + CONT_PTES; i++) {
		const pte_t pte = raw_pte(table[i]);

		if (pte_present(pte) && pte_pfn(pte) - pte_pfn(raw_pte(table[slot])) ==
		    (unsigned long)i - slot)
			state |= pte_young(pte) | pte_dirty(pte) << 1;
	}
	return state;
}

static bool table_same(const struct outcome *a, const struct outcome *b,
		       unsigned int slot)
{
	const bool merge = table_block(a, b, slot & ~CONT_BLOCK_MASK) ||
			   table_block(a, b, slot | CONT_BLOCK_MASK);

	return table_plain(a->table[slot], merge) ==
	       table_plain(b->table[slot], merge) &&
	       table_state(a->table, slot, merge) == table_state(b->table, slot, merge);
}

static bool result_same(const struct op *op, u64 a, u64 b)
{
	if (op->kind != OP_GET_CLEAR && op->kind != OP_GET_CLEAR_FULL &&
	    op->kind != OP_START_COMMIT)
		return a == b;
	return table_plain(a, true) == table_plain(b, true) &&
	       pte_young(raw_pte(a)) == pte_young(raw_pte(b)) &&
	       pte_dirty(raw_pte(a)) == pte_dirty(raw_pte(b));
}
#else
static bool table_same(const struct outcome *a, const struct outcome *b,
		       unsigned int slot)
{
	return a->table[slot] == b->table[slot];
}

static bool result_same(const struct op *op, u64 a, u64 b)
{
	return a == b;
}
#endif

#ifndef FORMAT_BAD_TABLE
#define FORMAT_BAD_TABLE(table)	((void)(table), NULL)
#endif

#ifndef FORMAT_SYNC
#define FORMAT_SYNC()		((void)0)
#endif

#ifndef FORMAT_MARKED
#define FORMAT_MARKED(slot)	true
#endif

#ifndef FORMAT_NONE
#define FORMAT_NONE(kind)	true
#endif

#ifndef FORMAT_WARNS
#define FORMAT_WARNS(kind)	true
#endif

#ifndef FORMAT_RANGE_FLUSH
#define FORMAT_RANGE_FLUSH	false
#endif

/* What of an entry is compared where CPUs are at work. */
#ifndef FORMAT_ENTRY
#define FORMAT_ENTRY(raw)	(raw)
#endif

#ifndef FORMAT_FLUSHES_LOCAL
#define FORMAT_FLUSHES_LOCAL	false
#endif

/* Does a start leave an entry to the hardware, so that a step has two parts? */
#ifndef FORMAT_STARTS_LIVE
#define FORMAT_STARTS_LIVE	false
#endif

#ifndef MODE_STRIDE
#define MODE_STRIDE(mode)	1
#endif

#ifndef FORMAT_SAF_RACES
#define FORMAT_SAF_RACES	false
#endif

/* The caller's flush, as it was decided, or of the whole range. */
static void caller_flush(const struct op *op, unsigned int slot, unsigned int nr,
			 const struct mmu_gather *tlb)
{
	unsigned int i;

	FORMAT_SYNC();
	if (op_is_flushed(op))
		mmu_flush(slot_addr(slot), slot_addr(slot + nr), false);
	for (i = slot; i < slot + nr; i++)
		if (tlb->flush[i])
			mmu_flush(slot_addr(i), slot_addr(i + 1), false);
}

/* The kernel keeps one range, from the first page to flush to the last. */
static unsigned int tlb_edge(const struct mmu_gather *tlb, int step)
{
	unsigned int i = step > 0 ? 0 : HOST_SLOTS - 1;

	while (i < HOST_SLOTS && !tlb->flush[i])
		i += step;
	return i;
}

static bool tlb_same(const struct mmu_gather *a, const struct mmu_gather *b)
{
	return tlb_edge(a, 1) == tlb_edge(b, 1) && tlb_edge(a, -1) == tlb_edge(b, -1);
}

/* Is that synchronised which the loop does, before it may be executed now? */
static const char *not_synced(const struct outcome *batched,
			      const struct outcome *single)
{
	unsigned int i;

	for (i = 0; i < HOST_SLOTS; i++)
		if (single->synced[i] && !batched->synced[i] &&
		    hw.rights(batched->table[i]) & ~hw.rights(initial[i]) & HW_EXEC)
			return host_say("slot %u: %#lx became %#lx, with a stale instruction cache",
					i, initial[i], batched->table[i]);
	return NULL;
}

static const char *compare(const struct op *op, const struct outcome *batched,
			   const struct outcome *single)
{
	unsigned int i;

	if (!result_same(op, batched->result, single->result))
		return host_say("op %d flags %#x returned %#lx, not %#lx", op->kind,
				op->flags, batched->result, single->result);
	for (i = 0; i < HOST_SLOTS; i++) {
		if (!table_same(batched, single, i))
			return host_say("op %d flags %#x prot %#lx slot %u: %#lx: %#lx, not %#lx",
					op->kind, op->flags, pgprot_val(op->prot),
					i, initial[i], batched->table[i],
					single->table[i]);
	}
	if (!tlb_same(&batched->tlb, &single->tlb))
		return host_say("op %d flags %#x prot %#lx: flush %u to %u, not %u to %u",
				op->kind, op->flags, pgprot_val(op->prot),
				tlb_edge(&batched->tlb, 1),
				tlb_edge(&batched->tlb, -1),
				tlb_edge(&single->tlb, 1),
				tlb_edge(&single->tlb, -1));
	return not_synced(batched, single) ? : FORMAT_BAD_TABLE(batched->table);
}

static void outcome_save(struct outcome *outcome)
{
	memcpy(outcome->table, mmu_table, sizeof(outcome->table));
	memcpy(outcome->synced, mmu.synced, sizeof(outcome->synced));
}

static void run_one(const struct op *op, unsigned int slot, unsigned int nr,
		    struct outcome *outcome, bool batched)
{
	table_load(initial);
	mmu_start(&hw);
	memset(&outcome->tlb, 0, sizeof(outcome->tlb));
	outcome->result = (batched ? run_batched : run_single)(op, slot, nr,
							       &outcome->tlb);
	outcome_save(outcome);
}

/* Where no fault repairs a stale translation, whatever was added is flushed. */
static const char *access_not_flushed(unsigned int slot, unsigned int nr)
{
	unsigned int i;

	for (i = slot; i < slot + nr; i++)
		if (mmu_table[i] != initial[i] && !mmu.flushed[i])
			return host_say("slot %u: %#lx became %#lx, and was not flushed",
					i, initial[i], mmu_table[i]);
	return NULL;
}

/* Where somebody has to be told of changes, of all of them. */
static const char *change_not_marked(void)
{
	unsigned int i;

	for (i = 0; i < HOST_SLOTS; i++)
		if (mmu_table[i] != initial[i] && pte_present(raw_pte(initial[i])) &&
		    pte_present(raw_pte(mmu_table[i])) && !FORMAT_MARKED(i))
			return host_say("slot %u changed, and was not marked", i);
	return NULL;
}

/* The whole table both ways: entries, return value and flush decisions. */
static const char *run_both(const struct op *op, unsigned int slot,
			    unsigned int nr)
{
	const char *why;

	host_cases++;
	single_step = NULL;
	run_one(op, slot, nr, &outcome_single, false);
	FORMAT_SYNC();
	table_guard();
	run_one(op, slot, nr, &outcome_batched, true);
	why = mmu.bad ? mmu.bad : table_guard_broken();
	if (!why && op->kind == OP_ACCESS && SET_ACCESS_FLAGS_PTES_FLUSHES)
		why = access_not_flushed(slot, nr);
	if (!why && FORMAT_RANGE_FLUSH && mmu.flushes > 1 &&
	    (op->kind == OP_ACCESS || op->kind == OP_START_COMMIT))
		why = "a range was flushed page by page";
	if (!why)
		why = change_not_marked();
	FORMAT_SYNC();
	if (!why)
		why = compare(op, &outcome_batched, &outcome_single);
	return why;
}

static u64 random_status(void)
{
	return status[host_random() % nr_status];
}

static struct op random_op(enum op_kind kind)
{
	struct op op = {
		.kind = kind,
		.prot = prots[host_random() % ARRAY_SIZE(prots)],
		.reuse = host_random() & 1,
	};

	if (op_is_modprot(&op))
		op.flags = host_random() & MODPROT_ALL;
	else if (kind == OP_ACCESS)
		op.flags = host_random() & 7;
	else if (kind == OP_CYDP)
		op.flags = 1 + host_random() % 3;
	return op;
}
