/* SPDX-License-Identifier: GPL-2.0 */
/* As much of an address space, a VMA, a page and a folio as the headers see. */
#ifndef _LINUX_MM_TYPES_H
#define _LINUX_MM_TYPES_H

#include <linux/types.h>
#include <asm/pgtable_types.h>

typedef struct {
	int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return v->counter;
}

typedef int __bitwise cydp_t;

#define CYDP_CLEAR_YOUNG	((__force cydp_t)1)
#define CYDP_CLEAR_DIRTY	((__force cydp_t)2)

/**
 * struct mm_context - what any of the architectures keeps in it
 * @copros: accelerators attached (powerpc)
 * @id: address space identifier (arm64)
 * @sync_tlb_range_from: what the host has to be told of (um)
 * @sync_tlb_range_to: its end
 */
struct mm_context {
	atomic_t copros;
	unsigned long id;
	unsigned long sync_tlb_range_from;
	unsigned long sync_tlb_range_to;
};

struct mm_struct {
	struct mm_context context;
};

/**
 * struct vm_area_struct - a VMA
 * @vm_mm: address space
 * @vm_start: first address
 * @vm_end: address behind the last
 * @vm_flags: VM_*
 * @vm_page_prot: protection of its entries
 * @soft_dirty: writes are tracked by soft-dirty
 * @uffd_wp: writes are watched by userfaultfd
 * @uffd_rwp: reads as well
 */
struct vm_area_struct {
	struct mm_struct *vm_mm;
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	pgprot_t vm_page_prot;
	bool soft_dirty;
	bool uffd_wp;
	bool uffd_rwp;
};

#define VM_WRITE		0x2UL
#define VM_SHARED		0x8UL
#define VM_SHADOW_STACK		0x100UL

struct page {
	unsigned long flags;
	struct folio *folio;
#ifdef HOST_TIMED
	/* As large as the kernel's, a cache line. */
	unsigned long rest[6];
#endif
};

#define PG_anon_exclusive	3

/**
 * struct folio - a folio and who refers to it
 * @page: its first page
 * @nr: number of pages
 * @anon: it is anonymous
 * @swapcache: it is in the swap cache
 * @ksm: its pages are shared by content
 * @locked: somebody holds its lock
 * @refs: references
 * @mapcount: mappings among them
 * @late: references that appear when the lock is taken
 * @owner: the VMA whose anon_vma is the folio's
 */
struct folio {
	struct page *page;
	unsigned int nr;
	bool anon;
	bool swapcache;
	bool ksm;
	bool locked;
	int refs;
	int mapcount;
	int late;
	struct vm_area_struct *owner;
};

#endif /* _LINUX_MM_TYPES_H */
