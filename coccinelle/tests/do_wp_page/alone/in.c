// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static vm_fault_t on_write(struct vm_fault *fault)
{
	struct vm_area_struct *area = fault->vma;
	struct folio *whole = page_folio(fault->page);

	if (PageAnonExclusive(fault->page) || wp_can_reuse_anon_folio(whole, area)) {
		SetPageAnonExclusive(fault->page);
		wp_page_reuse(fault, whole);
		return 0;
	}
	return wp_page_copy(fault);
}
