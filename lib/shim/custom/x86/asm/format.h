/* SPDX-License-Identifier: GPL-2.0 */
/* x86 as the hardware and the tests see it. */

static struct vm_area_struct vma;

static const u64 status_bits[] = {
	_PAGE_PRESENT, _PAGE_PROTNONE, _PAGE_RW, _PAGE_ACCESSED, _PAGE_DIRTY,
	_PAGE_SAVED_DIRTY, _PAGE_SOFT_DIRTY, _PAGE_UFFD_WP, _PAGE_NX,
	_PAGE_SPECIAL, 1UL << 59, 1UL << 51,
};

static bool status_dirty_exists(u64 bits)
{
	const bool shadow = vma.vm_flags & VM_SHADOW_STACK;

	/* Saved in its own bit, or where the hardware puts it, not both. */
	if (bits & _PAGE_SAVED_DIRTY)
		return !(bits & (_PAGE_RW | _PAGE_DIRTY));
	if (bits & _PAGE_RW)
		return !shadow;
	/* Read-only and dirty: shadow stack, or set by an old processor. */
	return !(bits & _PAGE_DIRTY) || shadow || !x86_shstk;
}

static bool status_exists(u64 bits)
{
	const u64 seldom = bits & (_PAGE_NX | _PAGE_SPECIAL | 1UL << 59 | 1UL << 51);

	if (!(bits & _PAGE_PRESENT) == !(bits & _PAGE_PROTNONE))
		return false;
	if (bits & _PAGE_RW && bits & (_PAGE_UFFD_WP | _PAGE_PROTNONE))
		return false;
	if (!status_dirty_exists(bits) || (bits & 1UL << 51 && !x86_cc_mask))
		return false;
	/* One of each is enough to see that they are kept, or not spread. */
	return !seldom || (!(seldom & (seldom - 1)) &&
			   bits == (seldom | _PAGE_PRESENT | _PAGE_ACCESSED));
}

static pte_t status_pte(unsigned long pfn, u64 bits)
{
	if (bits & _PAGE_PRESENT)
		bits |= _PAGE_USER;
	return pfn_pte(pfn, __pgprot(bits ^ _PAGE_NX));
}

/* A swap entry, or none; the low bits are the swap bits of an entry. */
static u64 absent_raw(unsigned int what)
{
	return what ? ~((u64)what << 14) & ~0x1ffUL : 0;
}

/* A shadow stack is private: its third one is read-only as well. */
static pgprot_t prots[] = {
	PAGE_NONE, PAGE_READONLY, PAGE_SHARED, PAGE_READONLY_EXEC,
};

static unsigned int x86_rights(u64 raw)
{
	unsigned int rights = HW_READ;

	if (!(raw & _PAGE_PRESENT))
		return 0;
	if (raw & _PAGE_RW)
		rights |= HW_WRITE;
	else if (x86_shstk && raw & _PAGE_DIRTY)
		rights |= HW_SHADOW;
	return raw & _PAGE_NX ? rights : rights | HW_EXEC;
}

static unsigned long x86_pfn(u64 raw)
{
	return x86_frame(raw) >> PAGE_SHIFT;
}

static bool x86_dirty(u64 raw)
{
	return raw & _PAGE_DIRTY;
}

static bool x86_young(u64 raw)
{
	return raw & _PAGE_ACCESSED;
}

static struct hw_walk x86_walk(u64 raw, bool write)
{
	const bool shadow = vma.vm_flags & VM_SHADOW_STACK;
	bool ok = raw & _PAGE_PRESENT;

	if (!ok)
		return (struct hw_walk) { raw, false };
	if (write)
		ok = shadow ? x86_rights(raw) & HW_SHADOW : raw & _PAGE_RW;
	/* Before shadow stacks, dirty was set without a look at the rights. */
	if (write && (ok || !x86_shstk))
		raw |= _PAGE_DIRTY;
	if (ok || !x86_shstk)
		raw |= _PAGE_ACCESSED;
	return (struct hw_walk) { raw, ok };
}

static const char *x86_bad_store(u64 last, u64 new, bool clean)
{
	const bool shadow = vma.vm_flags & VM_SHADOW_STACK;

	if (!shadow && x86_rights(new) & HW_SHADOW)
		return "a plain page became shadow stack";
	if (shadow && new & _PAGE_RW)
		return "a page of a shadow stack became plainly writable";
	return NULL;
}

static const struct hw hw = {
	.page_shift = PAGE_SHIFT,
	.rights = x86_rights,
	.pfn = x86_pfn,
	.dirty = x86_dirty,
	.young = x86_young,
	.walk = x86_walk,
	.bad_store = x86_bad_store,
};

static const char *const modes[] = {
	"plain", "shstk", "shstk-vma", "table-check", "xenpv", NULL
};

static void format_mode(unsigned int mode)
{
	x86_shstk = mode == 1 || mode == 2;
	vma.vm_flags = mode == 2 ? VM_SHADOW_STACK : 0;
	page_table_check_disabled = mode != 3;
	x86_xenpv = mode == 4;
	x86_cc_mask = mode == 1 ? 1UL << 51 : 0;
	prots[2] = mode == 2 ? PAGE_READONLY : PAGE_SHARED;
	cpu_tlbstate.loaded_mm = vma.vm_mm;
}

/* Then ptep_set_access_flags() of the tree is at work, and it is no atomic. */
#define FORMAT_SAF_RACES	(x86_xenpv || !page_table_check_disabled)

/* Bits that the hardware does not look at: left out of the interleavings. */
#define FORMAT_COLD_BITS	(_PAGE_SOFT_DIRTY | _PAGE_UFFD_WP | _PAGE_NX | \
				 _PAGE_SPECIAL | 1UL << 59 | 1UL << 51)
#define FORMAT_COLD(bits)	((bits) & FORMAT_COLD_BITS)

/* An own loop, which has nothing to do for no entry, and does not complain. */
#define FORMAT_WARNS(kind)	((kind) != OP_ACCESS)

/* flush_tlb_local_ptes() does something. */
#define FORMAT_FLUSHES_LOCAL	true

/* Another address space is loaded: nothing of this one is cached. */
static inline void x86_unload(bool unload)
{
	cpu_tlbstate.loaded_mm = unload ? NULL : vma.vm_mm;
}

#define FORMAT_UNLOAD		x86_unload

#define FORMAT_STARTS_LIVE	x86_xenpv

/* The hypervisor puts dirty where the hardware does, writable or not. */
static inline u64 x86_entry(u64 raw)
{
	const u64 both = _PAGE_DIRTY | _PAGE_SAVED_DIRTY;

	return x86_xenpv && raw & both ? raw | both : raw;
}

#define FORMAT_ENTRY		x86_entry

/* Page table check and Xen PV take the fallbacks, which others are at. */
#define MODE_STRIDE(mode)	((mode) < 2 ? 1 : 7)
