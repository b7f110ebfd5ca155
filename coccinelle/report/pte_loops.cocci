// SPDX-License-Identifier: GPL-2.0
/// Loops over a user page table that still handle one PTE per round.
///
//# A report, not a change: whether a batch is worth it has to be looked at.
//# "modify", "read" or "helper" tells what the loop does to the entry.  Loops
//# over kernel page tables and loops that step by more than one are left out.
//
// Confidence: Low
// Options: --no-includes
// Requires: 1.1.1
// Keywords: pte, batch, folio
// Comments: MODE=patch is accepted and changes nothing.

virtual patch
virtual report
virtual org
virtual context

@initialize:python@
@@
import re
import sys

MODIFY = re.compile(r"^(ptep_(get_and_clear|clear|set|test_and_clear|modify_prot)|set_pte|pte_clear)")
READ = re.compile(r"^ptep_get(_lockless)?$")
loops = {}

def kind(names):
	if any(MODIFY.match(n) for n in names):
		return "modify"
	return "read" if any(READ.match(n) for n in names) else "helper"

// something gets the entry, and later the pointer goes to the next one
@call exists@
pte_t *P;
position pp, pf;
identifier fn;
identifier F != { pte_unmap, pte_unmap_unlock, pte_index, set_page_refs };
@@
fn(...)
{
 ... when any
(
 F@pf(..., P, ...)
|
 F@pf(..., *P, ...)
)
 ... when any
(
 P@pp++
|
 ++P@pp
)
 ... when any
}

@kernel exists@
identifier call.fn;
@@
fn(...)
{
 <+...
 \(pte_offset_kernel\|pte_alloc_kernel\|pte_alloc_kernel_track\)(...)
 ...+>
}

// both the address and the pointer come back to the call one further on
@address depends on !kernel exists@
identifier call.fn, call.F;
position call.pf;
expression A;
@@
fn(...)
{
 ... when any
 F@pf(...)
 ... when any
 A += PAGE_SIZE
 ... when any
 F@pf(...)
 ... when any
}

@back depends on address exists@
pte_t *call.P;
identifier call.fn, call.F;
position call.pp, call.pf, pb;
@@
fn(...)
{
 ... when any
(
 P@pp@pb++
|
 ++P@pp@pb
)
 ... when any
 F@pf(...)
 ... when any
}

// On the way back to the call, not only somewhere in the function: a second
// loop of a converted function counts.
@batched depends on back exists@
pte_t *call.P;
identifier call.fn, call.F;
position call.pf, pn;
expression NR != 1;
identifier LOOKUP =~ "^pte_(offset|alloc)_";
@@
fn(...)
{
 ... when any
 F@pf(...)
 ... when any
     when != P = LOOKUP(...)
(
 P@pn += NR
|
 folio_pte_batch@pn(...)
|
 folio_pte_batch_flags@pn(...)
)
 ... when any
     when != P = LOOKUP(...)
 F@pf(...)
 ... when any
}

@ctx depends on context && back && !batched@
pte_t *call.P;
position call.pp;
@@
(
* P@pp++
|
* ++P@pp
)

@script:python depends on (report || org) && back && !batched@
fn << call.fn;
pp << call.pp;
F << call.F;
pf << call.pf;
P << call.P;
@@
where = (pp[0].file, int(pp[0].line), fn, P)
loops.setdefault(where, (pp[0], {}))[1].setdefault(F, int(pf[0].line))

@script:python depends on (report || org) && back@
fn << call.fn;
@@
for where in sorted(loops):
	pos, calls = loops[where]
	text = ", ".join("%s:%d" % (f, calls[f]) for f in sorted(calls))
	coccilib.report.print_report(pos, "opportunity(%s): %s() steps %s by one PTE; calls %s" % (kind(calls), where[2], where[3], text))
loops.clear()

@script:python depends on patch && back && !batched@
fn << call.fn;
@@
if fn not in loops:
	loops[fn] = True
	sys.stderr.write("pte_loops: %s(): a report only, nothing is changed; use MODE=report\n" % fn)
