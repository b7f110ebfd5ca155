// SPDX-License-Identifier: GPL-2.0
/*
 * The layout that the host tests' models are made of (lib/layout) is that of
 * this tree. One line there is one assertion here; with LAYOUT_DRIFT every line
 * has to be refused, which shows that all of them are looked at.
 */
#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/pgtable.h>

#ifdef LAYOUT_DRIFT
#define LAYOUT(name, value)	static_assert((name) != (value))
#else
#define LAYOUT(name, value)	static_assert((name) == (value))
#endif

/* um on x86_64 is both. */
#if defined(CONFIG_UML)
#include "layout/um.h"
#elif defined(CONFIG_X86_64)
/* The encryption bit is found at boot. */
#undef _PAGE_CC
#define _PAGE_CC		0
#include "layout/x86.h"
#elif defined(CONFIG_ARM64)
#include "layout/arm64.h"
#elif defined(CONFIG_PPC_BOOK3S_64)
#include "layout/powerpc.h"
#else
#error no model of this architecture
#endif
