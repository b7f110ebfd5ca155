// SPDX-License-Identifier: GPL-2.0
#include "internal.h"
#include <linux/folio_pte_batch.h>

static vm_fault_t on_write(struct vm_fault *fault, struct folio *whole)
{
	if (PageAnonExclusive(fault->page) ||
		wp_can_reuse_anon_folio(whole, fault->vma) ||
		wp_reuse_large_folio(fault, whole))
		wp_page_reuse(fault, whole);
	else
		return wp_page_copy(fault);
	return 0;
}
