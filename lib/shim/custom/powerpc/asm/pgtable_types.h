/* SPDX-License-Identifier: GPL-2.0 */
/* An entry is kept as the hardware reads it: big-endian. */
#ifndef _ASM_PGTABLE_TYPES_H
#define _ASM_PGTABLE_TYPES_H

#include "host.h"

typedef u64 pteval_t;

typedef struct {
	u64 pte;
} pte_t;

typedef struct {
	u64 pgprot;
} pgprot_t;

static inline u64 ppc_swab(u64 value)
{
	return __builtin_bswap64(value);
}

#define __pte(x)	((pte_t) { ppc_swab(x) })
#define __pgprot(x)	((pgprot_t) { (x) })
#define pgprot_val(x)	((x).pgprot)
#define pte_val(x)	ppc_swab((x).pte)

#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))

static inline pte_t pte_load(pte_t *ptep)
{
	return (pte_t) { cell_load(&ptep->pte) };
}

#endif /* _ASM_PGTABLE_TYPES_H */
