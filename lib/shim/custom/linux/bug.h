/* SPDX-License-Identifier: GPL-2.0 */
/* A warning is counted, and the test says whether one was due. */
#ifndef _LINUX_BUG_H
#define _LINUX_BUG_H

#include "host.h"

#define WARN_ON_ONCE(condition) ({			\
	bool __warned = !!(condition);			\
							\
	if (__warned)					\
		host_warnings++;			\
	__warned;					\
})

#endif /* _LINUX_BUG_H */
