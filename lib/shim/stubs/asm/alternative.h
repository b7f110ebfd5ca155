/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: <asm/pgtable.h> asks the mode under test. */
