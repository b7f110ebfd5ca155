/* SPDX-License-Identifier: GPL-2.0 */
/* arm64 as the hardware and the tests see it. */

static const u64 status_bits[] = {
	PTE_VALID, PTE_PRESENT_INVALID, PTE_WRITE, PTE_RDONLY, PTE_AF,
	PTE_DIRTY, PTE_UFFD_WP, PTE_UXN, PTE_SPECIAL, PTE_GP,
};

static bool status_exists(u64 bits)
{
	const u64 seldom = bits & (PTE_SPECIAL | PTE_GP);
	const bool valid = bits & PTE_VALID;

	if (valid == !!(bits & PTE_PRESENT_INVALID))
		return false;
	/* PROT_NONE is not executable, and not writable. */
	if (!valid && (!(bits & PTE_UXN) || bits & PTE_WRITE))
		return false;
	if (bits & PTE_UFFD_WP && bits & PTE_WRITE)
		return false;
	if (!(bits & PTE_WRITE) && !(bits & PTE_RDONLY))
		return false;
	/* What is dirty by our bit is writable to the hardware at once. */
	if (bits & PTE_WRITE && bits & PTE_DIRTY && bits & PTE_RDONLY)
		return false;
	/* One of each is enough to see that they are kept, or not spread. */
	if (!(bits & PTE_UXN) || seldom)
		return !(seldom & (seldom - 1)) &&
		       (bits & ~seldom & ~PTE_UXN) == (PTE_VALID | PTE_RDONLY | PTE_AF) &&
		       !(bits & PTE_UXN) == !seldom;
	return true;
}

static pte_t status_pte(unsigned long pfn, u64 bits)
{
	bits |= PTE_SHARED | PTE_NG | PTE_PXN;
	if (bits & PTE_VALID)
		bits |= PTE_TYPE_PAGE | PTE_USER;
	else
		bits |= PTE_TYPE_PAGE & ~PTE_VALID;
	return pfn_pte(pfn, __pgprot(bits));
}

/* A swap entry, or none. */
static u64 absent_raw(unsigned int what)
{
	return (u64)what << 12;
}

static pgprot_t prots[] = {
	PAGE_NONE, PAGE_READONLY, PAGE_SHARED, PAGE_READONLY_EXEC,
};

static unsigned int arm64_rights(u64 raw)
{
	if (!(raw & PTE_VALID))
		return 0;
	return HW_READ | (raw & PTE_WRITE || !(raw & PTE_RDONLY) ? HW_WRITE : 0) |
	       (raw & PTE_UXN ? 0 : HW_EXEC);
}

static unsigned long arm64_pfn(u64 raw)
{
	return (raw & PTE_ADDR_LOW) >> PAGE_SHIFT;
}

static bool arm64_dirty(u64 raw)
{
	return !(raw & PTE_RDONLY);
}

static bool arm64_young(u64 raw)
{
	return raw & PTE_AF;
}

static struct hw_walk arm64_walk(u64 raw, bool write)
{
	if (!(raw & PTE_VALID) || (write && !(arm64_rights(raw) & HW_WRITE)))
		return (struct hw_walk) { raw, false };
	raw |= PTE_AF;
	return (struct hw_walk) { write ? raw & ~PTE_RDONLY : raw, true };
}

static unsigned int arm64_block(unsigned int slot, u64 raw, unsigned int *first)
{
	const bool block = raw & PTE_CONT && raw & PTE_VALID;

	*first = block ? slot & ~CONT_BLOCK_MASK : slot;
	return block ? CONT_PTES : 1;
}

static const char *arm64_bad_store(u64 last, u64 new, bool clean)
{
	if (clean || !last)
		return NULL;
	if ((last ^ new) & PTE_CONT)
		return "a block was folded or unfolded without a flush";
	if (arm64_erratum_2645198 && !(last & PTE_UXN) && new & PTE_UXN)
		return "erratum 2645198: turned non-executable without a flush";
	return NULL;
}

/* Entries of one block are alike, and nothing else carries the bit. */
static const char *arm64_bad_table(const u64 *table)
{
	const u64 ours = PTE_AF | PTE_RDONLY | PTE_DIRTY;
	unsigned int slot;

	for (slot = 0; slot < HOST_SLOTS; slot++) {
		const u64 raw = table[slot], first = table[slot & ~CONT_BLOCK_MASK];
		const u64 frame = (slot & CONT_BLOCK_MASK) << PAGE_SHIFT;

		if (!((raw | first) & PTE_CONT))
			continue;
		if (!(raw & PTE_VALID) && raw & PTE_CONT)
			return "an invalid entry carries the contiguous bit";
		/* To the hardware, without DBM, that is all it takes. */
		if (!(raw & (PTE_RDONLY | PTE_WRITE)))
			return "an entry of a block is writable and does not say so";
		if (raw & PTE_SPECIAL)
			return "a special entry is in a block";
		if ((raw ^ (first + frame)) & ~ours)
			return "entries of one block differ";
	}
	return NULL;
}

static const struct hw hw = {
	.page_shift = PAGE_SHIFT,
	.rights = arm64_rights,
	.pfn = arm64_pfn,
	.dirty = arm64_dirty,
	.young = arm64_young,
	.walk = arm64_walk,
	.block = arm64_block,
	.bad_store = arm64_bad_store,
};

static const char *const modes[] = { "plain", "erratum", NULL };

static void format_mode(unsigned int mode)
{
	arm64_erratum_2645198 = mode == 1;
}

#define FORMAT_BAD_TABLE	arm64_bad_table
#define FORMAT_BLOCK		CONT_PTES

/* Bits that the hardware does not look at: left out of the interleavings. */
#define FORMAT_COLD(bits)	((bits) & (PTE_UFFD_WP | PTE_SPECIAL | PTE_GP))

/* What is not the tree's own: its helpers take a range of one entry at least. */
#define FORMAT_NONE(kind)	((kind) == OP_YOUNG || (kind) == OP_FLUSH_YOUNG || \
				 (kind) == OP_CLEAR_ABSENT || (kind) == OP_ACCESS || \
				 (kind) == OP_START_COMMIT)
#define FORMAT_WARNS(kind)	((kind) != OP_ACCESS)

/* flush_tlb_local_ptes() does something. */
#define FORMAT_FLUSHES_LOCAL	true

/* The erratum changes one thing: when the range is flushed. */
#define MODE_STRIDE(mode)	((mode) ? 7 : 1)
