/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wp_reuse_large_folio(): one reference decides. The oracle counts, entry by
 * entry, what maps a page of the folio at its place, here and anywhere else.
 */

/**
 * struct reuse - a folio, and who maps it
 * @folio: the folio
 * @base: slot of its first page; may be outside of the table
 * @fault: slot of the write fault
 * @first: first slot of the VMA
 * @end: slot behind it
 */
struct reuse {
	struct folio *folio;
	int base;
	int fault;
	int first;
	int end;
};

static struct reuse reuse;
static struct page reuse_pages[HOST_PAGES];

/* Does this slot map the page that stands at its place? */
static bool reuse_maps(int slot)
{
	const int idx = slot - reuse.base;
	pte_t pte;

	if (slot < reuse.first || slot >= reuse.end || idx < 0 || idx >= (int)reuse.folio->nr)
		return false;
	pte = slot_get(slot);
	return pte_present(pte) && pte_pfn(pte) == folio_pfn(reuse.folio) + idx;
}

static void reuse_layout(void)
{
	const unsigned int order = host_random() % 16 ? 1 + host_random() % 9 : 0;
	struct folio *folio = &folios[0];
	unsigned int i, idx;

	reuse.folio = folio;
	*folio = (struct folio) {
		.page = mem_map + 512, .nr = 1U << order, .anon = true,
		.locked = !(host_random() % 16),
		.swapcache = !(host_random() % 16), .ksm = !(host_random() % 16),
		.late = host_random() % 16 ? 0 : 1,
	};
	for (i = 0; i < folio->nr; i++)
		folio->page[i] = (struct page) {
			.flags = host_random() % 4 ? 0 : BIT(PG_anon_exclusive),
			.folio = folio,
		};
	reuse.fault = host_random() % HOST_SLOTS;
	idx = host_random() % folio->nr;
	reuse.base = reuse.fault - (int)idx;
	reuse.first = reuse.fault - host_random() % (reuse.fault + 1);
	reuse.end = reuse.fault + 1 + host_random() % (HOST_SLOTS - reuse.fault);
}

/* A run of the folio's pages with flaws, strangers around. */
static void reuse_table(void)
{
	const unsigned int flaws = host_random() % 3;
	const u64 kind = random_status();
	int i;

	for (i = 0; i < HOST_SLOTS; i++) {
		const int idx = i - reuse.base;
		const u64 bits = host_random() % 4 ? kind : random_status();
		unsigned long pfn = HOST_PFN + i % 256;

		if (idx >= 0 && idx < (int)reuse.folio->nr)
			pfn = folio_pfn(reuse.folio) + idx;
		if (flaws && i != reuse.fault && !(host_random() % 16))
			pfn = HOST_PFN + i % 256;
		initial[i] = pte_raw(status_pte(pfn, bits));
		if (flaws > 1 && i != reuse.fault && !(host_random() % 8))
			initial[i] = absent_raw(i % 5);
	}
}

static void reuse_count(void)
{
	struct folio *folio = reuse.folio;
	int i, maps = 0;

	for (i = 0; i < HOST_SLOTS; i++)
		maps += reuse_maps(i);
	folio->mapcount = maps;
	if (!(host_random() % 8))
		folio->mapcount += host_random() % 3 - 1;
	folio->refs = folio->mapcount;
	if (!(host_random() % 8))
		folio->refs += host_random() % 3 - 1;
}

/* All references are entries that were counted, and nobody adds one. */
static bool reuse_expected(unsigned int fault_flags)
{
	const struct folio *folio = reuse.folio;
	int i, maps = 0;

	for (i = 0; i < HOST_SLOTS; i++)
		maps += reuse_maps(i);
	return folio->nr > 1 && !(fault_flags & FAULT_FLAG_UNSHARE) &&
	       vma.vm_flags & VM_WRITE && folio->refs == maps &&
	       folio->mapcount == maps && !folio->swapcache && !folio->ksm &&
	       !folio->locked && !folio->late;
}

static void oracle_reuse(void)
{
	const int flags = oracle_upgrade(true);
	int i;

	for (i = 0; i < HOST_SLOTS; i++) {
		const pte_t pte = slot_get(i);
		pte_t want;

		if (!reuse_maps(i))
			continue;
		reuse.folio->page[i - reuse.base].flags |= BIT(PG_anon_exclusive);
		want = oracle_modify_write(pte, flags);
		if (pte_val(want) != pte_val(pte))
			ptep_set_access_flags(&vma, slot_addr(i), slot_ptep(i), want, 1);
	}
}

static const char *reuse_pages_differ(const struct page *want)
{
	unsigned int i;

	for (i = 0; i < reuse.folio->nr; i++)
		if (reuse.folio->page[i].flags != want[i].flags)
			return host_say("page %u: flags %#lx, not %#lx", i,
					reuse.folio->page[i].flags, want[i].flags);
	return NULL;
}

static const char *reuse_compare(struct vm_fault *vmf, bool want)
{
	const struct op op = { .kind = OP_ACCESS, .flags = SAF_WRITE };
	const struct folio before = *reuse.folio;
	const bool got = wp_reuse_large_folio(vmf, reuse.folio);
	const char *why;

	if (got != want)
		return host_say("reused %d, not %d: %d references, %d mappings, %u pages",
				got, want, before.refs, before.mapcount, before.nr);
	if (reuse.folio->locked != before.locked)
		return "the folio's lock was not given back";
	if (got && reuse.folio->owner != &vma)
		return "the rmap was not moved";
	outcome_batched.result = 0;
	outcome_single.result = 0;
	protect_save(&outcome_batched);
	why = compare(&op, &outcome_batched, &outcome_single);
	return why ? why : reuse_pages_differ(reuse_pages);
}

static const char *reuse_one(void)
{
	struct vm_fault vmf = {
		.vma = &vma, .flags = host_random() % 16 ? 0 : FAULT_FLAG_UNSHARE,
	};
	struct page pages[HOST_SLOTS];
	bool want;

	reuse_layout();
	reuse_table();
	table_load(initial);
	mmu_start(&hw);
	memset(&run_tlb, 0, sizeof(run_tlb));
	vma.vm_start = slot_addr(reuse.first);
	vma.vm_end = slot_addr(reuse.end);
	reuse_count();
	memcpy(pages, reuse.folio->page, reuse.folio->nr * sizeof(pages[0]));
	want = reuse_expected(vmf.flags);
	if (want)
		oracle_reuse();
	protect_save(&outcome_single);
	memcpy(reuse_pages, reuse.folio->page, reuse.folio->nr * sizeof(pages[0]));
	memcpy(reuse.folio->page, pages, reuse.folio->nr * sizeof(pages[0]));
	table_load(initial);
	mmu_start(&hw);
	vmf.address = slot_addr(reuse.fault) + host_random() % PAGE_SIZE;
	vmf.pte = slot_ptep(reuse.fault);
	vmf.page = reuse.folio->page + (reuse.fault - reuse.base);
	host_cases++;
	return reuse_compare(&vmf, want);
}

/* Write faults on a large folio, with one spoiler now and then. */
static const char *test_reuse(void)
{
	const char *why = NULL;
	unsigned int i;

	for (i = 0; !why && i < 6000 / host_stride + 100; i++) {
		random_vma();
		vma.vm_flags &= ~VM_SHARED;
		why = reuse_one();
	}
	vma_reset();
	vma.vm_start = HOST_BASE;
	vma.vm_end = HOST_BASE + HOST_SLOTS * PAGE_SIZE;
	return why;
}
