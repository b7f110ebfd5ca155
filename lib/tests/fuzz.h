/* SPDX-License-Identifier: GPL-2.0 */
/* One input of the fuzzer: an operation, a table, accesses of CPUs. */

/**
 * struct fuzz - how an input starts; what follows are the entries
 * @kind: the operation
 * @prot: which protection
 * @flags: of the operation
 * @slot: where it starts
 * @nr: how many entries
 * @nr_events: accesses of CPUs, and where in a block they are noted
 * @event: their places
 */
struct fuzz {
	u8 kind;
	u8 prot;
	u8 flags;
	u8 slot;
	u8 nr;
	u8 nr_events;
	u8 event[2 * MMU_EVENTS];
};

static struct op fuzz_op(const struct fuzz *fuzz)
{
	struct op op = {
		.kind = fuzz->kind % OP_KINDS,
		.prot = prots[fuzz->prot % ARRAY_SIZE(prots)],
		.flags = fuzz->flags & MODPROT_ALL,
		.reuse = fuzz->prot & 0x80,
	};

	if (op.kind == OP_ACCESS)
		op.flags &= 7;
	if (op.kind == OP_CYDP)
		op.flags = 1 + op.flags % 3;
	return op;
}

/* Each byte is an entry: its status, or that it maps nothing. */
static void fuzz_table(const struct op *op, unsigned int slot, unsigned int nr,
		       const u8 *data, size_t size)
{
	unsigned int i;

	for (i = 0; i < HOST_SLOTS; i++) {
		const unsigned int byte = size ? data[i % size] : i;
		const bool inside = i >= slot && i < slot + nr;
		u64 bits = status[byte % nr_status];
		bool absent = i != slot && byte == 255;

		if (inside && op->kind == OP_START_COMMIT)
			bits = status[(size ? data[0] : 0) % nr_status];
		if (inside && !op_is_modprot(op) && op->kind != OP_RUN)
			absent = op->kind == OP_SET || op->kind == OP_CLEAR_ABSENT;
		initial[i] = absent ? absent_raw(byte % 4) :
				      pte_raw(status_pte(slot_pfn(i), bits));
	}
}

static void fuzz_events(const struct fuzz *fuzz, unsigned int slot, unsigned int nr)
{
	unsigned int i, at = 0;

	mmu.nr_events = fuzz->nr_events % (MMU_EVENTS + 1);
	for (i = 0; i < mmu.nr_events; i++) {
		const u8 what = fuzz->event[2 * i + 1];

		at += fuzz->event[2 * i];
		mmu.event[i] = (struct mmu_event) {
			.at = at, .slot = slot + (what >> 3) % nr,
			.cpu = 1 + (what >> 2 & 1),
			.write = what & 1, .walk = what & 2,
			.spot = fuzz->nr_events / (MMU_EVENTS + 1),
		};
	}
}

static const char *fuzz_race(const struct fuzz *fuzz, const struct op *op,
			     unsigned int slot, unsigned int nr)
{
	const char *why;

	if (op->kind == OP_GET_CLEAR_FULL || op->kind == OP_CLEAR_FULL ||
	    op->kind == OP_SET || (op->kind == OP_ACCESS && FORMAT_SAF_RACES))
		return NULL;
	table_load(initial);
	mmu_start(&hw);
	mmu.trusting = op_bears_trust(op);
	mmu_warm(0, HOST_SLOTS);
	fuzz_events(fuzz, slot, nr);
	memset(&run_tlb, 0, sizeof(run_tlb));
	mmu_watched = true;
	run_batched(op, slot, nr, &run_tlb);
	mmu_watched = false;
	mmu_drain();
	why = mmu.bad;
	caller_flush(op, slot, nr, &run_tlb);
	if (!why)
		why = mmu_check(slot, nr, true);
	return why ? why : random_kept(op, slot, nr);
}

static const char *fuzz_one(const u8 *data, size_t size)
{
	struct fuzz fuzz = { };
	const size_t head = size < sizeof(fuzz) ? size : sizeof(fuzz);
	unsigned int slot, nr;
	const char *why;
	struct op op;

	memcpy(&fuzz, data, head);
	op = fuzz_op(&fuzz);
	slot = fuzz.slot * 2;
	nr = 1 + fuzz.nr % (HOST_SLOTS - slot);
	make_folios();
	fuzz_table(&op, slot, nr, data + head, size - head);
	why = run_both(&op, slot, nr);
	return why ? why : fuzz_race(&fuzz, &op, slot, nr);
}
