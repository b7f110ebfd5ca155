/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: <asm/pgtable.h> has the few features there are. */
