/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The helpers against threads that walk the table, for real. Nothing that a
 * walker has set may be lost, and the sanitizer sees every access.
 */

static const struct op thread_ops[] = {
	{ .kind = OP_MODPROT, .flags = MODPROT_NONE },
	{ .kind = OP_MODPROT, .flags = MODPROT_MKWRITE | MODPROT_MKYOUNG },
	{ .kind = OP_ACCESS, .flags = SAF_WRITE },
	{ .kind = OP_WRPROTECT },
	{ .kind = OP_GET_CLEAR },
};

static const char *threads_lost(const struct op *op, unsigned int slot,
				unsigned int nr, u64 result)
{
	bool young = pte_young(raw_pte(result)), dirty = pte_dirty(raw_pte(result));
	unsigned int i;

	for (i = slot; i < slot + nr; i++) {
		const pte_t was = raw_pte(initial[i]);
		const u64 seen = mmu_threads_seen(i);

		if (op->kind != OP_GET_CLEAR) {
			young = pte_young(slot_get(i));
			dirty = pte_dirty(slot_get(i));
		}
		if (((pte_young(was) || seen & 1) && !young) ||
		    ((pte_dirty(was) || seen & 2) && !dirty))
			return host_say("op %d flags %#x slot %u: %#lx became %#lx, seen %lu",
					op->kind, op->flags, i, pte_val(was),
					pte_val(slot_get(i)), seen);
	}
	return NULL;
}

static const char *threads_one(struct op op)
{
	const unsigned int nr = 16 + host_random() % 32;
	const unsigned int slot = host_random() % (HOST_SLOTS - nr);
	u64 result;

	op.prot = prots[host_random() % ARRAY_SIZE(prots)];
	op.reuse = true;
	fill_table(&op, slot, nr);
	table_load(initial);
	mmu_start(&hw);
	memset(&run_tlb, 0, sizeof(run_tlb));
	mmu_threads_start(&hw, slot, nr);
	result = run_batched(&op, slot, nr, &run_tlb);
	mmu_threads_stop();
	host_cases++;
	return mmu.bad ? mmu.bad : threads_lost(&op, slot, nr, result);
}

static const char *test_threads(void)
{
	const unsigned int rounds = 200 / host_stride + 100;
	const u64 before = mmu_threads_count();
	const char *why = NULL;
	unsigned int i;

	make_folios();
	for (i = 0; !why && i < rounds; i++) {
		const struct op *op = &thread_ops[i % ARRAY_SIZE(thread_ops)];

		if (op->kind != OP_ACCESS || !FORMAT_SAF_RACES)
			why = threads_one(*op);
	}
	if (!why && !hw.no_walker && mmu_threads_count() == before)
		why = "no walker has set anything";
	return why;
}
