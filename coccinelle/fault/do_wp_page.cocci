// SPDX-License-Identifier: GPL-2.0
/// A write fault on an exclusive large anonymous folio can reuse the whole
/// folio instead of copying it page by page.
///
//# wp_reuse_large_folio() comes last: it is asked only where today's code
//# would copy, so that no fault takes longer than before unless it wins.
//# It returns true only when each reference to the folio is an entry of the
//# locked page table.
//
// Confidence: High
// Options: --no-includes
// Requires: 1.1.1
// Keywords: do_wp_page, folio, reuse, copy-on-write

virtual patch
virtual report
virtual org
virtual context

@initialize:python@
@@
page_by_page = set()

// Trees from 6.15 on reuse one page of such a folio, and then the next one: to
// take over all of it comes first.
@large exists@
identifier fn;
position q;
@@
fn(...)
{
 ... when any
 __wp_can_reuse_large_anon_folio@q(...)
 ... when any
}

@script:python@
q << large.q;
@@
page_by_page.add(q[0].file)

// The one decision to reuse an anonymous page: exclusive already, or found to
// be so now; what it guards reuses the page of the same fault and folio.
@done@
expression VMF, F, V;
position pd;
@@
 PageAnonExclusive(VMF->page) ||@pd wp_can_reuse_anon_folio(F, V) || wp_reuse_large_folio(VMF, F)

@site exists@
expression VMF, F, V;
statement S1;
identifier fn;
position p != done.pd;
@@
fn(...)
{
 ... when any
(
 if (<+... (PageAnonExclusive(VMF->page) ||@p wp_can_reuse_anon_folio(F, V)) ...+>) {
  ... when any
  wp_page_reuse(VMF, F);
  ... when any
 }
|
 if (<+... (PageAnonExclusive(VMF->page) ||@p wp_can_reuse_anon_folio(F, V)) ...+>) {
  ... when any
  wp_page_reuse(VMF, F);
  ... when any
 } else S1
)
 ... when any
}

// Same decision, but what follows is not known to belong to it.
@other depends on !site exists@
expression VMF, F, V;
identifier fn;
position p != done.pd;
@@
fn(...)
{
 ... when any
 PageAnonExclusive(VMF->page) ||@p wp_can_reuse_anon_folio(F, V)
 ... when any
}

@already exists@
expression VMF, F;
identifier fn;
position p != done.pd;
@@
fn(...)
{
 ... when any
 wp_reuse_large_folio@p(VMF, F)
 ... when any
}

@script:python depends on report || org@
fn << site.fn;
F << site.F;
p << site.p;
@@
coccilib.report.print_report(p[0], "opportunity: %s() copies a large folio page by page although %s may be exclusive" % (fn, F))

@script:python depends on report || org@
fn << other.fn;
p << other.p;
@@
coccilib.report.print_report(p[0], "note: %s() stays as it is because what follows the test does not reuse the page of this fault" % fn)

@script:python depends on report || org@
fn << already.fn;
p << already.p;
@@
coccilib.report.print_report(p[0], "already: %s() reuses whole folios" % fn)

@ctx depends on context@
expression site.VMF, site.F, site.V;
position site.p;
@@
* PageAnonExclusive(VMF->page) ||@p wp_can_reuse_anon_folio(F, V)

@script:python order depends on patch && site@
VMF << site.VMF;
F << site.F;
V << site.V;
p << site.p;
FIRST; SECOND;
@@
calls = ["wp_can_reuse_anon_folio(%s, %s)" % (F, V), "wp_reuse_large_folio(%s, %s)" % (VMF, F)]
if p[0].file in page_by_page:
	calls.reverse()
coccinelle.FIRST, coccinelle.SECOND = map(cocci.make_expr, calls)

@edit depends on patch@
expression site.VMF, site.F, site.V, order.FIRST, order.SECOND;
position site.p;
@@
 PageAnonExclusive(VMF->page)
- ||@p wp_can_reuse_anon_folio(F, V)
+ ||
+ FIRST ||
+ SECOND

@included depends on edit@
@@
#include <linux/folio_pte_batch.h>

@include depends on edit && !included@
@@
 #include "internal.h"
+#include <linux/folio_pte_batch.h>

@has_include depends on edit@
@@
#include <linux/folio_pte_batch.h>

@script:python depends on edit && !has_include@
fn << site.fn;
@@
import sys
sys.stderr.write("do_wp_page: %s(): no #include \"internal.h\" to add ours to, nothing is changed\n" % fn)
sys.exit(4)
