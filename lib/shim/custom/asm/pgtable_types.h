/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_PGTABLE_TYPES_H
#define _ASM_PGTABLE_TYPES_H

#include "host.h"

typedef u64 pteval_t;

typedef struct {
	pteval_t pte;
} pte_t;

typedef struct {
	pteval_t pgprot;
} pgprot_t;

#define __pte(x)	((pte_t) { (x) })
#define __pgprot(x)	((pgprot_t) { (x) })
#define pgprot_val(x)	((x).pgprot)
#define pte_val(x)	((x).pte)

#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))

static inline pte_t pte_load(pte_t *ptep)
{
	return __pte(cell_load(&ptep->pte));
}

#endif /* _ASM_PGTABLE_TYPES_H */
