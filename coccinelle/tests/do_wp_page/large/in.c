// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

static bool wp_can_reuse_anon_folio(struct folio *whole, struct vm_area_struct *area)
{
	if (folio_test_large(whole))
		return __wp_can_reuse_large_anon_folio(whole, area);
	return folio_ref_count(whole) == 1;
}

static vm_fault_t on_write(struct vm_fault *fault)
{
	struct vm_area_struct *area = fault->vma;
	struct folio *whole = page_folio(fault->page);

	if ((PageAnonExclusive(fault->page) ||
	     wp_can_reuse_anon_folio(whole, area)) && folio_test_anon(whole)) {
		SetPageAnonExclusive(fault->page);
		wp_page_reuse(fault, whole);
		return 0;
	}
	return wp_page_copy(fault);
}
