/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two suites of callers in the names of 6.12, for trees that have others.
 */
#ifndef _PTEBATCH_CALLERS_NEWER_H
#define _PTEBATCH_CALLERS_NEWER_H

#include <linux/mm.h>
#include <linux/shmem_fs.h>
#include <linux/swapops.h>
#include "../../internal.h"
#include "../../vma.h"

#ifdef HAVE_vma_flags_t

#include <linux/leafops.h>

#define PAGE_MAPPING_ANON	FOLIO_MAPPING_ANON
#define PAGE_MAPPING_KSM	FOLIO_MAPPING_KSM

#define pte_to_swp_entry	softleaf_from_pte
#define pte_swp_uffd_wp		pte_swp_uffd
#define pte_swp_mkuffd_wp	pte_swp_mkuffd

static inline struct file *newer_shmem_file(const char *name, loff_t size)
{
	return shmem_file_setup(name, size, mk_vma_flags(VMA_NORESERVE_BIT));
}

static inline struct vm_area_struct *
newer_vma_dontdump(struct vma_iterator *vmi, struct vm_area_struct *vma,
		   unsigned long start, unsigned long end)
{
	vma_flags_t flags = vma->flags;

	vma_flags_set(&flags, VMA_DONTDUMP_BIT);
	return vma_modify_flags(vmi, vma, vma, start, end, &flags);
}

#else /* HAVE_vma_flags_t */

static inline struct file *newer_shmem_file(const char *name, loff_t size)
{
	return shmem_file_setup(name, size, VM_NORESERVE);
}

static inline struct vm_area_struct *
newer_vma_dontdump(struct vma_iterator *vmi, struct vm_area_struct *vma,
		   unsigned long start, unsigned long end)
{
	return vma_modify_flags(vmi, vma, vma, start, end,
				vma->vm_flags | VM_DONTDUMP);
}

#endif /* HAVE_vma_flags_t */

/* Userfaultfd's protection against reads: none of it in older trees. */
#ifndef MM_CP_UFFD_RWP
#define MM_CP_UFFD_RWP		0
#define MM_CP_UFFD_RWP_RESOLVE	0
#define VM_UFFD_RWP		VM_NONE
#endif

#endif /* _PTEBATCH_CALLERS_NEWER_H */
