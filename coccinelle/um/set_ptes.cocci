// SPDX-License-Identifier: GPL-2.0
/// A loop that fills consecutive entries has to advance the PFN by one per
/// step.  Advancing it by the remaining count is right for two entries only.
///
//# The count is made unsigned as well: that is the generic prototype, and
//# a negative count means nothing here.
//
// Confidence: High
// Options: --no-includes --include-headers
// Requires: 1.1.1
// Keywords: set_ptes, PFN, UML
// Comments: rule "advance" is the fault, rule "good" is what it looks like
// Comments: when it is mended.

virtual patch
virtual report
virtual org
virtual context

// The count goes down once per step, and the PFN goes up by what is left of it.
@advance exists@
identifier fn, N;
idexpression PTE;
expression S;
position p;
@@
fn(..., int N, ...)
{
 ... when any
(
 --N
|
 N--
|
 N -= 1
)
 ... when any
(
 PTE = __pte(pte_val(PTE) + (N <<@p S))
|
 pte_val(PTE) += N <<@p S
)
 ... when any
(
 --N
|
 N--
|
 N -= 1
)
 ... when any
}

@script:python depends on report || org@
fn << advance.fn;
N << advance.N;
p << advance.p;
@@
coccilib.report.print_report(p[0], "opportunity: %s() advances the PFN by the remaining count %s, not by one" % (fn, N))

@ctx depends on context@
identifier advance.N;
expression advance.S;
position advance.p;
@@
* N <<@p S

@step depends on patch@
identifier advance.N;
expression advance.S;
position advance.p;
@@
- N <<@p S
+ 1UL << S

@count depends on step@
identifier advance.fn, advance.N;
@@
fn(...,
-  int N
+  unsigned int N
   , ...)
{
 ...
}

@good depends on report || org exists@
identifier fn, N;
idexpression PTE;
constant ONE = 1UL;
expression S;
position p;
@@
fn(..., unsigned int N, ...)
{
 ... when any
(
 PTE = __pte(pte_val(PTE) + (ONE <<@p S))
|
 pte_val(PTE) += ONE <<@p S
)
 ... when any
}

@script:python@
fn << good.fn;
p << good.p;
@@
coccilib.report.print_report(p[0], "already: %s() advances the PFN by one" % fn)

// by a value that stays the same from step to step
@other depends on report || org exists@
identifier fn;
idexpression PTE;
expression STEP != 1UL, S;
position p != { advance.p, good.p };
@@
fn(...)
{
 ... when any
(
 PTE = __pte(pte_val(PTE) + (STEP <<@p S))
|
 pte_val(PTE) += STEP <<@p S
)
 ... when any
}

@script:python@
fn << other.fn;
STEP << other.STEP;
p << other.p;
@@
coccilib.report.print_report(p[0], "note: %s() stays as it is because %s is not a count that goes down with each step" % (fn, STEP))
