/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: what the headers use of it is in <linux/mm.h>. */
