/* SPDX-License-Identifier: GPL-2.0 */
/* What Kbuild generates for an architecture without overrides. */
#include <asm-generic/pgtable_batch.h>
