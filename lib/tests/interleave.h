/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All interleavings of a helper's memory accesses with those of the CPUs.
 *
 * The helper is run again and again, each time with the CPUs' accesses at
 * other places between its own, until all places have been tried. What it
 * leaves has to be what some serial order of the single-PTE loop leaves, and no
 * TLB may allow, after the caller's flush, what the table does not.
 *
 * A serial order may leave an access out that faulted: all it does is that the
 * TLB knows the page no more. One that went through, or that left something in
 * the table, has to be there.
 */

#define EVENTS_MAX 2
#define SERIAL_MAX 4096

/**
 * struct scene - what happens where
 * @op: the helper
 * @slot: the first entry
 * @nr: how many
 * @event: the CPUs' accesses, in order
 * @nr_events: how many
 * @serial: what serial orders leave, as one number each
 * @nr_serial: how many
 */
struct scene {
	struct op op;
	unsigned int slot;
	unsigned int nr;
	struct mmu_event event[EVENTS_MAX];
	unsigned int nr_events;
	u64 serial[SERIAL_MAX];
	unsigned int nr_serial;
};

static struct scene scene;

/*
 * Only the entries in question are loaded and looked at, this runs often: the
 * range, or the block that it is a part of.
 */
static unsigned int scene_first(void)
{
#ifdef FORMAT_BLOCK
	if (initial[scene.slot] & PTE_CONT)
		return scene.slot & ~CONT_BLOCK_MASK;
#endif
	return scene.slot;
}

static unsigned int scene_end(void)
{
#ifdef FORMAT_BLOCK
	if (initial[scene.slot] & PTE_CONT)
		return (scene.slot | CONT_BLOCK_MASK) + 1;
#endif
	return scene.slot + scene.nr;
}

static void scene_load(void)
{
	const unsigned int first = scene_first(), end = scene_end();
	unsigned int cpu;

	FORMAT_SYNC();
	memcpy(mmu_table + first, initial + first, (end - first) * sizeof(u64));
	for (cpu = 0; cpu < HOST_CPUS; cpu++)
		memset(mmu.tlb[cpu] + first, 0, (end - first) * sizeof(mmu.tlb[0][0]));
	memset(mmu.last + first, 0, (end - first) * sizeof(u64));
	memset(mmu.clean + first, 0, end - first);
	memset(run_tlb.flush + first, 0, end - first);
	mmu.next = 0;
	mmu.accesses = 0;
	mmu.pending = -1;
	mmu.happened = 0;
	memset(mmu.seen + first, 0, end - first);
	mmu.bad = NULL;
	mmu_warm(scene.slot, scene.nr);
}

static u64 mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15UL;
	return hash ^ hash >> 29;
}

#ifdef FORMAT_BLOCK
static u64 scene_entry(unsigned int slot)
{
	unsigned int i, state = 0;
	const u64 raw = mmu_table[slot];

	if (!(initial[slot] & PTE_CONT))
		return raw & ~PTE_CONT;
	for (i = slot & ~CONT_BLOCK_MASK; i <= (slot | CONT_BLOCK_MASK); i++)
		state |= pte_young(raw_pte(mmu_table[i])) |
			 pte_dirty(raw_pte(mmu_table[i])) << 1;
	return table_plain(raw, true) ^ state;
}

static u64 scene_result(u64 result)
{
	const bool value = scene.op.kind == OP_GET_CLEAR ||
			   scene.op.kind == OP_GET_CLEAR_FULL;

	if (!value || !(initial[scene.slot] & PTE_CONT))
		return result & ~PTE_CONT;
	return table_plain(result, true) ^ pte_young(raw_pte(result)) ^
	       pte_dirty(raw_pte(result)) << 1;
}
#else
static u64 scene_entry(unsigned int slot)
{
	/* Where a hash entry is, and whether, is up to the CPUs. */
	return FORMAT_ENTRY(mmu_table[slot]);
}

static u64 scene_result(u64 result)
{
	return scene.op.kind == OP_GET_CLEAR || scene.op.kind == OP_GET_CLEAR_FULL ?
	       FORMAT_ENTRY(result) : result;
}
#endif

/*
 * All that is compared, in one number. Whether set_access_flags_ptes() sees a
 * change may depend on what a CPU set meanwhile.
 */
static u64 scene_hash(u64 result)
{
	u64 hash = mix(mmu.happened, scene.op.kind == OP_ACCESS ? 0 : scene_result(result));
	unsigned int i;

	for (i = scene.slot; i < scene.slot + scene.nr; i++)
		hash = mix(hash, scene_entry(i));
	return hash;
}

static unsigned int serial_skip;

/* Accesses up to a place. */
static void serial_events(unsigned int until)
{
	while (mmu.next < scene.nr_events && scene.event[mmu.next].at <= until) {
		if (serial_skip >> mmu.next & 1)
			mmu_evict(&scene.event[mmu.next]);
		else if (mmu_access(&scene.event[mmu.next]))
			mmu.happened |= 1U << mmu.next;
		if (mmu.pending >= 0) {
			mmu_table[mmu.pending] = hw.finish(mmu_table[mmu.pending]);
			mmu.pending = -1;
		}
		mmu.next++;
	}
}

/* Accesses that come before entry @i is changed, and after all was begun. */
static void serial_step(unsigned int i)
{
	serial_events(i + 1);
}

/* To take a block apart is a step of its own, where it is done. */
#ifdef FORMAT_BLOCK
static bool serial_unfold;

/* Nothing but blocks is taken apart. */
static bool op_unfolds(void)
{
	return initial[scene.slot] & PTE_CONT && scene.op.kind != OP_YOUNG &&
	       scene.op.kind != OP_FLUSH_YOUNG;
}

static void serial_first(void)
{
	serial_events(0);
	if (serial_unfold)
		cont_unfold_edges(&mm, slot_addr(scene.slot),
				  slot_ptep(scene.slot), scene.nr);
}
#else
static void serial_first(void)
{
	serial_events(0);
}
#endif

static bool serial_known(u64 hash)
{
	unsigned int i;

	for (i = 0; i < scene.nr_serial; i++)
		if (scene.serial[i] == hash)
			return true;
	return false;
}

static void serial_run(void)
{
	u64 result, hash;

	scene_load();
	single_step = serial_step;
	serial_first();
	result = run_single(&scene.op, scene.slot, scene.nr, &run_tlb);
	serial_events(~0U);
	single_step = NULL;
	hash = scene_hash(result);
	if (!serial_known(hash) && scene.nr_serial < SERIAL_MAX)
		scene.serial[scene.nr_serial++] = hash;
}

/* Is one place as good as another? All that is left of it is what a TLB forgot. */
static bool serial_left_out(unsigned int event)
{
	return event >= scene.nr_events || serial_skip >> event & 1;
}

/*
 * All serial orders, with any of the accesses left out. Where that happens makes
 * no difference: no single-PTE helper looks into a TLB, and for the other access
 * the order of the two remains.
 */
static void serial_orders(void)
{
	struct mmu_event *event = scene.event;
	const unsigned int last = scene.nr + 1;

	for (serial_skip = 0; serial_skip < 1U << scene.nr_events; serial_skip++) {
		event[0].at = 0;
		do {
			event[1].at = event[0].at;
			do {
				serial_run();
			} while (!serial_left_out(1) && event[1].at++ < last);
		} while (!serial_left_out(0) && event[0].at++ < last);
	}
}

static void serial_all(void)
{
	scene.nr_serial = 0;
#ifdef FORMAT_BLOCK
	serial_unfold = false;
	serial_orders();
	serial_unfold = true;
	if (op_unfolds())
		serial_orders();
#else
	serial_orders();
#endif
}

static void event_say(char *text, size_t size, const struct mmu_event *event)
{
	snprintf(text, size, "CPU %u %s page %u%s at %u, noted %u on", event->cpu,
		 event->write ? "writes" : "reads", event->slot,
		 event->walk ? "" : " by its TLB", event->at, event->spot);
}

static const char *scene_say(const char *why)
{
	static char text[96], first[64], second[64];

	snprintf(text, sizeof(text), "%s", why);
	event_say(first, sizeof(first), &mmu.event[0]);
	event_say(second, sizeof(second), &mmu.event[1]);
	return host_say("%s: op %d flags %#x prot %#lx on %#lx %#lx..: %s, %s",
			text, scene.op.kind, scene.op.flags,
			pgprot_val(scene.op.prot), initial[scene.slot],
			initial[scene.slot + 1], first, second);
}

/* Accessed and dirty only come: what was there is there, or was returned. */
static const char *random_kept(const struct op *op, unsigned int slot, unsigned int nr)
{
	unsigned int i;

	if (!op_is_modprot(op) && op->kind != OP_ACCESS && op->kind != OP_WRPROTECT)
		return NULL;
	for (i = slot; i < slot + nr; i++) {
		const pte_t was = raw_pte(initial[i]);
		const pte_t is = ptep_get(slot_ptep(i));

		if (!pte_present(was))
			return NULL;
		if (((pte_young(was) || mmu.seen[i] & 1) && !pte_young(is)) ||
		    ((pte_dirty(was) || mmu.seen[i] & 2) && !pte_dirty(is)))
			return host_say("slot %u: %#lx became %#lx", i, pte_val(was), pte_val(is));
	}
	return NULL;
}

/* The pair gives one entry's bits to all, and Xen PV's start clears nothing. */
static bool scene_is_serial(void)
{
	return scene.op.kind != OP_START_COMMIT && !FORMAT_STARTS_LIVE;
}

/* One interleaving. */
static const char *scene_run(void)
{
	const char *why;
	u64 result, hash;

	scene_load();
	memcpy(mmu.event, scene.event, sizeof(scene.event));
	mmu.nr_events = scene.nr_events;
	mmu_watched = true;
	result = run_batched(&scene.op, scene.slot, scene.nr, &run_tlb);
	mmu_watched = false;
	mmu_drain();
	hash = scene_hash(result);
	why = mmu.bad;
	caller_flush(&scene.op, scene.slot, scene.nr, &run_tlb);
	host_cases++;
	if (!why)
		why = mmu_check(scene.slot, scene.nr, true);
	if (!why && scene_is_serial() && !serial_known(hash))
		why = "no serial order of single entries leaves this";
	if (!why && !scene_is_serial())
		why = random_kept(&scene.op, scene.slot, scene.nr);
	mmu.nr_events = 0;
	return why ? scene_say(why) : NULL;
}

/* All places for the second access from the first one's on. */
static const char *scene_places(unsigned int *accesses)
{
	struct mmu_event *event = scene.event;
	const char *why;

	event[1].at = event[0].at;
	do {
		why = scene_run();
		*accesses = mmu.accesses;
	} while (!why && scene.nr_events > 1 && event[1].at++ < *accesses);
	return why;
}

static const char *scene_all(void)
{
	unsigned int accesses = 0;
	const char *why;

	if (scene_is_serial())
		serial_all();
	scene.event[0].at = 0;
	do {
		why = scene_places(&accesses);
	} while (!why && scene.event[0].at++ < accesses);
	return why;
}

static const struct op scene_ops[] = {
	{ .kind = OP_MODPROT, .flags = 0 },
	{ .kind = OP_MODPROT, .flags = MODPROT_MKYOUNG },
	{ .kind = OP_MODPROT, .flags = MODPROT_MKWRITE },
	{ .kind = OP_MODPROT, .flags = MODPROT_MKWRITE_DIRTY },
	{ .kind = OP_MODPROT_RUN, .flags = 0 },
	{ .kind = OP_MODPROT_RUN, .flags = MODPROT_MKYOUNG },
	{ .kind = OP_MODPROT_RUN, .flags = MODPROT_MKWRITE },
	{ .kind = OP_MODPROT_RUN, .flags = MODPROT_MKWRITE_DIRTY },
	{ .kind = OP_MODPROT_TURNS, .flags = 0 },
	{ .kind = OP_ACCESS, .flags = SAF_WRITE },
	{ .kind = OP_ACCESS, .flags = SAF_WRITE | SAF_DIRTY | SAF_YOUNG },
	{ .kind = OP_ACCESS, .flags = SAF_YOUNG },
	{ .kind = OP_WRPROTECT },
	{ .kind = OP_GET_CLEAR },
	{ .kind = OP_CLEAR },
	{ .kind = OP_CYDP, .flags = CYDP_CLEAR_YOUNG },
	{ .kind = OP_CYDP, .flags = CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY },
	{ .kind = OP_YOUNG },
	{ .kind = OP_FLUSH_YOUNG },
	{ .kind = OP_START_COMMIT },
};

/* Which of them, and with which protection, by one number. */
static bool scene_op(unsigned int number)
{
	const unsigned int nr = ARRAY_SIZE(scene_ops);

	if (number >= nr * ARRAY_SIZE(prots))
		return false;
	scene.op = scene_ops[number % nr];
	scene.op.prot = prots[number / nr];
	scene.op.reuse = true;
	mmu.trusting = op_bears_trust(&scene.op);
	if (scene.op.kind == OP_ACCESS && FORMAT_SAF_RACES)
		return false;
	if (number >= nr)
		return op_is_modprot(&scene.op) || scene.op.kind == OP_START_COMMIT;
	return true;
}

/* Status bits that the hardware looks at; what is invalid to it, twice. */
static unsigned int hot[STATUS_MAX], nr_hot;

static void hot_list(void)
{
	unsigned int s, invalid = 0;

	nr_hot = 0;
	for (s = 0; s < nr_status; s++) {
		const u64 raw = pte_raw(status_pte(HOST_PFN, status[s]));

		if (FORMAT_COLD(status[s]) || (!hw.rights(raw) && ++invalid > 2))
			continue;
		hot[nr_hot++] = s;
	}
}

static void scene_fill(const unsigned int *pick)
{
	unsigned int i;

	memset(initial, 0, sizeof(initial));
	for (i = 0; i < scene.nr; i++)
		initial[scene.slot + i] = pte_raw(status_pte(slot_pfn(scene.slot + i),
							     status[hot[pick[i]]]));
}

static struct mmu_event scene_event(unsigned int kind, unsigned int place, unsigned int cpu)
{
	return (struct mmu_event) {
		.slot = scene.slot + place, .cpu = cpu,
		.write = kind & 1, .walk = kind & 2,
	};
}

static const char *scene_one_event(void)
{
	const char *why = NULL;
	unsigned int e;

	scene.nr_events = 1;
	memset(scene.event, 0, sizeof(scene.event));
	for (e = 0; !why && e < 4 * scene.nr; e++) {
		scene.event[0] = scene_event(e % 4, e / 4, 1);
		why = scene_all();
	}
	return why;
}

/*
 * By symmetry the first access is that of one CPU. The second one is another
 * CPU's; and the same one's where that is not the same by itself: it goes by what
 * its TLB has of this very page. A walk finds the table whoever makes it, and by
 * another CPU it leaves the first one's TLB as it is, which is more to be wrong.
 */
static bool second_is_anybodys(void)
{
	return scene.event[1].walk || scene.event[1].slot != scene.event[0].slot;
}

static const char *scene_two_events(void)
{
	const unsigned int nr = 4 * scene.nr;
	const char *why = NULL;
	unsigned int e;

	scene.nr_events = 2;
	for (e = 0; !why && e < nr * nr; e++) {
		scene.event[0] = scene_event(e % 4, e / 4 % scene.nr, 1);
		scene.event[1] = scene_event(e / nr % 4, e / nr / 4 % scene.nr, 2);
		why = scene_all();
		if (why || second_is_anybodys())
			continue;
		scene.event[1].cpu = 1;
		why = scene_all();
	}
	return why;
}

/* The pair's contract: all alike, but for accessed and dirty. */
static bool scene_allowed(void)
{
	const pte_t first = raw_pte(initial[scene.slot]);
	unsigned int i;

	for (i = 1; scene.op.kind == OP_START_COMMIT && i < scene.nr; i++) {
		const u64 raw = initial[scene.slot + i];

		if (hw.rights(raw) != hw.rights(pte_raw(first)) ||
		    pte_protnone(raw_pte(raw)) != pte_protnone(first))
			return false;
	}
	return true;
}

/* Digit @i of @number in base @base. */
static unsigned int digit(unsigned int number, unsigned int i, unsigned int base)
{
	while (i--)
		number /= base;
	return number % base;
}

static const char *scene_runs(unsigned int nr, const char *(*events)(void))
{
	unsigned int number, n, all = 1, i, pick[RUN_MAX];
	const char *why = NULL;

	hot_list();
	mmu_start(&hw);
	memset(mmu_table, 0, HOST_SLOTS * sizeof(u64));
	scene.slot = RUN_SLOT;
	scene.nr = nr;
	for (i = 0; i < nr; i++)
		all *= nr_hot;
	for (number = 0; number < ARRAY_SIZE(scene_ops) * ARRAY_SIZE(prots); number++) {
		if (!scene_op(number))
			continue;
		for (n = 0; !why && n < all; n++) {
			if (skipped())
				continue;
			for (i = 0; i < nr; i++)
				pick[i] = digit(n, i, nr_hot);
			scene_fill(pick);
			if (scene_allowed())
				why = events();
		}
	}
	return why;
}

#ifdef FORMAT_BLOCK
/*
 * One block, or a part of it: accessed and dirty are in one entry or none; last,
 * accessed is in all.
 */
#define BLOCK_KINDS 10

static void block_fill(unsigned int kind)
{
	const u64 base = PTE_VALID | PTE_UXN | (kind & 1 ? PTE_WRITE : 0);
	unsigned int i;

	memset(initial, 0, sizeof(initial));
	for (i = 0; i < CONT_PTES; i++) {
		u64 bits = base | PTE_CONT | PTE_RDONLY;

		if (kind & 8 || (kind & 2 && i == 5))
			bits |= PTE_AF;
		if (kind & 4 && i == 9)
			bits = kind & 1 ? bits & ~PTE_RDONLY : bits | PTE_DIRTY;
		initial[96 + i] = pte_raw(status_pte(slot_pfn(96 + i), bits));
	}
}

static const char *block_events(unsigned int nr_events)
{
	static const unsigned char places[] = { 0, 3, 15 };
	const unsigned int nr = 4 * ARRAY_SIZE(places);
	const unsigned int all = nr_events > 1 ? nr * nr : 2 * nr;
	const char *why = NULL;
	unsigned int e;

	scene.nr_events = nr_events;
	for (e = 0; !why && e < all; e++) {
		if (nr_events > 1 && host_random() % 256)
			continue;
		scene.event[0] = scene_event(e % 4, places[e % nr / 4], 1);
		scene.event[0].slot = 96 + places[e % nr / 4];
		/* In the entry itself, or in one of the range that is another. */
		scene.event[0].spot = nr_events > 1 ? host_random() & 15 : e / nr * 4;
		scene.event[1] = scene_event(e / nr % 4, 0, 2);
		scene.event[1].slot = 96 + places[e / nr / 4 % ARRAY_SIZE(places)];
		why = scene_all();
	}
	return why;
}

static const char *scene_blocks(unsigned int nr_events)
{
	static const unsigned char ranges[][2] = { { 0, 16 }, { 0, 5 }, { 5, 11 }, { 3, 4 } };
	unsigned int number, kind, range;
	const char *why = NULL;

	host_seed(nr_events);
	make_folios();
	for (number = 0; number < ARRAY_SIZE(scene_ops) * ARRAY_SIZE(prots); number++) {
		if (!scene_op(number))
			continue;
		for (kind = 0; kind < BLOCK_KINDS * ARRAY_SIZE(ranges); kind++) {
			/* The tree's own helper widens the range to the block. */
			if (why || skipped() || scene.op.kind == OP_CYDP)
				continue;
			range = kind / BLOCK_KINDS;
			block_fill(kind % BLOCK_KINDS);
			scene.slot = 96 + ranges[range][0];
			scene.nr = ranges[range][1];
			why = block_events(nr_events);
		}
	}
	return why;
}
#else
static const char *scene_blocks(unsigned int nr_events)
{
	return NULL;
}
#endif

/* Three entries, one access of a CPU. */
static const char *test_interleave_one(void)
{
	const char *why = scene_runs(3, scene_one_event);

	return why ? why : scene_blocks(1);
}

/* Two entries, two accesses of one CPU or of two. */
static const char *test_interleave_two(void)
{
	const char *why = scene_runs(2, scene_two_events);

	return why ? why : scene_blocks(2);
}

/*
 * Long runs, many accesses at random places: no serial orders here, but no
 * accessed or dirty bit may be lost and no right kept.
 */
static void random_events(unsigned int slot, unsigned int nr)
{
	unsigned int i, at = 0;

	mmu.nr_events = 1 + host_random() % MMU_EVENTS;
	for (i = 0; i < mmu.nr_events; i++) {
		at += host_random() % (1 + 3 * nr / mmu.nr_events);
		mmu.event[i] = (struct mmu_event) {
			.at = at, .slot = slot + host_random() % nr,
			.cpu = 1 + host_random() % 2,
			.write = host_random() & 1, .walk = host_random() & 1,
			.spot = host_random() & 15,
		};
	}
}

static const char *random_scene(void)
{
	const unsigned int nr = 1 + host_random() % 64;
	const unsigned int slot = host_random() % (HOST_SLOTS - nr + 1);
	const struct op op = random_op(host_random() % OP_SET);
	const char *why;

	if (op.kind == OP_ACCESS && FORMAT_SAF_RACES)
		return NULL;
	if (op.kind == OP_GET_CLEAR_FULL || op.kind == OP_CLEAR_FULL)
		return NULL;
	make_folios();
	fill_table(&op, slot, nr);
	table_load(initial);
	mmu_start(&hw);
	mmu.trusting = op_bears_trust(&op);
	mmu_warm(0, HOST_SLOTS);
	random_events(slot, nr);
	memset(&run_tlb, 0, sizeof(run_tlb));
	mmu_watched = true;
	run_batched(&op, slot, nr, &run_tlb);
	mmu_watched = false;
	mmu_drain();
	why = mmu.bad;
	caller_flush(&op, slot, nr, &run_tlb);
	host_cases++;
	if (!why)
		why = mmu_check(slot, nr, true);
	if (!why)
		why = random_kept(&op, slot, nr);
	return why ? host_say("%s (op %d flags %#x slot %u nr %u)", why, op.kind,
			      op.flags, slot, nr) : NULL;
}

static const char *test_interleave_random(void)
{
	const char *why = NULL;
	unsigned int i;

	for (i = 0; !why && i < 20000 / host_stride + 50; i++)
		why = random_scene();
	return why;
}
