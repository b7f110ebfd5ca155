/* SPDX-License-Identifier: GPL-2.0 */
/* um as the host and the tests see it. */

static struct mm_struct mm;

static const u64 status_bits[] = {
	_PAGE_PRESENT, _PAGE_PROTNONE, _PAGE_RW, _PAGE_ACCESSED, _PAGE_DIRTY,
	_PAGE_NEWPAGE, _PAGE_NEWPROT,
};

static bool status_exists(u64 bits)
{
	if (!(bits & _PAGE_PRESENT) == !(bits & _PAGE_PROTNONE))
		return false;
	return !(bits & _PAGE_RW && bits & _PAGE_PROTNONE);
}

static pte_t status_pte(unsigned long pfn, u64 bits)
{
	if (bits & _PAGE_PRESENT)
		bits |= _PAGE_USER;
	return pfn_pte(pfn, __pgprot(bits));
}

/* A swap entry, or none. */
static u64 absent_raw(unsigned int what)
{
	return what ? (u64)what << PAGE_SHIFT | _PAGE_NEWPAGE : 0;
}

static pgprot_t prots[] = {
	PAGE_NONE, PAGE_READONLY, PAGE_SHARED,
};

/* The fault handler turns first reads and writes into accessed and dirty. */
static unsigned int um_rights(u64 raw)
{
	if (!(raw & _PAGE_PRESENT) || !(raw & _PAGE_ACCESSED))
		return 0;
	return HW_READ | (raw & _PAGE_RW && raw & _PAGE_DIRTY ? HW_WRITE : 0);
}

static unsigned long um_pfn(u64 raw)
{
	return raw >> PAGE_SHIFT;
}

static bool um_yes(u64 raw)
{
	return true;
}

static struct hw_walk um_walk(u64 raw, bool write)
{
	return (struct hw_walk) { raw, um_rights(raw) & (write ? HW_WRITE : HW_READ) };
}

static const struct hw hw = {
	.page_shift = PAGE_SHIFT,
	.rights = um_rights,
	.pfn = um_pfn,
	.dirty = um_yes,
	.young = um_yes,
	.walk = um_walk,
	.no_walker = true,
};

static const char *const modes[] = { "plain", NULL };

static void format_mode(unsigned int mode)
{
}

/* What was marked is synced when the lock is dropped. */
static inline void um_sync(void)
{
	if (mm.context.sync_tlb_range_to)
		mmu_flush(mm.context.sync_tlb_range_from,
			  mm.context.sync_tlb_range_to, false);
	mm.context.sync_tlb_range_from = 0;
	mm.context.sync_tlb_range_to = 0;
}

#define FORMAT_SYNC	um_sync

/* Bits that the hardware does not look at: left out of the interleavings. */
#define FORMAT_COLD(bits)	((bits) & (_PAGE_NEWPAGE | _PAGE_NEWPROT))

/* The tree's own set_ptes(). */
#define FORMAT_WARNS(kind)	((kind) != OP_SET)

/* Is the page in the range that the host will be told of? */
static inline bool um_marked(unsigned int slot)
{
	const unsigned long addr = HOST_BASE + slot * PAGE_SIZE;

	return mm.context.sync_tlb_range_to && addr >= mm.context.sync_tlb_range_from &&
	       addr < mm.context.sync_tlb_range_to;
}

#define FORMAT_MARKED		um_marked
