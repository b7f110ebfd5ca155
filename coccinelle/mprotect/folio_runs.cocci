// SPDX-License-Identifier: GPL-2.0
/// A loop that hands the part of one large folio to change_present_ptes() can
/// hand over the whole run of present PTEs: then no page is looked at, but for
/// NUMA hinting.
///
//# For trees that batch by folio (7.x).  Matched by role: the entry V, A, P, its
//# value X, the length N and its limit M, the folio F of page PG, and what says
//# that the change is for NUMA hinting, G.  What is used by nothing but the old
//# calls goes with them.
//
// Confidence: High
// Options: --no-includes
// Requires: 1.1.1
// Keywords: pte, batch, mprotect, folio
// Comments: change_pte_range.cocci is for trees that change one PTE per round.

virtual patch
virtual report
virtual org
virtual context

@initialize:python@
@@
refused = set()
used = set()
silent = True
# Mainline's functions that only its batch by folio needs: who calls them.
calls = set()

def going(file, fn):
	"""Those that nothing calls but @fn, which will not, and others that go."""
	here = [(caller, callee) for path, caller, callee in calls if path == file]
	gone = { callee for caller, callee in here }
	while True:
		stay = { callee for caller, callee in here
			 if callee in gone and caller not in gone | { fn } }
		if not stay:
			return gone
		gone -= stay

@initialize:python depends on report || org@
@@
silent = False

@found exists@
identifier fn;
idexpression N, M;
expression F, PG, T, V, A, P, X, E, PROT, CP, FL;
identifier G, MAY;
position p;
statement S;
@@
fn(...)
{
 ... when any
 PG = vm_normal_page(V, A, X);
 if (PG)
  F = page_folio(PG);
 if (G && !MAY(F, ...)) S
 N = mprotect_folio_pte_batch(F, P, X, M, FL);
 if (\(likely(N == 1)\|N == 1\)) {
  change_present_ptes@p(T, V, A, P, 1, E, PROT, F, PG, CP);
 } else {
  change_present_ptes(T, V, A, P, N, E, PROT, F, PG, CP);
 }
 ... when any
}

// --- what sends single entries another way before that ----------------------

@numa depends on found exists@
identifier found.fn, found.G;
expression found.X;
position q;
@@
fn(...)
{
 ... when any
 if@q (G && pte_protnone(X))
  continue;
 ... when any
}

@rwp depends on found exists@
identifier found.fn, R;
expression found.X;
position q;
@@
fn(...)
{
 ... when any
 if@q (R && pte_protnone(X) && \(pte_uffd\|pte_uffd_wp\)(X))
  continue;
 ... when any
}

@early depends on found exists@
identifier found.fn;
idexpression found.N;
expression found.F, found.PG, found.V, found.A, found.P, found.X, C;
position q != { numa.q, rwp.q };
@@
fn(...)
{
 ... when any
 if@q (C)
  continue;
 ... when any
     when != P += N
 PG = vm_normal_page(V, A, X);
 if (PG)
  F = page_folio(PG);
 ... when any
}

@script:python@
fn << found.fn;
p << found.p;
q << early.q;
C << early.C;
@@
refused.add(p[0].file + fn)
if not silent:
	coccilib.report.print_report(p[0], "note: %s() keeps batches by folio because line %s sends single entries another way" % (fn, q[0].line))

// A vendor's callers of what would go.
@called depends on found exists@
identifier H = { change_present_ptes, set_write_prot_commit_flush_ptes,
		 commit_anon_folio_batch, page_anon_exclusive_batch,
		 prot_commit_flush_ptes };
position c;
@@
H@c(...)

@script:python@
H << called.H;
c << called.c;
@@
calls.add((c[0].file, c[0].current_element, H))

@script:python depends on found@
fn << found.fn;
p << found.p;
@@
if "change_present_ptes" not in going(p[0].file, fn):
	refused.add(p[0].file + fn)
	if not silent:
		coccilib.report.print_report(p[0], "note: %s() keeps batches by folio because others call the tree's change_present_ptes()" % fn)

@script:python ok depends on found@
fn << found.fn;
p << found.p;
@@
if p[0].file + fn in refused:
	cocci.include_match(False)

// --- what says which bits end a batch by folio, if nothing else asks for it ----

@uses depends on ok exists@
identifier found.fn;
expression found.FL;
position u;
@@
fn(...)
{
 <+...
 FL@u
 ...+>
}

@script:python@
u << uses.u;
@@
used.update((q.file, q.line, q.column) for q in u)

@script:python mask depends on ok@
FL << found.FL;
p << found.p;
D;
@@
once = len([q for q in used if q[0] == p[0].file]) == 1
coccinelle.D = cocci.make_ident(FL if FL.isidentifier() and once else "cocci_batch_none")

// --- reports -----------------------------------------------------------------

@script:python depends on ok && (report || org)@
fn << found.fn;
p << found.p;
@@
coccilib.report.print_report(p[0], "opportunity: %s() changes one folio per round and looks at each page" % fn)

@ctx depends on ok && context@
position found.p;
@@
* change_present_ptes@p(...)

@done depends on report || org exists@
identifier fn;
expression N;
position p;
@@
fn(...)
{
 ... when any
 N = change_present_ptes@p(...)
 ... when any
}

@script:python@
fn << done.fn;
p << done.p;
@@
coccilib.report.print_report(p[0], "already: %s() handles runs by change_present_ptes()" % fn)

// --- the rewrite ---------------------------------------------------------------

@edit depends on ok && patch@
identifier found.G, found.MAY;
idexpression found.N, found.M;
expression found.F, found.PG, found.T, found.V, found.A, found.P, found.X;
expression found.E, found.PROT, found.CP, found.FL;
statement S;
@@
- PG = vm_normal_page(V, A, X);
- if (PG)
-  F = page_folio(PG);
+ /* NUMA hinting asks for the folio, and nothing else. */
+ if (G) {
+  PG = vm_normal_page(V, A, X);
+  if (PG)
+   F = page_folio(PG);
+ }
 if (G && !MAY(F, ...)) S
- N = mprotect_folio_pte_batch(F, P, X, M, FL);
- if (\(likely(N == 1)\|N == 1\)) {
-  change_present_ptes(T, V, A, P, 1, E, PROT, F, PG, CP);
- } else {
-  change_present_ptes(T, V, A, P, N, E, PROT, F, PG, CP);
- }
+ /* One run; each entry keeps its own bits. */
+ N = cocci_batch_limit(M);
+ if (G)
+  N = folio_run_ptes(F, P, X, M);
+ N = change_present_ptes(T, V, A, P, N, PROT, CP);

// With RWP some entries of a run are left alone: each is asked.
@limit_rwp depends on edit@
identifier rwp.R;
expression M;
@@
- cocci_batch_limit(M)
+ R ? 1 : M

@limit depends on edit@
expression M;
@@
- cocci_batch_limit(M)
+ M

// --- what nothing uses any more -------------------------------------------------

@flags depends on edit@
identifier mask.D;
@@
- const fpb_t D = ...;

@tree_call depends on edit@
identifier F = { change_present_ptes };
type T;
@@
- T F(...) { ... }

@part depends on tree_call@
identifier F = { set_write_prot_commit_flush_ptes, commit_anon_folio_batch,
		 page_anon_exclusive_batch, prot_commit_flush_ptes };
type T;
position d;
@@
T F@d(...) { ... }

// Not by include_match(): with the last match would go that edit ever matched.
@script:python lost depends on edit@
fn << found.fn;
F << part.F;
d << part.d;
H;
@@
coccinelle.H = cocci.make_ident(F if F in going(d[0].file, fn) else "cocci_stays")

@depends on edit && lost@
identifier lost.H;
type T;
@@
- T H(...) { ... }

@included@
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
fn << found.fn;
@@
import sys
sys.stderr.write("folio_runs: %s(): no #include \"internal.h\" to add ours to, nothing is changed\n" % fn)
sys.exit(4)
