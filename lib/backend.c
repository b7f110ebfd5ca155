// SPDX-License-Identifier: GPL-2.0
/*
 * One backend: the headers of include/ and arch/ as they are, on the format
 * that -I has chosen, and all tests. HOST_BACKEND is its name.
 */
#include <linux/folio_pte_batch.h>
#include <asm/format.h>

#include "host.h"
#include "tests/ops.h"
#include "tests/table.h"
#include "tests/exact.h"
#include "tests/fold.h"
#include "tests/interleave.h"
#include "tests/pairs.h"
#include "tests/folio.h"
#include "tests/reuse.h"
#include "tests/threads.h"
#include "tests/fuzz.h"

static void set_mode(unsigned int mode)
{
	mm = (struct mm_struct) { .context.id = 7 };
	vma = (struct vm_area_struct) {
		.vm_mm = &mm,
		.vm_start = HOST_BASE,
		.vm_end = HOST_BASE + HOST_SLOTS * PAGE_SIZE,
	};
	mode_stride = MODE_STRIDE(mode);
	skip_count = 0;
	format_mode(mode);
	status_list();
}

static const struct host_group groups[] = {
	{ "values", test_values },
	{ "exhaustive-modprot", test_exhaustive_modprot },
	{ "exhaustive-flags", test_exhaustive_flags },
	{ "exhaustive-access", test_exhaustive_access },
	{ "exhaustive-helpers", test_exhaustive_helpers },
	{ "lengths", test_lengths },
	{ "none", test_none },
#ifdef FORMAT_BLOCK
	{ "fold", test_fold },
#endif
	{ "interleave-one", test_interleave_one },
	{ "interleave-two", test_interleave_two },
	{ "interleave-random", test_interleave_random },
	{ "interleave-pairs", test_interleave_pairs },
	{ "threads", test_threads },
	{ "detect", test_detect },
	{ "protect", test_protect },
	{ "numa", test_numa },
	{ "reuse", test_reuse },
	{ "flush-local", test_flush_local },
	{ }
};

static struct host_backend backend = {
	.name = HOST_BACKEND,
	.modes = modes,
	.set_mode = set_mode,
	.groups = groups,
	.fuzz = fuzz_one,
};

__attribute__((constructor)) static void backend_register(void)
{
	host_register(&backend);
}
