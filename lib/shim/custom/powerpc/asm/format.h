/* SPDX-License-Identifier: GPL-2.0 */
/* powerpc as the hardware (or the hash fault handler) and the tests see it. */

static struct mm_struct mm;

static const u64 status_bits[] = {
	_PAGE_READ, _PAGE_WRITE, _PAGE_ACCESSED, _PAGE_DIRTY, _PAGE_SOFT_DIRTY,
	H_PAGE_HASHPTE, H_PAGE_COMBO, _PAGE_EXEC, _PAGE_SPECIAL,
};

static bool status_exists(u64 bits)
{
	const u64 seldom = bits & (_PAGE_EXEC | _PAGE_SPECIAL);

	if (bits & _PAGE_HPTEFLAGS && (ppc_radix || !(bits & H_PAGE_HASHPTE)))
		return false;
	if (bits & _PAGE_WRITE && !(bits & _PAGE_READ))
		return false;
	/* One of each is enough to see that they are kept. */
	return !seldom || bits == (seldom | _PAGE_READ | _PAGE_ACCESSED);
}

static pte_t status_pte(unsigned long pfn, u64 bits)
{
	return pfn_pte(pfn, __pgprot(bits | _PAGE_PRESENT));
}

/* A swap entry, or none. */
static u64 absent_raw(unsigned int what)
{
	return what ? ppc_swab((u64)what << PAGE_SHIFT | _PAGE_PTE) : 0;
}

static pgprot_t prots[] = {
	PAGE_NONE, PAGE_READONLY, PAGE_SHARED, PAGE_READONLY_EXEC,
};

static unsigned int ppc_rights(u64 raw)
{
	const u64 val = ppc_swab(raw);

	if (!ppc_hw_valid(val))
		return 0;
	return (val & _PAGE_READ ? HW_READ : 0) |
	       (val & _PAGE_WRITE ? HW_WRITE : 0) |
	       (val & _PAGE_EXEC ? HW_EXEC : 0);
}

static unsigned long ppc_pfn(u64 raw)
{
	return (ppc_swab(raw) & PTE_RPN_MASK) >> PAGE_SHIFT;
}

static bool ppc_dirty(u64 raw)
{
	return ppc_swab(raw) & _PAGE_DIRTY;
}

/* Under hash, a CPU knows what has a hash entry. */
static bool ppc_young(u64 raw)
{
	const u64 val = ppc_swab(raw);

	return val & _PAGE_ACCESSED && (ppc_radix || val & H_PAGE_HASHPTE);
}

static struct hw_walk ppc_walk(u64 raw, bool write)
{
	const unsigned int need = write ? HW_WRITE : HW_READ;
	u64 val = ppc_swab(raw);

	if (!(ppc_rights(raw) & need) || (!ppc_radix && val & H_PAGE_BUSY))
		return (struct hw_walk) { raw, false };
	val |= _PAGE_ACCESSED | (write ? _PAGE_DIRTY : 0);
	if (!ppc_radix)
		val |= H_PAGE_BUSY;
	return (struct hw_walk) { ppc_swab(val), true };
}

/* The hash entry is in its place: say so, and of which size, and let go. */
static u64 ppc_finish(u64 raw)
{
	u64 val = ppc_swab(raw);

	val = (val & ~_PAGE_HPTEFLAGS) | H_PAGE_HASHPTE | H_PAGE_COMBO;
	return ppc_swab(val);
}

static bool ppc_busy(u64 raw)
{
	return !ppc_radix && ppc_swab(raw) & H_PAGE_BUSY;
}

static const char *ppc_bad_store(u64 last, u64 new, bool clean)
{
	const bool nest = ppc_radix && !ppc_isa31 && mm.context.copros.counter;

	if (nest && !clean && is_pte_rw_upgrade(ppc_swab(last), ppc_swab(new)))
		return "rights grew under a nest MMU without invalidation and flush";
	return NULL;
}

static const struct hw hw = {
	.page_shift = PAGE_SHIFT,
	.rights = ppc_rights,
	.pfn = ppc_pfn,
	.dirty = ppc_dirty,
	.young = ppc_young,
	.walk = ppc_walk,
	.finish = ppc_finish,
	.busy = ppc_busy,
	.bad_store = ppc_bad_store,
};

static const char *const modes[] = {
	"radix", "radix-nmmu", "hash", NULL
};

static void format_mode(unsigned int mode)
{
	ppc_radix = mode != 2;
	ppc_isa31 = mode == 0;
	mm.context.copros.counter = mode < 2;
}

/* The nest MMU's flush between the halves comes once for a range. */
#define FORMAT_RANGE_FLUSH	(ppc_radix && !ppc_isa31)

/* Bits that the hardware does not look at: left out of the interleavings. */
#define FORMAT_COLD_BITS	(_PAGE_SOFT_DIRTY | H_PAGE_COMBO | _PAGE_EXEC | \
				 _PAGE_SPECIAL)
#define FORMAT_COLD(bits)	((bits) & FORMAT_COLD_BITS || \
				 ((bits) & (_PAGE_ACCESSED | H_PAGE_HASHPTE)) == \
				 H_PAGE_HASHPTE)

/* The tree's own set_ptes(), and a loop of our own that does not complain. */
#define FORMAT_WARNS(kind)	((kind) != OP_SET && (kind) != OP_ACCESS)

/* Under hash the fallback is at work, which has a backend of its own. */
#define MODE_STRIDE(mode)	((mode) == 2 ? 5 : 1)

/* Where a hash entry is, and whether there is one, is up to the CPUs. */
#define FORMAT_ENTRY(raw)	(ppc_radix ? (raw) : (raw) & ~ppc_swab(_PAGE_HPTEFLAGS))
