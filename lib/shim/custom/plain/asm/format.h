/* SPDX-License-Identifier: GPL-2.0 */
/* The plain format as the hardware and the tests see it. */

static const u64 status_bits[] = {
	PLAIN_VALID, PLAIN_PROTNONE, PLAIN_WRITE, PLAIN_ACCESSED, PLAIN_DIRTY,
	PLAIN_SOFT_DIRTY, PLAIN_UFFD_WP, PLAIN_EXEC, PLAIN_SPECIAL,
};

static bool status_exists(u64 bits)
{
	const u64 seldom = bits & (PLAIN_EXEC | PLAIN_SPECIAL);

	if (!(bits & PLAIN_VALID) == !(bits & PLAIN_PROTNONE))
		return false;
	if (bits & PLAIN_WRITE && bits & (PLAIN_UFFD_WP | PLAIN_PROTNONE))
		return false;
	/* One of each is enough to see that they are kept. */
	return !seldom || bits == (seldom | PLAIN_VALID | PLAIN_ACCESSED);
}

static pte_t status_pte(unsigned long pfn, u64 bits)
{
	if (bits & PLAIN_VALID)
		bits |= PLAIN_READ;
	return pfn_pte(pfn, __pgprot(bits));
}

/* An entry that maps nothing: a swap entry, or none. */
static u64 absent_raw(unsigned int what)
{
	return what ? (u64)what << PAGE_SHIFT : 0;
}

static pgprot_t prots[] = {
	PAGE_NONE, PAGE_READONLY, PAGE_SHARED, PAGE_READONLY_EXEC,
};

static unsigned int plain_rights(u64 raw)
{
	if (!(raw & PLAIN_VALID))
		return 0;
	return HW_READ | (raw & PLAIN_WRITE ? HW_WRITE : 0) |
	       (raw & PLAIN_EXEC ? HW_EXEC : 0);
}

static unsigned long plain_frame(u64 raw)
{
	return (raw & PLAIN_FRAME) >> PAGE_SHIFT;
}

static bool plain_is_dirty(u64 raw)
{
	return raw & PLAIN_DIRTY;
}

static bool plain_is_young(u64 raw)
{
	return raw & PLAIN_ACCESSED;
}

static struct hw_walk plain_walk(u64 raw, bool write)
{
	if (!(raw & PLAIN_VALID) || (write && !(raw & PLAIN_WRITE)))
		return (struct hw_walk) { raw, false };
	raw |= PLAIN_ACCESSED | (write ? PLAIN_DIRTY : 0);
	return (struct hw_walk) { raw, true };
}

static const struct hw hw = {
	.page_shift = PAGE_SHIFT,
	.rights = plain_rights,
	.pfn = plain_frame,
	.dirty = plain_is_dirty,
	.young = plain_is_young,
	.walk = plain_walk,
};

static const char *const modes[] = { "plain", NULL };

static void format_mode(unsigned int mode)
{
}

/* Bits that the hardware does not look at: left out of the interleavings. */
#define FORMAT_COLD_BITS	(PLAIN_SOFT_DIRTY | PLAIN_UFFD_WP | PLAIN_EXEC | \
				 PLAIN_SPECIAL)
#define FORMAT_COLD(bits)	((bits) & FORMAT_COLD_BITS)
