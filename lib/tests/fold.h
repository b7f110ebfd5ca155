/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Blocks whose entries become alike, one by one or in one go: folded where the
 * dumb loop folds them, and never left in part changed.
 */

#ifdef FORMAT_BLOCK
#define FOLD_SLOT	128
#define FOLD_BLOCKS	3

/**
 * struct fold - what three blocks in a row hold
 * @status: of most entries, and of the others
 * @others: which those are, the same in each block
 * @folded: the blocks are folded already
 */
struct fold {
	u64 status[2];
	unsigned int others;
	bool folded;
};

/* After the first, what the hardware may change meanwhile, and may not. */
static const u64 fold_status[] = {
	PTE_RDONLY | PTE_AF,
	PTE_RDONLY,
	PTE_RDONLY | PTE_AF | PTE_UFFD_WP,
	PTE_RDONLY | PTE_AF | PTE_DIRTY,
	PTE_RDONLY | PTE_AF | PTE_WRITE,
	PTE_AF | PTE_WRITE,
};

/* The last entries are like their neighbours, or the first, or no two are. */
static const unsigned int fold_others[] = {
	0, 0x0001, 0x3fff, 0x5555, 0x8000, 0xff00,
};

static const int fold_flags[] = {
	MODPROT_NONE, MODPROT_MKYOUNG, MODPROT_MKWRITE, MODPROT_UFFD_WP,
	MODPROT_UFFD_WP_RESOLVE,
};

static const unsigned char fold_first[] = { 0, 1, 15 };
static const unsigned char fold_nr[] = { 1, 2, 15, 16, 17, 32, 33 };

/* One folio, so that nothing but the entries is in the way. */
static void fold_folio(void)
{
	static struct folio folio;
	unsigned int i;

	folio = (struct folio) {
		.page = mem_map, .nr = HOST_PAGES, .anon = true, .refs = 1, .mapcount = 1,
	};
	for (i = 0; i < HOST_PAGES; i++)
		mem_map[i] = (struct page) { .folio = &folio };
}

static void fold_fill(const struct fold *fold)
{
	const u64 base = PTE_VALID | PTE_UXN | (fold->folded ? PTE_CONT : 0);
	unsigned int i;

	memset(initial, 0, sizeof(initial));
	for (i = 0; i < FOLD_BLOCKS * CONT_PTES; i++) {
		const bool other = fold->others >> i % CONT_PTES & 1;
		const unsigned int slot = FOLD_SLOT + i;

		initial[slot] = pte_raw(status_pte(slot_pfn(slot), base | fold->status[other]));
	}
}

static const char *fold_try(const struct op *op, unsigned int slot, unsigned int nr)
{
	const char *why = run_both(op, slot, nr);
	unsigned int i;

	for (i = FOLD_SLOT; !why && i < FOLD_SLOT + FOLD_BLOCKS * CONT_PTES; i++)
		if (op->kind != OP_MODPROT &&
		    outcome_single.table[i] & ~outcome_batched.table[i] & PTE_CONT)
			why = host_say("op %d prot %#lx %u+%u: slot %u not folded: %#lx %#lx",
				       op->kind, pgprot_val(op->prot), slot, nr, i,
				       initial[i], outcome_batched.table[i]);
	return why;
}

static const char *fold_ranges(const struct op *op)
{
	const unsigned int all = ARRAY_SIZE(fold_first) * ARRAY_SIZE(fold_nr);
	const char *why = NULL;
	unsigned int n;

	for (n = 0; !why && n < all; n++)
		if (!skipped())
			why = fold_try(op, FOLD_SLOT + fold_first[n % ARRAY_SIZE(fold_first)],
				       fold_nr[n / ARRAY_SIZE(fold_first)]);
	return why;
}

static const char *fold_ops(void)
{
	static const enum op_kind kinds[] = {
		OP_MODPROT, OP_MODPROT_RUN, OP_MODPROT_TURNS,
	};
	const unsigned int nr = ARRAY_SIZE(kinds), nr_flags = ARRAY_SIZE(fold_flags);
	const char *why = NULL;
	unsigned int n;

	for (n = 0; !why && n < nr * nr_flags * ARRAY_SIZE(prots); n++) {
		const struct op op = {
			.kind = kinds[n % nr],
			.flags = fold_flags[n / nr % nr_flags],
			.prot = prots[n / nr / nr_flags],
		};

		why = fold_ranges(&op);
	}
	return why;
}

static const char *test_fold(void)
{
	const unsigned int nr = ARRAY_SIZE(fold_status), nr_others = ARRAY_SIZE(fold_others);
	const char *why = NULL;
	unsigned int n;

	fold_folio();
	for (n = 0; !why && n < nr * nr_others; n++) {
		const unsigned int others = fold_others[n / nr];
		const struct fold fold = {
			.status = { fold_status[0], fold_status[n % nr] },
			.others = others ? others : 0xffff,
			.folded = !others,
		};

		fold_fill(&fold);
		why = fold_ops();
	}
	return why;
}
#endif /* FORMAT_BLOCK */
