/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: nothing is flushed here but through the calls of <asm/pgtable.h>. */
