// SPDX-License-Identifier: GPL-2.0
/// A loop that handles runs of present PTEs can skip a run of empty ones as
/// well: each of them costs a round, and a round has become dearer.
///
//# Matched by role: the value X of the entry P, which maps the address A, the
//# end E, the count N of the round's entries.  Only where a round ends because
//# the entry is none and for no other reason that depends on it.
//
// Confidence: High
// Options: --no-includes
// Requires: 1.1.1
// Keywords: pte, batch, mprotect
// Comments: after change_pte_range.cocci, which makes the count.

virtual patch
virtual report
virtual org
virtual context

@initialize:python@
@@
import re

// The steps of a loop over runs.
@steps exists@
identifier fn, N;
idexpression A;
expression E;
pte_t *P;
position pe;
@@
fn(...)
{
 ... when any
 P += N
 ... when any
 A += N * PAGE_SIZE
 ... when any
 A@pe != E
 ... when any
}

@none depends on steps exists@
identifier steps.fn, steps.N;
expression X, C;
pte_t *steps.P;
position p;
statement S;
@@
fn(...)
{
 ... when any
 N = 1;
 X = ptep_get(P);
 ... when any
(
 WARN_ON_ONCE(!pte_none(X));
 if@p (C)
  continue;
|
 if (pte_none(X)) {
  if@p (C)
   continue;
  ...
 } else S
)
 ... when any
}

// The same answer for all entries of a run: nothing of one entry is asked.
@script:python@
C << none.C;
X << none.X;
A << steps.A;
P << steps.P;
@@
if set(re.findall(r"\w+", C)) & set(re.findall(r"\w+", X + " " + A + " " + P)):
	cocci.include_match(False)

@script:python depends on none && (report || org)@
fn << steps.fn;
p << none.p;
@@
coccilib.report.print_report(p[0], "opportunity: %s() takes a round for each empty entry" % fn)

@ctx depends on none && context@
expression none.C;
position none.p;
@@
* if@p (C)
   continue;

@skip depends on none && patch@
identifier steps.N;
idexpression steps.A;
expression steps.E, none.C;
pte_t *steps.P;
position none.p;
@@
- if@p (C)
-  continue;
+ if (C) {
+  N = pte_run_none(P, (E - A) >> PAGE_SHIFT);
+  continue;
+ }

@good depends on report || org exists@
identifier fn, N;
pte_t *P;
position p;
@@
fn(...)
{
 ... when any
 N = pte_run_none@p(P, ...);
 continue;
 ... when any
}

@script:python@
fn << good.fn;
p << good.p;
@@
coccilib.report.print_report(p[0], "already: %s() skips runs of empty entries" % fn)
