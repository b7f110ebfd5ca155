// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static vm_fault_t on_write(struct vm_fault *fault, struct folio *whole)
{
	if (PageAnonExclusive(fault->page) || wp_can_reuse_anon_folio(whole, fault->vma))
		wp_page_reuse(fault, whole);
	else
		return wp_page_copy(fault);
	return 0;
}
