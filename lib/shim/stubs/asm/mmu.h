/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: <asm/pgtable_types.h> has the context. */
