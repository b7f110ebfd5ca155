/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two operations, and the flush that the first one asked for only after both:
 * the lock of the page table is given up between an operation and its caller's
 * flush, and a fault on another CPU may change entries meanwhile.
 */

/**
 * struct part - one of the two
 * @op: what is done
 * @slot: the first entry
 * @nr: how many
 * @single: by the dumb loop, as a fault handler of one entry does it
 */
struct part {
	struct op op;
	unsigned int slot;
	unsigned int nr;
	bool single;
};

static void part_run(const struct part *part)
{
	static u64 start[HOST_SLOTS];

	memcpy(start, mmu_table, sizeof(start));
	at_start = start;
	if (part->single)
		run_single(&part->op, part->slot, part->nr, &run_tlb);
	else
		run_batched(&part->op, part->slot, part->nr, &run_tlb);
	at_start = initial;
}

/* The table, and the accesses of CPUs that were chosen. */
static void pair_prepare(const struct part *pair)
{
	const unsigned int nr_events = mmu.nr_events;

	single_step = NULL;
	table_load(initial);
	mmu_start(&hw);
	mmu.nr_events = nr_events;
	mmu.trusting = op_bears_trust(&pair[0].op) && op_bears_trust(&pair[1].op);
	mmu_warm(0, HOST_SLOTS);
	memset(&run_tlb, 0, sizeof(run_tlb));
}

static const char *pair_say(const char *why, const struct part *pair)
{
	return host_say("%s: op %d flags %#x prot %#lx at %u+%u, then %d %#x %#lx at %u+%u%s",
			why, pair[0].op.kind, pair[0].op.flags,
			pgprot_val(pair[0].op.prot), pair[0].slot, pair[0].nr,
			pair[1].op.kind, pair[1].op.flags,
			pgprot_val(pair[1].op.prot), pair[1].slot, pair[1].nr,
			pair[1].single ? " singly" : "");
}

static const char *pair_try(const struct part *pair)
{
	const char *why;

	pair_prepare(pair);
	mmu_watched = true;
	part_run(&pair[0]);
	part_run(&pair[1]);
	mmu_watched = false;
	mmu_drain();
	why = mmu.bad;
	caller_flush(&pair[0].op, pair[0].slot, pair[0].nr, &run_tlb);
	caller_flush(&pair[1].op, pair[1].slot, pair[1].nr, &run_tlb);
	if (!why)
		why = mmu_check(0, HOST_SLOTS, true);
	if (!why)
		why = FORMAT_BAD_TABLE(mmu_table);
	if (!why)
		why = random_kept(&pair[0].op, pair[0].slot, pair[0].nr);
	return why;
}

/*
 * What goes wrong with the dumb loop as well is the tree's own: powerpc's makes
 * an entry PROT_NONE and, before the flush, valid with more rights than before.
 */
static const char *pair_run(const struct part *pair)
{
	struct part single[2] = { pair[0], pair[1] };
	const char *why;
	char text[96];

	random_events(pair->slot, pair->nr);
	host_cases++;
	why = pair_try(pair);
	if (!why)
		return NULL;
	snprintf(text, sizeof(text), "%s", why);
	single[0].single = true;
	single[1].single = true;
	why = pair_try(single);
	return why && !strcmp(why, text) ? NULL : pair_say(text, pair);
}

/* What keeps a page where it is, accessed and dirty included. */
static struct op pair_op(void)
{
	static const enum op_kind kinds[] = {
		OP_MODPROT, OP_MODPROT_RUN, OP_WRPROTECT, OP_ACCESS,
	};
	const unsigned int nr = ARRAY_SIZE(kinds) - FORMAT_SAF_RACES;

	return random_op(kinds[host_random() % nr]);
}

/* All present, in runs short and long. */
static void pair_fill(void)
{
	u64 kind = random_status();
	unsigned int i;

	make_folios();
	for (i = 0; i < HOST_SLOTS; i++) {
		if (!(host_random() % 8))
			kind = random_status();
		initial[i] = pte_raw(status_pte(slot_pfn(i), kind));
	}
	if (host_random() % 4)
		fill_blocks();
}

/* A range, and one that has an entry of it at least. */
static const char *pair_random(void)
{
	struct part pair[2] = {
		{ .op = pair_op() }, { .op = pair_op(), .single = host_random() & 1 },
	};

	pair[0].nr = 1 + host_random() % 64;
	pair[0].slot = host_random() % (HOST_SLOTS - pair[0].nr + 1);
	pair[1].slot = pair[0].slot + host_random() % pair[0].nr;
	pair[1].nr = 1 + host_random() % (HOST_SLOTS - pair[1].slot);
	pair[1].nr = host_random() & 1 ? 1 : min(pair[1].nr, 64U);
	pair_fill();
	return pair_run(pair);
}

#ifdef FORMAT_BLOCK
static const unsigned char pair_ranges[][2] = { { 0, 16 }, { 0, 5 }, { 5, 11 }, { 15, 1 } };

#define PAIR_WAYS 4

static struct part pair_part(unsigned int how, unsigned int range)
{
	static const enum op_kind kinds[PAIR_WAYS] = {
		OP_MODPROT, OP_MODPROT_RUN, OP_MODPROT_RUN, OP_START_COMMIT,
	};
	const unsigned int way = how % PAIR_WAYS, prot = how / PAIR_WAYS;

	return (struct part) {
		.op.kind = kinds[way],
		.op.prot = prots[prot],
		.op.flags = prot && way < 3 ? MODPROT_MKYOUNG : MODPROT_NONE,
		.slot = 96 + pair_ranges[range][0], .nr = pair_ranges[range][1],
		.single = way == 2,
	};
}

/* One block: every protection after every other, for a part of it or for all. */
static const char *pair_blocks(void)
{
	const unsigned int ways = PAIR_WAYS * ARRAY_SIZE(prots), nr = ARRAY_SIZE(pair_ranges);
	unsigned int kind, n;
	const char *why = NULL;
	struct part pair[2];

	make_folios();
	for (kind = 0; kind < BLOCK_KINDS; kind++) {
		block_fill(kind);
		for (n = 0; !why && n < ways * ways * nr * nr; n++) {
			if (skipped())
				continue;
			pair[0] = pair_part(n % ways, n / ways / ways % nr);
			pair[1] = pair_part(n / ways % ways, n / ways / ways / nr);
			/* It is for entries alike, which the first may change. */
			if (pair[1].op.kind == OP_START_COMMIT)
				continue;
			why = pair_run(pair);
		}
	}
	return why;
}
#else
static const char *pair_blocks(void)
{
	return NULL;
}
#endif

static const char *test_interleave_pairs(void)
{
	const char *why = pair_blocks();
	unsigned int i;

	for (i = 0; !why && i < 3000 / host_stride + 50; i++)
		why = pair_random();
	return why;
}
