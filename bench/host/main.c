// SPDX-License-Identifier: GPL-2.0
/*
 * bench-host: time the helpers in user space.
 *
 * All that is compared takes turns on the same table, so that what else the
 * machine does meets all of them: A B C B C A C A B. A sample is one pass over
 * four page tables, which are put back before the next. Ratios are those of one
 * turn, and what is printed of them is their median and quartiles.
 *
 * Before anything is timed, each helper has to leave and to return what the
 * single-PTE loop does.
 */
#include <sched.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdnoreturn.h>

#include "clock.h"
#include "subject.h"

#define TABLES		4
#define ENTRIES		(TABLES * PTRS_PER_PTE)
#define GUARDS		512
/* As many different contents as no branch predictor learns by heart. */
#define CONTENTS	16
#define MAX_ROUNDS	1000
/* Rounds that are not counted: caches and predictors get to know the code. */
#define WARM_UP		3
#define LINE		64

/* What bench-host promises in Documentation/bench-host.rst. */
#define STATUS_WRONG	1
#define STATUS_USAGE	2
#define STATUS_TOOL	3

struct mmu mmu;
unsigned int host_warnings;
struct page mem_map[HOST_PAGES];

static struct subject *subjects;

enum state {
	ABSENT,
	CLEAN,
	YOUNG,
	DIRTY,
	YOUNG_DIRTY,
	TURNS,
	RANDOM,
	STATES
};

static const char *const state_names[] = {
	[ABSENT] = "absent",
	[CLEAN] = "clean",
	[YOUNG] = "young",
	[DIRTY] = "dirty",
	[YOUNG_DIRTY] = "young+dirty",
	[TURNS] = "by turns",
	[RANDOM] = "random",
};

#define BIT_OF(state)	(1U << (state))
#define ALIKE		(BIT_OF(CLEAN) | BIT_OF(YOUNG) | BIT_OF(DIRTY) | \
			 BIT_OF(YOUNG_DIRTY))
#define PRESENT		(ALIKE | BIT_OF(TURNS) | BIT_OF(RANDOM))

/**
 * struct test - an operation on tables of some kind
 * @name: the helper, and what it is asked for
 * @op: the operation
 * @states: states of the entries, a bit each
 * @least: fewest entries in a call
 * @before: protection of the entries
 * @after: new protection
 * @flags: as in struct work
 */
struct test {
	const char *name;
	enum operation op;
	unsigned int states;
	unsigned int least;
	u64 before;
	u64 after;
	unsigned long flags;
};

#define NONE		(_PAGE_PROTNONE | _PAGE_ACCESSED)
#define READ		(X86_USER_PROT | _PAGE_NX)
#define WRITE		(READ | _PAGE_RW)

static const struct test tests[] = {
	{ "set_ptes", OP_SET, BIT_OF(ABSENT), 1, 0, WRITE },
	{ "wrprotect_ptes", OP_WRPROTECT, PRESENT, 1, WRITE },
	{ "get_and_clear_ptes", OP_GET_CLEAR, PRESENT, 1, WRITE },
	{ "get_and_clear_full_ptes", OP_GET_CLEAR_FULL, PRESENT, 1, WRITE },
	{ "clear_ptes", OP_CLEAR, BIT_OF(YOUNG_DIRTY), 1, WRITE },
	{ "clear_full_ptes", OP_CLEAR_FULL, BIT_OF(YOUNG_DIRTY), 1, WRITE },
	{ "clear_nonpresent_ptes", OP_CLEAR_ABSENT, BIT_OF(ABSENT), 1 },
	{ "clear_young_dirty_ptes young", OP_CLEAR_YOUNG, PRESENT, 1, WRITE },
	{ "clear_young_dirty_ptes both", OP_CLEAR_YOUNG_DIRTY, PRESENT, 1,
	  WRITE },
	{ "test_and_clear_young_ptes", OP_TEST_YOUNG, PRESENT, 1, WRITE },
	{ "clear_flush_young_ptes", OP_FLUSH_YOUNG, PRESENT, 1, WRITE },
	/* Spreads accessed and dirty, which no single-PTE loop does. */
	{ "modify_prot_start/commit_ptes", OP_START_COMMIT, ALIKE, 1, WRITE,
	  READ },
	{ "modify_prot_ptes read-only", OP_MODIFY, PRESENT, 1, WRITE, READ },
	{ "modify_prot_ptes writable", OP_MODIFY, PRESENT, 1, READ, READ,
	  MODPROT_MKWRITE },
	{ "modify_prot_ptes none", OP_MODIFY, PRESENT, 1, WRITE, NONE },
	{ "modify_prot_ptes from none", OP_MODIFY, PRESENT, 1, NONE, READ,
	  MODPROT_MKWRITE },
	{ "set_access_flags_ptes write", OP_ACCESS, PRESENT, 1, READ },
	{ "pte_run_present", OP_RUN, BIT_OF(YOUNG_DIRTY) | BIT_OF(RANDOM), 1,
	  WRITE },
	{ "folio_pte_batch", OP_FOLIO_BATCH,
	  BIT_OF(YOUNG_DIRTY) | BIT_OF(RANDOM), 1, WRITE },
	{ "folio_run_ptes", OP_FOLIO_RUN,
	  BIT_OF(YOUNG_DIRTY) | BIT_OF(RANDOM), 1, WRITE },
	{ "anon_exclusive_ptes", OP_EXCLUSIVE,
	  BIT_OF(YOUNG_DIRTY) | BIT_OF(RANDOM), 1, WRITE },
	{ "change_present_ptes read-only", OP_CHANGE, PRESENT, 1, WRITE,
	  READ },
	{ "change_present_ptes writable", OP_CHANGE, PRESENT, 1, READ, READ,
	  MM_CP_TRY_CHANGE_WRITABLE },
	{ "numa_rebuild_ptes", OP_NUMA, PRESENT, 1, NONE, READ },
	{ "wp_reuse_large_folio", OP_REUSE, PRESENT, 2, READ },
};

static const unsigned int lengths[] = {
	1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512
};

/* Those whose place in the cache lines is tried. */
static const struct {
	const char *name;
	enum state state;
	unsigned int nr;
} aligned_tests[] = {
	{ "modify_prot_ptes read-only", YOUNG_DIRTY, 16 },
	{ "modify_prot_ptes read-only", YOUNG_DIRTY, 512 },
	{ "modify_prot_ptes read-only", YOUNG, 512 },
	{ "modify_prot_ptes writable", YOUNG_DIRTY, 512 },
	{ "modify_prot_ptes none", YOUNG_DIRTY, 512 },
	{ "modify_prot_ptes from none", YOUNG_DIRTY, 512 },
	{ "set_access_flags_ptes write", YOUNG, 512 },
	{ "change_present_ptes read-only", YOUNG_DIRTY, 512 },
	{ "wp_reuse_large_folio", YOUNG, 16 },
	{ "wp_reuse_large_folio", YOUNG, 512 },
};

/**
 * struct runner - something that takes its turn
 * @code: what it is called
 * @run: the same code in all places
 * @shifts: how many of them there are, 0 for nothing at all to do
 * @ticks: what each round took
 */
struct runner {
	const char *code;
	measured_t run[SHIFTS];
	unsigned int shifts;
	double ticks[MAX_ROUNDS];
};

static struct runner runners[SHIFTS];
static unsigned int rounds = 100;
static double overhead;

static u64 contents[CONTENTS][ENTRIES];
static alignas(4096) u64 area[GUARDS + ENTRIES + GUARDS];
static u64 expected[GUARDS + ENTRIES + GUARDS];
static u64 *const table = area + GUARDS;

static struct folio folios[ENTRIES];
static struct mm_struct mm;
static struct vm_area_struct vma;

static noreturn void die(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("bench-host: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(status);
}

void subject_register(struct subject *subject)
{
	subject->next = subjects;
	subjects = subject;
}

/* The headers may name these, and nothing that is timed may get there. */
void mmu_before(const u64 *cell)
{
	abort();
}

void mmu_after(const u64 *cell, u64 old, u64 new)
{
	abort();
}

void mmu_pause(void)
{
	abort();
}

void mmu_flush(unsigned long addr, unsigned long end, bool local)
{
	abort();
}

static u64 random_bits(void)
{
	static u64 state = 0x9e3779b97f4a7c15UL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static u64 state_bits(enum state state, unsigned int i)
{
	switch (state) {
	case YOUNG:
		return _PAGE_ACCESSED;
	case DIRTY:
		return _PAGE_DIRTY;
	case YOUNG_DIRTY:
		return _PAGE_ACCESSED | _PAGE_DIRTY;
	case TURNS:
		return _PAGE_ACCESSED | (i & 1 ? 0 : _PAGE_DIRTY);
	case RANDOM:
		return random_bits() >> 32 & (_PAGE_ACCESSED | _PAGE_DIRTY);
	default:
		return 0;
	}
}

static u64 entry(const struct test *test, enum state state, unsigned int i)
{
	pte_t pte;

	if (state == ABSENT)
		return test->op == OP_SET ? 0 : ~((u64)i << 14) & ~0x1ffUL;
	pte = pfn_pte(HOST_PFN + i, __pgprot(test->before & ~_PAGE_ACCESSED));
	pte = x86_set(pte, state_bits(state, i));
	/* What is read-only and dirty says so in a bit of its own. */
	return pte_val(x86_save_dirty(pte));
}

static void fill(const struct test *test, enum state state)
{
	unsigned int i, k;

	for (k = 0; k < CONTENTS; k++)
		for (i = 0; i < ENTRIES; i++)
			contents[k][i] = entry(test, state, i);
}

/* Each range is a folio of its own, that nobody else has. */
static void make_folios(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < ENTRIES; i++) {
		unsigned int inside = i % PTRS_PER_PTE;
		struct folio *folio = folios + i - inside + inside / nr;

		if (inside % nr == 0)
			*folio = (struct folio) {
				.page = mem_map + i,
				.nr = nr,
				.anon = true,
				.refs = nr,
				.mapcount = nr,
			};
		mem_map[i].folio = folio;
	}
}

static struct work make_work(const struct test *test, unsigned int nr)
{
	mm = (struct mm_struct) { };
	vma = (struct vm_area_struct) {
		.vm_mm = &mm,
		.vm_start = HOST_BASE,
		.vm_end = HOST_BASE + ENTRIES * PAGE_SIZE,
		.vm_flags = VM_WRITE,
		.vm_page_prot = __pgprot(READ),
	};
	make_folios(nr);
	return (struct work) {
		.mm = &mm,
		.vma = &vma,
		.ptep = (pte_t *)table,
		.addr = HOST_BASE,
		.nr = nr,
		.calls = PTRS_PER_PTE / nr,
		.tables = TABLES,
		.pte = pfn_pte(HOST_PFN, __pgprot(test->after)),
		.prot = __pgprot(test->after),
		.flags = test->flags,
	};
}

/* The last range of three ends before the last entry of a table. */
static unsigned int entries_of(const struct work *work)
{
	return work->nr * work->calls * work->tables;
}

static void put_back(const struct test *test, unsigned int k)
{
	const u64 exclusive = test->op == OP_REUSE ? 0 : BIT(PG_anon_exclusive);
	unsigned int i;

	memcpy(table, contents[k], sizeof(contents[k]));
	/* Pages that only the reuse marks; they stay as they are otherwise. */
	if (mem_map[0].flags == exclusive)
		return;
	for (i = 0; i < ENTRIES; i++)
		mem_map[i].flags = exclusive;
}

static void evict(void)
{
	const char *line = (const char *)table;
	size_t i;

	for (i = 0; i < ENTRIES * sizeof(u64); i += LINE)
		asm volatile("clflush %0" : : "m" (line[i]));
}

static double time_once(struct work *work, measured_t run, bool cold)
{
	u64 start;

	if (cold)
		evict();
	start = ticks();
	run(work);
	return ticks() - start;
}

static void nothing(struct work *work)
{
	work->result = 0;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct spread {
	double median;
	double low;
	double high;
};

/* Median and quartiles; sorts what it is given. */
static struct spread spread_of(double *values, unsigned int nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return (struct spread) {
		.median = values[nr / 2],
		.low = values[nr / 4],
		.high = values[nr * 3 / 4],
	};
}

static void find_overhead(struct work *work)
{
	double *values = runners[0].ticks;
	unsigned int i;

	for (i = 0; i < MAX_ROUNDS; i++)
		values[i] = time_once(work, nothing, false);
	overhead = spread_of(values, MAX_ROUNDS).median;
}

/* Everybody's turn, as often as asked for. */
static void measure(const struct test *test, struct work *work, bool cold,
		    unsigned int nr_runners)
{
	unsigned int round, turn;

	for (round = 0; round < WARM_UP + rounds; round++) {
		for (turn = 0; turn < nr_runners; turn++) {
			struct runner *runner =
				runners + (round + turn) % nr_runners;
			double took;

			put_back(test, round % CONTENTS);
			took = time_once(work,
					 runner->run[round % runner->shifts],
					 cold) - overhead;
			if (round >= WARM_UP)
				runner->ticks[round - WARM_UP] =
					took / entries_of(work);
		}
	}
}

static const struct subject *find_subject(bool generic, unsigned int shift)
{
	const struct subject *subject;

	for (subject = subjects; subject; subject = subject->next)
		if (subject->generic == generic &&
		    *subject->shift == shift * SHIFT_STEP)
			return subject;
	die(STATUS_WRONG, "no code for shift %u was linked", shift);
}

static measured_t find_code(enum operation op, const char *code,
			    unsigned int shift)
{
	if (!strncmp(code, "single", 6))
		return find_subject(true, shift)->single[op];
	return find_subject(!strcmp(code, "generic"), shift)->batched[op];
}

/* The assembler and the linker did what they were asked for. */
static void check_places(void)
{
	unsigned int shift;
	int op;

	for (op = 0; op < OPERATIONS; op++)
		for (shift = 1; shift < SHIFTS; shift++) {
			long first = (long)find_code(op, "override", 0);
			long moved = (long)find_code(op, "override", shift);

			if ((moved - first - shift * SHIFT_STEP) % LINE)
				die(STATUS_WRONG, "code was not moved by %u bytes",
				    shift * SHIFT_STEP);
		}
}

static void set_runner(struct runner *runner, enum operation op,
		       const char *code)
{
	unsigned int shift;

	runner->code = code;
	runner->shifts = SHIFTS;
	for (shift = 0; shift < SHIFTS; shift++)
		runner->run[shift] = find_code(op, code, shift);
}

static void must_be_equal(const struct test *test, enum state state,
			  const struct work *work, const char *code, u64 want)
{
	char what[128];
	size_t i;

	snprintf(what, sizeof(what), "%s (%s), %s entries, nr %u",
		 test->name, code, state_names[state], work->nr);
	if (work->result != want)
		die(STATUS_WRONG, "%s: returned %#lx, the single-PTE loop %#lx",
		    what, work->result, want);
	for (i = 0; i < ARRAY_SIZE(area); i++)
		if (area[i] != expected[i])
			die(STATUS_WRONG, "%s: left %#lx in entry %ld, the single-PTE loop %#lx",
			    what, area[i], (long)i - GUARDS, expected[i]);
}

/* Wrong code is not timed. */
static void verify(const struct test *test, enum state state,
		   struct work *work)
{
	static const char *const codes[] = { "generic", "override" };
	unsigned int k, code, shift;

	for (k = 0; k < 2; k++) {
		u64 want, flags;

		put_back(test, k);
		find_code(test->op, "single", 0)(work);
		want = work->result;
		flags = mem_map[0].flags;
		memcpy(expected, area, sizeof(area));
		if ((state == ABSENT || state == YOUNG_DIRTY) && !want &&
		    !memcmp(table, contents[k], sizeof(contents[k])))
			die(STATUS_WRONG, "%s: nothing was done", test->name);
		for (code = 0; code < ARRAY_SIZE(codes); code++)
			for (shift = 0; shift < SHIFTS; shift++) {
				put_back(test, k);
				find_code(test->op, codes[code], shift)(work);
				if (mem_map[0].flags != flags)
					work->result = ~want;
				must_be_equal(test, state, work, codes[code],
					      want);
			}
	}
}

static void print_spread(const struct spread *spread)
{
	printf("\t%.5g\t%.5g\t%.5g", spread->median, spread->low,
	       spread->high);
}

static void print_rows(const struct test *test, enum state state,
		       unsigned int nr, bool cold, unsigned int nr_runners)
{
	static double single[MAX_ROUNDS], ratio[MAX_ROUNDS];
	unsigned int k, i;

	memcpy(single, runners[0].ticks, sizeof(single));
	for (k = 0; k < nr_runners; k++) {
		struct spread spread;

		for (i = 0; i < rounds; i++)
			ratio[i] = runners[k].ticks[i] / single[i];
		printf("row\t%s\t%s\t%u\t%s\t%s", test->name,
		       state_names[state], nr, cold ? "cold" : "warm",
		       runners[k].code);
		spread = spread_of(runners[k].ticks, rounds);
		print_spread(&spread);
		spread = spread_of(ratio, rounds);
		print_spread(&spread);
		putchar('\n');
	}
}

static void run_one(const struct test *test, enum state state, unsigned int nr)
{
	struct work work = make_work(test, nr);
	unsigned int nr_runners = 0;
	int cold;

	verify(test, state, &work);
	set_runner(&runners[nr_runners++], test->op, "single");
	set_runner(&runners[nr_runners++], test->op, "generic");
	if (find_subject(false, 0)->overridden[test->op])
		set_runner(&runners[nr_runners++], test->op, "override");
	/* The same code once more: how far apart noise alone puts it. */
	if (test->op == OP_MODIFY)
		set_runner(&runners[nr_runners++], test->op, "single again");
	for (cold = 0; cold < 2; cold++) {
		measure(test, &work, cold, nr_runners);
		print_rows(test, state, nr, cold, nr_runners);
	}
}

static void run_aligned(const struct test *test, enum state state,
			unsigned int nr, const char *code)
{
	struct work work = make_work(test, nr);
	unsigned int shift;

	fill(test, state);
	for (shift = 0; shift < SHIFTS; shift++) {
		runners[shift].shifts = 1;
		runners[shift].run[0] = find_code(test->op, code, shift);
	}
	measure(test, &work, false, SHIFTS);
	for (shift = 0; shift < SHIFTS; shift++) {
		struct spread spread = spread_of(runners[shift].ticks, rounds);

		printf("align\t%s\t%s\t%u\t%s\t%u", test->name,
		       state_names[state], nr, code, shift * SHIFT_STEP);
		print_spread(&spread);
		putchar('\n');
	}
}

static const struct test *find_test(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].name, name))
			return tests + i;
	abort();
}

static void run_all_aligned(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(aligned_tests); i++) {
		const struct test *test = find_test(aligned_tests[i].name);

		run_aligned(test, aligned_tests[i].state, aligned_tests[i].nr,
			    "single");
		run_aligned(test, aligned_tests[i].state, aligned_tests[i].nr,
			    "override");
	}
}

/* One processor, so that its clock and its caches stay the same. */
static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void run_all(const char *only)
{
	unsigned int i, state, k;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		const struct test *test = tests + i;

		if (strncmp(test->name, only, strlen(only)))
			continue;
		for (state = 0; state < STATES; state++) {
			if (!(test->states & BIT_OF(state)))
				continue;
			fill(test, state);
			for (k = 0; k < ARRAY_SIZE(lengths); k++)
				if (lengths[k] >= test->least)
					run_one(test, state, lengths[k]);
		}
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : "";
	struct work work = make_work(tests, 1);
	unsigned int i;
	double before;

	if (argc > 1)
		rounds = atoi(argv[1]);
	if (argc > 3 || rounds < 5 || rounds > MAX_ROUNDS)
		die(STATUS_USAGE, "usage: bench-host [ROUNDS [HELPER]], 5 to %u rounds",
		    MAX_ROUNDS);
	stay_here();
	check_places();
	/* Tables are filled, what is around them stays. */
	memset(area, 0xa5, sizeof(area));
	find_overhead(&work);
	printf("info\tcpu\t%s\n", clock_cpu());
	printf("info\tns_per_tick\t%.6g\n", clock_ns_per_tick());
	printf("info\tcycles_by\t%s\n", clock_cycles_by());
	printf("info\toverhead\t%.6g\n", overhead);
	printf("info\trounds\t%u\n", rounds);
	before = clock_cycles_per_tick();
	run_all(only);
	if (!*only)
		run_all_aligned();
	printf("info\tcycles_per_tick\t%.5g\n", before);
	printf("info\tcycles_per_tick_after\t%.5g\n", clock_cycles_per_tick());
	return 0;
}
