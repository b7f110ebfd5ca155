/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: the model of mmu_gather is in <linux/mm.h>. */
