/* SPDX-License-Identifier: GPL-2.0 */
/* x86 alone reads and writes an entry by these names; all are on 64 bits. */
#ifndef _LINUX_COMPILER_H
#define _LINUX_COMPILER_H

#include "host.h"

#define READ_ONCE(x)			cell_load(&(x))
#define WRITE_ONCE(x, val)		cell_store(&(x), val)
#define try_cmpxchg(ptr, old, new)	cell_cmpxchg(ptr, old, new)

#endif /* _LINUX_COMPILER_H */
