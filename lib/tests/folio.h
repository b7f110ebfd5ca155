/* SPDX-License-Identifier: GPL-2.0 */
/* <linux/folio_pte_batch.h>: where batches end, and what is exclusive. */

/* A tree where reads are not stopped has no flags for that. */
#ifndef MM_CP_UFFD_RWP
#define MM_CP_UFFD_RWP		0UL
#define MM_CP_UFFD_RWP_RESOLVE	0UL
#endif

#define CP_UFFD		(MM_CP_UFFD_WP | MM_CP_UFFD_RWP)
#define CP_RESOLVE	(MM_CP_UFFD_WP_RESOLVE | MM_CP_UFFD_RWP_RESOLVE)

/* Long runs in order that now and then have a flaw. */
static void fill_folio_runs(void)
{
	u64 kind = random_status();
	unsigned int i, shift = 0;

	for (i = 0; i < HOST_SLOTS; i++) {
		if (!(host_random() % 24))
			kind = random_status();
		if (!(host_random() % 97))
			shift = host_random() % 3;
		initial[i] = pte_raw(status_pte(slot_pfn(i) + shift, kind));
		if (i && !(host_random() % 59))
			initial[i] = absent_raw(host_random() % 3);
		else if (host_random() % 4 == 0)
			initial[i] = pte_raw(pte_mkyoung(raw_pte(initial[i])));
	}
}

static void fill_folios(void)
{
	make_folios();
	fill_folio_runs();
	if (host_random() & 1)
		fill_blocks_in_folios();
	table_load(initial);
	mmu_start(&hw);
	memset(&run_tlb, 0, sizeof(run_tlb));
}

static pte_t slot_get(unsigned int slot)
{
	return ptep_get(slot_ptep(slot));
}

static pte_t detect_strip(pte_t pte, int flags)
{
	if (!(flags & FPB_RESPECT_DIRTY))
		pte = pte_mkclean(pte);
	if (!(flags & FPB_RESPECT_SOFT_DIRTY))
		pte = pte_clear_soft_dirty(pte);
	return pfn_pte(0, pte_pgprot(pte_wrprotect(pte_mkold(pte))));
}

static bool detect_follows(pte_t first, pte_t pte, unsigned int nr, int flags)
{
	if (!pte_present(pte) || pte_pfn(pte) != pte_pfn(first) + nr)
		return false;
	if (flags & FPB_RESPECT_WRITE && !pte_write(pte) != !pte_write(first))
		return false;
	return pte_same(detect_strip(first, flags), detect_strip(pte, flags));
}

static unsigned int detect_oracle(const struct folio *folio, unsigned int slot,
				  unsigned int max, int flags, pte_t *merged)
{
	const pte_t first = slot_get(slot);
	const unsigned long end = folio_pfn(folio) + folio->nr;
	unsigned int nr;

	*merged = first;
	for (nr = 1; nr < max && pte_pfn(first) + nr < end; nr++) {
		const pte_t pte = slot_get(slot + nr);

		if (!detect_follows(first, pte, nr, flags))
			break;
		if (flags & FPB_MERGE_WRITE && pte_write(pte))
			*merged = pte_mkwrite(*merged, &vma);
		if (flags & FPB_MERGE_YOUNG_DIRTY)
			*merged = oracle_merge(*merged, pte);
	}
	return nr;
}

static const char *detect_batch(struct folio *folio, unsigned int slot,
				unsigned int max)
{
	const int flags = host_random() & 0x1f00;
	pte_t got = slot_get(slot), want, first = got;
	unsigned int nr, right = detect_oracle(folio, slot, max, flags, &want);

	nr = folio_pte_batch_flags(folio, &vma, slot_ptep(slot), &got, max, flags);
	if (nr != right)
		return host_say("flags %#x: %u entries in a batch, not %u", flags, nr, right);
	if (pte_val(got) != pte_val(want))
		return host_say("flags %#x: collected %#lx, not %#lx", flags,
				pte_val(got), pte_val(want));
	right = detect_oracle(folio, slot, max, 0, &want);
	nr = folio_pte_batch(folio, slot_ptep(slot), first, max);
	return nr == right ? NULL : host_say("%u entries in a batch, not %u", nr, right);
}

static const char *detect_run(struct folio *folio, unsigned int slot,
			      unsigned int max)
{
	const pte_t first = slot_get(slot);
	unsigned int nr, right = 1;

	if (pte_protnone(first))
		return NULL;
	while (folio && folio->nr > 1 && right < max) {
		const pte_t pte = slot_get(slot + right);

		if (!pte_present(pte) || pte_protnone(pte) ||
		    pte_pfn(pte) != pte_pfn(first) + right ||
		    pfn_to_page(pte_pfn(pte))->folio != folio)
			break;
		right++;
	}
	nr = folio_run_ptes(folio, slot_ptep(slot), first, max);
	return nr == right ? NULL : host_say("%u entries for one decision, not %u", nr, right);
}

/* Is what this entry maps an anonymous page that is exclusive? */
static bool slot_exclusive(unsigned int slot)
{
	const struct page *page = vm_normal_page(&vma, slot_addr(slot), slot_get(slot));

	return page && page->folio->anon && page->flags & BIT(PG_anon_exclusive);
}

static const char *detect_exclusive(unsigned int slot, unsigned int max)
{
	const bool want = slot_exclusive(slot);
	unsigned int nr, right = 1;
	bool got;

	while (right < max && pte_present(slot_get(slot + right)) &&
	       slot_exclusive(slot + right) == want)
		right++;
	nr = anon_exclusive_ptes(&vma, slot_addr(slot), slot_ptep(slot), max, &got);
	return nr == right && got == want ? NULL :
	       host_say("%u entries, exclusive %d; not %u, %d", nr, got, right, want);
}

static const char *detect_one(void)
{
	const unsigned int slot = host_random() % HOST_SLOTS;
	const unsigned int max = 1 + host_random() % (HOST_SLOTS - slot);
	const char *why = NULL;
	struct page *page;

	if (!pte_present(slot_get(slot)))
		return NULL;
	host_cases++;
	page = vm_normal_page(&vma, slot_addr(slot), slot_get(slot));
	if (page)
		why = detect_batch(page->folio, slot, max);
	if (!why)
		why = detect_run(page ? page->folio : NULL, slot, max);
	return why ? why : detect_exclusive(slot, max);
}

/* Where a batch ends, and what the pages say. */
static const char *test_detect(void)
{
	const char *why = NULL;
	unsigned int i, j;

	for (i = 0; !why && i < 2000 / host_stride + 10; i++) {
		fill_folios();
		for (j = 0; !why && j < 32; j++)
			why = detect_one();
	}
	return why;
}

static void random_vma(void)
{
	vma.vm_flags = (vma.vm_flags & VM_SHADOW_STACK) |
		       (host_random() % 16 ? VM_WRITE : 0) |
		       (host_random() % 3 ? 0 : VM_SHARED);
	vma.soft_dirty = host_random() & 1;
	vma.uffd_wp = host_random() & 1;
	vma.uffd_rwp = MODPROT_UFFD_RWP && host_random() & 1;
}

/* What of the VMA decides, for one page. */
static int oracle_upgrade(bool exclusive)
{
	int flags = MODPROT_NONE;

	if (!(vma.vm_flags & VM_WRITE))
		return flags;
	if (vma.vm_flags & VM_SHARED)
		flags |= MODPROT_MKWRITE_DIRTY;
	else if (exclusive)
		flags |= MODPROT_MKWRITE;
	if (vma.soft_dirty)
		flags |= MODPROT_SOFT_DIRTY_WP;
	if (vma.uffd_wp)
		flags |= MODPROT_KEEP_UFFD_WP;
	return flags;
}

static int oracle_cp_flags(unsigned long cp_flags, unsigned int slot)
{
	int flags = MODPROT_NONE;

	if (cp_flags & CP_UFFD)
		flags |= MODPROT_UFFD_WP;
	if (cp_flags & CP_RESOLVE)
		flags |= MODPROT_UFFD_WP_RESOLVE;
	if (vma.uffd_rwp)
		flags |= MODPROT_UFFD_RWP;
	if (cp_flags & MM_CP_TRY_CHANGE_WRITABLE)
		flags |= oracle_upgrade(slot_exclusive(slot));
	return flags;
}

static unsigned int oracle_protect(unsigned int slot, unsigned int max,
				   pgprot_t prot, unsigned long cp_flags,
				   struct mmu_gather *tlb)
{
	struct op op = { .kind = OP_MODPROT, .prot = prot };
	unsigned int i;

	for (i = 0; i < max && pte_present(slot_get(slot + i)); i++) {
		op.flags = oracle_cp_flags(cp_flags, slot + i);
		single_modprot(&op, slot + i, tlb);
	}
	return i;
}

static void protect_save(struct outcome *outcome)
{
	outcome_save(outcome);
	outcome->tlb = run_tlb;
	memset(&run_tlb, 0, sizeof(run_tlb));
}

static const char *protect_one(void)
{
	const unsigned int slot = host_random() % HOST_SLOTS;
	const unsigned int max = 1 + host_random() % (HOST_SLOTS - slot);
	const unsigned long cp_flags = host_random() &
				       (MM_CP_TRY_CHANGE_WRITABLE | CP_UFFD | CP_RESOLVE);
	const bool gather = host_random() % 8;
	const struct op op = { .kind = OP_MODPROT, .flags = cp_flags,
			       .prot = prots[host_random() % ARRAY_SIZE(prots)] };

	fill_folios();
	if (!pte_present(slot_get(slot)))
		return NULL;
	host_cases++;
	outcome_single.result = oracle_protect(slot, max, op.prot, cp_flags, &run_tlb);
	if (!gather)
		memset(&run_tlb, 0, sizeof(run_tlb));
	protect_save(&outcome_single);
	table_load(initial);
	mmu_start(&hw);
	host_warnings = 0;
	outcome_batched.result = change_present_ptes(gather ? &run_tlb : NULL, &vma,
						     slot_addr(slot), slot_ptep(slot),
						     max, op.prot, cp_flags);
	protect_save(&outcome_batched);
	if (!host_warnings != !(cp_flags & MM_CP_TRY_CHANGE_WRITABLE &&
				!(vma.vm_flags & VM_WRITE)))
		return "a warning about a VMA that is not writable";
	return compare(&op, &outcome_batched, &outcome_single);
}

static void vma_reset(void)
{
	vma.vm_flags &= VM_SHADOW_STACK;
	vma.soft_dirty = false;
	vma.uffd_wp = false;
	vma.uffd_rwp = false;
}

/* change_protection() on present entries, pages and all. */
static const char *test_protect(void)
{
	const char *why = NULL;
	unsigned int i;

	for (i = 0; !why && i < 3000 / host_stride + 50; i++) {
		random_vma();
		why = protect_one();
	}
	vma_reset();
	return why;
}

/* Is it for NUMA hinting, and not because userfaultfd stops all access? */
static bool slot_hints(unsigned int slot)
{
	const pte_t pte = slot_get(slot);

	return pte_present(pte) && pte_protnone(pte) &&
	       !(vma.uffd_rwp && pte_uffd_wp(pte));
}

/* Entries that are PROT_NONE, as far as the folio goes. */
static unsigned int oracle_numa(const struct folio *folio, unsigned int slot,
				unsigned int max, bool upgrade)
{
	const unsigned long pfn = pte_pfn(slot_get(slot));
	struct op op = { .kind = OP_MODPROT, .prot = vma.vm_page_prot };
	unsigned int i, nr = 1;

	while (nr < max && pfn + nr < folio_pfn(folio) + folio->nr &&
	       slot_hints(slot + nr) &&
	       pte_pfn(slot_get(slot + nr)) == pfn + nr)
		nr++;
	for (i = 0; i < nr; i++) {
		op.flags = MODPROT_MKYOUNG;
		if (upgrade)
			op.flags |= oracle_upgrade(slot_exclusive(slot + i));
		single_modprot(&op, slot + i, &run_tlb);
	}
	return nr;
}

static const char *numa_updated(unsigned int slot, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < HOST_SLOTS; i++)
		if (mmu_cache_updated[i] != (i >= slot && i < slot + nr))
			return "update_mmu_cache_range() for the wrong range";
	return NULL;
}

static const char *numa_one(void)
{
	const unsigned int slot = host_random() % HOST_SLOTS;
	const unsigned int max = 1 + host_random() % (HOST_SLOTS - slot);
	const struct op op = { .kind = OP_MODPROT };
	const bool upgrade = host_random() & 1;
	struct vm_fault vmf = { .vma = &vma };
	struct page *page;
	unsigned int nr;

	fill_folios();
	if (!pte_present(slot_get(slot)) || pte_special(slot_get(slot)))
		return NULL;
	page = vm_normal_page(&vma, slot_addr(slot), slot_get(slot));
	if (!page)
		return NULL;
	host_cases++;
	nr = oracle_numa(page->folio, slot, max, upgrade);
	memset(&run_tlb, 0, sizeof(run_tlb));
	outcome_single.result = nr;
	protect_save(&outcome_single);
	table_load(initial);
	mmu_start(&hw);
	memset(mmu_cache_updated, 0, sizeof(mmu_cache_updated));
	outcome_batched.result = numa_rebuild_ptes(&vmf, &vma, page->folio, slot_addr(slot),
						   slot_ptep(slot), max, upgrade);
	protect_save(&outcome_batched);
	return compare(&op, &outcome_batched, &outcome_single) ? :
	       numa_updated(slot, nr);
}

/* A folio's NUMA hinting entries become accessible again. */
static const char *test_numa(void)
{
	const char *why = NULL;
	unsigned int i;

	for (i = 0; !why && i < 3000 / host_stride + 50; i++) {
		random_vma();
		vma.vm_page_prot = prots[1 + host_random() % (ARRAY_SIZE(prots) - 1)];
		why = numa_one();
	}
	vma_reset();
	return why;
}

static const char *flush_local_one(unsigned int slot, unsigned int nr, bool loaded)
{
	unsigned int i;

	mmu_start(&hw);
	flush_tlb_local_ptes(&vma, slot_addr(slot), nr);
	host_cases++;
	for (i = 0; i < HOST_SLOTS; i++) {
		if (mmu.flushed[i])
			return "another CPU's translations were flushed";
		if (i >= slot && i < slot + nr &&
		    mmu.flushed_local[i] != (loaded && FORMAT_FLUSHES_LOCAL))
			return host_say("slot %u of %u from %u: flushed %d", i, nr,
					slot, mmu.flushed_local[i]);
	}
	return NULL;
}

/* This CPU's translations of a range go, all of them, and nobody else's. */
static const char *test_flush_local(void)
{
	const char *why = NULL;
	unsigned int nr, slot;

	for (nr = 1; !why && nr <= HOST_SLOTS; nr++) {
		slot = host_random() % (HOST_SLOTS - nr + 1);
		why = flush_local_one(slot, nr, true);
	}
#ifdef FORMAT_UNLOAD
	FORMAT_UNLOAD(true);
	if (!why)
		why = flush_local_one(3, 5, false);
	FORMAT_UNLOAD(false);
	if (host_preempt)
		why = "preemption was not enabled again";
#endif
	return why;
}
