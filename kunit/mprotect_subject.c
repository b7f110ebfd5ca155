// SPDX-License-Identifier: GPL-2.0
/*
 * This tree's own mm/mprotect.c once more, with NUMA decided by the test.  The
 * differential test calls the kernel's change_protection() itself for
 * everything else.
 */
#define MPROTECT_NAME(name) subject_##name
#include "mprotect_rename.h"
#include "../../mprotect.c"
