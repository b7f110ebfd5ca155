/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Batched is what the dumb loop leaves: all combinations of status bits in
 * short runs, all lengths with random contents.
 */

#define RUN_SLOT 100
#define RUN_MAX 3

/**
 * struct run - what each status is in each place, and has to become
 * @raw: the entry at the start
 * @want: what the dumb loop makes of it
 * @flush: whether it says that a flush is needed
 * @result: what it returns for the entry
 */
struct run {
	u64 raw[RUN_MAX][STATUS_MAX + 1];
	u64 want[RUN_MAX][STATUS_MAX + 1];
	bool flush[RUN_MAX][STATUS_MAX + 1];
	u64 result[RUN_MAX][STATUS_MAX + 1];
};

static struct run run;
static struct mmu_gather run_tlb;
static unsigned int skip_count;

/* A mode in which the code under test is another mode's is run in part. */
static unsigned int mode_stride = 1;

static bool skipped(void)
{
	const unsigned int stride = host_stride * mode_stride;

	return stride > 1 && skip_count++ % stride;
}

/* The last status is an entry that maps nothing. */
static void run_prepare(void)
{
	unsigned int i, s;

	memset(&run_tlb, 0, sizeof(run_tlb));
	memset(mmu_table, 0, HOST_SLOTS * sizeof(u64));
	mmu_start(&hw);
	for (i = 0; i < RUN_MAX; i++) {
		for (s = 0; s < nr_status; s++)
			run.raw[i][s] = pte_raw(status_pte(slot_pfn(RUN_SLOT + i), status[s]));
		run.raw[i][nr_status] = absent_raw(5);
	}
}

/* Entries are independent of each other, so each is worked out by itself. */
static void run_expect(const struct op *op)
{
	unsigned int i, s;

	for (i = 0; i < RUN_MAX; i++) {
		run.want[i][nr_status] = run.raw[i][nr_status];
		run.flush[i][nr_status] = false;
		for (s = 0; s < nr_status; s++) {
			mmu_table[RUN_SLOT + i] = run.raw[i][s];
			run_tlb.flush[RUN_SLOT + i] = false;
			run.result[i][s] = run_single(op, RUN_SLOT + i, 1, &run_tlb);
			run.want[i][s] = mmu_table[RUN_SLOT + i];
			run.flush[i][s] = run_tlb.flush[RUN_SLOT + i];
			mmu_table[RUN_SLOT + i] = 0;
		}
	}
}

static const char *run_wrong(const struct op *op, unsigned int i, unsigned int s)
{
	return host_say("op %d flags %#x prot %#lx entry %u: %#lx became %#lx/%d, not %#lx/%d",
			op->kind, op->flags, pgprot_val(op->prot), i,
			run.raw[i][s], mmu_table[RUN_SLOT + i],
			run_tlb.flush[RUN_SLOT + i], run.want[i][s],
			run.flush[i][s]);
}

static void run_fill(const unsigned int *pick, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		mmu_table[RUN_SLOT + i] = run.raw[i][pick[i]];
	memset(run_tlb.flush + RUN_SLOT, 0, RUN_MAX);
	/* Behind the end the run goes on, if anybody looks. */
	mmu_table[RUN_SLOT - 1] = run.raw[0][pick[0]];
	mmu_table[RUN_SLOT + nr] = pte_raw(pte_advance_pfn(raw_pte(run.raw[0][pick[0]]), nr));
	host_cases++;
}

/* The first edge that differs of what is to be flushed, from here to there. */
static unsigned int run_flush_differs(const bool *got, const bool *want)
{
	unsigned int first, last;

	for (first = 0; first < RUN_MAX && !got[first] && !want[first]; first++)
		;
	if (first == RUN_MAX || got[first] != want[first])
		return first;
	for (last = RUN_MAX - 1; !got[last] && !want[last]; last--)
		;
	return got[last] == want[last] ? RUN_MAX : last;
}

static const char *run_compare(const struct op *op, const unsigned int *pick,
			       unsigned int nr, unsigned int stop)
{
	const u64 behind = pte_raw(pte_advance_pfn(raw_pte(run.raw[0][pick[0]]), nr));
	bool flush[RUN_MAX] = { };
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const u64 want = i < stop ? run.want[i][pick[i]] : run.raw[i][pick[i]];

		flush[i] = i < stop && run.flush[i][pick[i]];
		if (mmu_table[RUN_SLOT + i] != want)
			return run_wrong(op, i, pick[i]);
	}
	i = run_flush_differs(run_tlb.flush + RUN_SLOT, flush);
	if (i < RUN_MAX)
		return run_wrong(op, i, pick[i]);
	if (mmu_table[RUN_SLOT - 1] != run.raw[0][pick[0]] ||
	    mmu_table[RUN_SLOT + nr] != behind)
		return "a neighbour was changed";
	return mmu.bad;
}

static const char *run_modprot(const struct op *op, const unsigned int *pick,
			       unsigned int nr)
{
	unsigned int stop = 1;
	u64 done;

	while (stop < nr && pick[stop] != nr_status)
		stop++;
	run_fill(pick, nr);
	done = run_batched(op, RUN_SLOT, nr, &run_tlb);
	if (done != stop)
		return host_say("%lu entries were handled, not %u", done, stop);
	return run_compare(op, pick, nr, stop);
}

static const char *run_modprot_all(const struct op *op)
{
	unsigned int pick[RUN_MAX];
	const char *why = NULL;

	run_expect(op);
	for (pick[0] = 0; pick[0] < nr_status; pick[0]++)
		for (pick[1] = 0; pick[1] <= nr_status; pick[1]++)
			for (pick[2] = 0; !why && pick[2] <= nr_status; pick[2]++)
				if (!skipped())
					why = run_modprot(op, pick, RUN_MAX);
	return why;
}

/*
 * Flags that mean something else: of two for uffd-wp the first wins, and what
 * refuses write access says nothing where none is given.
 */
static bool flags_distinct(int flags)
{
	const int uffd = MODPROT_UFFD_WP | MODPROT_UFFD_WP_RESOLVE;
	const int write = MODPROT_MKWRITE | MODPROT_MKWRITE_DIRTY;
	const int refuse = MODPROT_SOFT_DIRTY_WP | MODPROT_KEEP_UFFD_WP;

	if ((flags & uffd) == uffd || (flags & write) == write)
		return false;
	return flags & write || !(flags & refuse);
}

/* Runs of three: every combination of status bits, protection and flags. */
static const char *test_exhaustive_modprot(void)
{
	static const enum op_kind ways[] = {
		OP_MODPROT, OP_MODPROT_RUN, OP_MODPROT_TURNS,
	};
	const char *why = NULL;
	struct op op = { .kind = OP_MODPROT };
	unsigned int p;

	run_prepare();
	for (p = 0; p < ARRAY_SIZE(prots); p++) {
		op.prot = prots[p];
		for (op.flags = 0; !why && op.flags <= MODPROT_ALL; op.flags++) {
			if (!flags_distinct(op.flags))
				continue;
			op.reuse = !op.reuse;
			op.kind = ways[(__builtin_popcount(op.flags) + p) % 3];
			why = run_modprot_all(&op);
		}
	}
	return why;
}

/* Runs of one and two: every number that flags can be. */
static const char *test_exhaustive_flags(void)
{
	const unsigned int all = MODPROT_ALL + 1;
	unsigned int p, f, pick[RUN_MAX];
	struct op op = { .kind = OP_MODPROT };
	const char *why = NULL;

	run_prepare();
	for (p = 0; p < ARRAY_SIZE(prots) * all; p++) {
		op.prot = prots[p / all];
		op.flags = p % all;
		run_expect(&op);
		for (f = 0; !why && f < nr_status * (nr_status + 1); f++) {
			if (skipped())
				continue;
			pick[0] = f / (nr_status + 1);
			pick[1] = f % (nr_status + 1);
			why = run_modprot(&op, pick, pick[1] ? 2 : 1);
		}
	}
	return why;
}

static u64 run_result(const unsigned int *pick, unsigned int nr)
{
	u64 result = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		result |= run.result[i][pick[i]];
	return result;
}

static const char *run_present(const struct op *op, const unsigned int *pick)
{
	u64 result;

	run_fill(pick, RUN_MAX);
	result = run_batched(op, RUN_SLOT, RUN_MAX, &run_tlb);
	if (result != run_result(pick, RUN_MAX))
		return host_say("op %d flags %#x returned %#lx for %#lx %#lx %#lx",
				op->kind, op->flags, result, run.raw[0][pick[0]],
				run.raw[1][pick[1]], run.raw[2][pick[2]]);
	return run_compare(op, pick, RUN_MAX, RUN_MAX);
}

static const char *run_present_all(const struct op *op)
{
	unsigned int pick[RUN_MAX];
	const char *why = NULL;

	run_expect(op);
	for (pick[0] = 0; pick[0] < nr_status; pick[0]++)
		for (pick[1] = 0; pick[1] < nr_status; pick[1]++)
			for (pick[2] = 0; !why && pick[2] < nr_status; pick[2]++)
				if (!skipped())
					why = run_present(op, pick);
	return why;
}

/* set_access_flags_ptes(): every combination of status bits and flags. */
static const char *test_exhaustive_access(void)
{
	struct op op = { .kind = OP_ACCESS };
	const char *why = NULL;

	run_prepare();
	for (; !why && op.flags < 8; op.flags++)
		why = run_present_all(&op);
	return why;
}

/* The helpers that look at one entry after the other and return a bit. */
static const char *test_exhaustive_helpers(void)
{
	static const struct op ops[] = {
		{ .kind = OP_WRPROTECT }, { .kind = OP_CLEAR },
		{ .kind = OP_CLEAR_FULL }, { .kind = OP_YOUNG },
		{ .kind = OP_FLUSH_YOUNG },
		{ .kind = OP_CYDP, .flags = CYDP_CLEAR_YOUNG },
		{ .kind = OP_CYDP, .flags = CYDP_CLEAR_DIRTY },
		{ .kind = OP_CYDP, .flags = CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY },
	};
	const char *why = NULL;
	unsigned int i;

	run_prepare();
	for (i = 0; !why && i < ARRAY_SIZE(ops); i++)
		why = run_present_all(&ops[i]);
	return why;
}

/* Values alone: step, and what a status is made of. */
static const char *test_values(void)
{
	/* A frame so high that an output address takes all its 48 bits. */
	const unsigned long high = 1UL << 35 | HOST_PFN;
	unsigned int s, nr;

	for (s = 0; s < nr_status; s++) {
		const pte_t pte = status_pte(high, status[s]);

		for (nr = 0; nr < HOST_SLOTS; nr++) {
			host_cases++;
			if (pte_val(pte_advance_pfn(pte, nr)) !=
			    pte_val(status_pte(high + nr, status[s])))
				return host_say("%#lx steps by %u to %#lx",
						pte_val(pte), nr,
						pte_val(pte_advance_pfn(pte, nr)));
		}
		if (!pte_present(pte) || pte_present(raw_pte(absent_raw(s))))
			return "present is not told from absent";
		if (pte_pfn(pte) != high)
			return "the frame is not what was put in";
	}
	return NULL;
}

/* A status that an entry of a folio may have. */
static u64 folio_status(void)
{
	u64 bits;

	do {
		bits = random_status();
	} while (pte_special(status_pte(HOST_PFN, bits)));
	return bits;
}

/* What may stand in the range, by the contract of each helper. */
static void fill_range(const struct op *op, unsigned int slot, unsigned int nr)
{
	const u64 same = folio_status();
	unsigned int i, runs = host_random() % 3;
	u64 kind = same;

	for (i = 0; i < nr; i++) {
		unsigned long pfn = slot_pfn(slot + i);

		/* Long runs alike, short ones, and no two alike. */
		if (!runs || (runs == 1 && !(host_random() % 8)))
			kind = random_status();
		if (op->kind == OP_SET || op->kind == OP_CLEAR_ABSENT) {
			initial[slot + i] = absent_raw(host_random() % 50);
			continue;
		}
		if (op->kind == OP_START_COMMIT)
			kind = same;
		if (op_is_modprot(op) && !(host_random() % 16))
			pfn += host_random() % 512;
		initial[slot + i] = pte_raw(status_pte(pfn, kind));
		if (i && (op_is_modprot(op) || op->kind == OP_RUN) &&
		    !(host_random() % 97))
			initial[slot + i] = absent_raw(host_random() % 3);
	}
}

#ifdef FORMAT_BLOCK
/* Make folded blocks of some that may be one; in folios only, where asked. */
static void fill_some_blocks(bool in_folios)
{
	unsigned int first, i;

	for (first = 0; first < HOST_SLOTS; first += CONT_PTES) {
		u64 bits = random_status();
		pte_t pte = status_pte(slot_pfn(first), bits);

		if (host_random() % 2 || !pte_valid(pte) || pte_special(pte))
			continue;
		if (in_folios && !host_one_folio(pte_pfn(pte), CONT_PTES))
			continue;
		for (i = 0; i < CONT_PTES; i++) {
			pte_t one = pte_mkcont(pte_advance_pfn(pte, i));

			if (!(host_random() % 8))
				one = pte_mkyoung(one);
			if (!(host_random() % 8) && pte_write(one))
				one = arm64_clear(one, PTE_RDONLY);
			initial[first + i] = pte_raw(one);
		}
	}
}
#else
static void fill_some_blocks(bool in_folios)
{
}
#endif

static void fill_blocks(void)
{
	fill_some_blocks(false);
}

static void fill_blocks_in_folios(void)
{
	fill_some_blocks(true);
}

static void fill_table(const struct op *op, unsigned int slot, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < HOST_SLOTS; i++)
		initial[i] = pte_raw(status_pte(slot_pfn(i), random_status()));
	/* The tree's own helper makes whole blocks old or clean, the loop does not. */
	if (op->kind != OP_SET && op->kind != OP_CLEAR_ABSENT &&
	    op->kind != OP_START_COMMIT && op->kind != OP_CYDP && host_random() & 1)
		fill_blocks();
	else
		fill_range(op, slot, nr);
}

/* Pages of folios large and small, so that blocks may or may not be folded. */
static struct folio folios[HOST_PAGES];

static void make_folios(void)
{
	unsigned int at = 0, nr_folios = 0, i;

	while (at < HOST_PAGES) {
		struct folio *folio = &folios[nr_folios++];
		const unsigned int order = host_random() % 10;
		unsigned int nr = host_random() & 1 ? 1 : 1U << order;

		while (at & (nr - 1))
			nr /= 2;
		*folio = (struct folio) {
			.page = mem_map + at, .nr = nr, .anon = host_random() % 8,
			.refs = 1, .mapcount = 1,
		};
		for (i = 0; i < nr; i++)
			mem_map[at + i] = (struct page) {
				.flags = host_random() & BIT(PG_anon_exclusive),
				.folio = folio,
			};
		at += nr;
	}
}

static const char *test_length(enum op_kind kind, unsigned int slot, unsigned int nr)
{
	const struct op op = random_op(kind);

	if (skipped())
		return NULL;
	make_folios();
	fill_table(&op, slot, nr);
	return run_both(&op, slot, nr);
}

/* Every length up to a table, everywhere in the table, of everything. */
static const char *test_lengths(void)
{
	const char *why = NULL;
	unsigned int nr, slot, kind;

	for (kind = 0; kind < OP_KINDS; kind++) {
		for (nr = 1; !why && nr <= HOST_SLOTS; nr++) {
			slot = host_random() % (HOST_SLOTS - nr + 1);
			why = test_length(kind, slot, nr);
		}
		for (slot = 0; !why && slot < HOST_SLOTS; slot++)
			why = test_length(kind, slot, 1 + host_random() % (HOST_SLOTS - slot));
	}
	return why;
}

/* The pair by halves: what the second one gets is a value that may be set. */
static void none_start_commit(const struct op *op)
{
	const pte_t pte = raw_pte(initial[0]);

	modify_prot_start_ptes(&vma, slot_addr(0), slot_ptep(0), 0);
	modify_prot_commit_ptes(&vma, slot_addr(0), slot_ptep(0), pte,
				pte_modify(pte, op->prot), 0);
}

/* A range of no entries: a warning, and nothing is done. */
static const char *test_none(void)
{
	unsigned int kind;

	for (kind = 0; kind < OP_KINDS; kind++) {
		const struct op op = random_op(kind);
		pte_t old = __pte(0), new = __pte(0);

		fill_table(&op, 0, 8);
		table_load(initial);
		mmu_start(&hw);
		host_warnings = 0;
		if (op_is_modprot(&op)) {
			if (modify_prot_ptes(&vma, slot_addr(0), slot_ptep(0), 0,
					     op.prot, op.flags, &old, &new))
				return "modify_prot_ptes() did something with nothing";
		} else if (!FORMAT_NONE(kind)) {
			continue;
		} else if (kind == OP_START_COMMIT) {
			none_start_commit(&op);
		} else {
			run_batched(&op, 0, 0, &run_tlb);
		}
		if (mmu.bad)
			return host_say("op %u: %s", kind, mmu.bad);
		if (memcmp(initial, mmu_table, sizeof(initial)))
			return host_say("op %u changed an entry of none", kind);
		if (!host_warnings && FORMAT_WARNS(kind))
			return host_say("op %u did not warn", kind);
		host_cases++;
	}
	return NULL;
}
