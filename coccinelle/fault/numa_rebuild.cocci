// SPDX-License-Identifier: GPL-2.0
/// The loop that makes a large folio accessible again after a NUMA hinting
/// fault can do a run of entries per round.
///
//# The tests of a round stay: they decide about the first entry, and
//# numa_rebuild_ptes() goes on only over entries for which they say the same.
//# It decides per entry about writing, as the loop did.
//
// Confidence: High
// Options: --no-includes
// Requires: 1.1.1
// Keywords: pte, batch, NUMA hinting, do_numa_page
// Comments: spatch 1.1.1 has no do-while in rules, so that the loop is matched
// Comments: as a path: call, steps, end test, call again.

virtual patch
virtual report
virtual org
virtual context

@initialize:python@
@@
facts = {}
silent = True

def key(p):
	return (p[0].file, int(p[0].line), int(p[0].column))

def fact(p):
	return facts.setdefault(key(p), {"use": set(), "known": set(), "late": set()})

@initialize:python depends on report || org@
@@
silent = False

// --- the loop --------------------------------------------------------------------

@tx exists@
expression VMF, V, A, W;
pte_t *P;
identifier fn;
position pr;
@@
fn(...)
{
 ... when any
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
 ... when any
}

@stepp exists@
expression tx.A, tx.V, tx.VMF, tx.W;
pte_t *tx.P;
identifier tx.fn;
position tx.pr, pp;
@@
fn(...)
{
 ... when any
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
 ... when any
(
 P@pp++
|
 ++P@pp
|
 P@pp += 1
)
 ... when any
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
 ... when any
}

@stepa depends on stepp exists@
expression tx.A, tx.V, tx.VMF, tx.W;
pte_t *tx.P;
identifier tx.fn;
position tx.pr, pa;
@@
fn(...)
{
 ... when any
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
 ... when any
 A@pa += PAGE_SIZE
 ... when any
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
 ... when any
}

@bound depends on stepp && stepa exists@
expression tx.A, tx.V, tx.VMF, tx.W, E;
pte_t *tx.P;
identifier tx.fn;
position tx.pr, pb;
@@
fn(...)
{
 ... when any
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
 ... when any
(
 A@pb != E
|
 A@pb < E
)
 ... when any
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
 ... when any
}

@script:python depends on bound@
pr << tx.pr;
pp << stepp.pp;
pa << stepa.pa;
pb << bound.pb;
@@
fact(pr)["known"] |= {key(pp), key(pa), key(pb)}

// --- the decision about writing, right before the call ---------------------------

@decide depends on bound@
symbol true;
expression tx.A, tx.V, tx.VMF, tx.W, X, IGN, UP;
pte_t *tx.P;
position tx.pr, pi;
@@
 if@pi (!IGN) {
  X = pte_modify(X, V->vm_page_prot);
  W = pte_write(X);
  if (!W && UP && can_change_pte_writable(V, A, X))
   W = true;
 }
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W);

// W is false unless that decision says otherwise
@clear depends on decide exists@
symbol false;
expression tx.W, decide.IGN;
identifier tx.fn;
position decide.pi;
statement S1;
position pz;
@@
fn(...)
{
 ... when any
 W@pz = false
 ... when != W = ...
 if@pi (!IGN) S1
 ... when any
}

@folio depends on decide exists@
expression decide.X, decide.IGN, FO;
identifier tx.fn;
position decide.pi, pc;
statement S1;
@@
fn(...)
{
 ... when any
(
 pfn_folio(pte_pfn(X)) !=@pc FO
|
 FO !=@pc pfn_folio(pte_pfn(X))
)
 ... when any
 if@pi (!IGN) S1
 ... when any
}

// the entry is tested for being present and a hinting entry first
@tested depends on decide exists@
expression decide.X, decide.IGN;
pte_t *tx.P;
identifier tx.fn;
position decide.pi, pt, pk;
statement S1, S2;
@@
fn(...)
{
 ... when any
 X = ptep_get(P)
 ... when any
 if@pt (\(!pte_present@pk(X) || !pte_protnone(X)\|!pte_protnone(X) || !pte_present@pk(X)\)) S2
 ... when any
 if@pi (!IGN) S1
 ... when any
}

@skip depends on tested exists@
expression tx.A, decide.X;
pte_t *tx.P;
identifier tx.fn;
position stepp.pp, stepa.pa, sk;
@@
fn(...)
{
 ... when any
 A@pa@sk += PAGE_SIZE
 ... when any
     when != pte_present(X)
(
 P@pp++
|
 ++P@pp
|
 P@pp += 1
)
 ... when any
}

@script:python depends on skip@
pr << tx.pr;
sk << skip.sk;
@@
fact(pr)["skip"] = True

// --- what else a round does ---------------------------------------------------------

// whether the decision is all that mentions W
@mention depends on decide@
expression tx.W;
position pe;
@@
 W@pe

@script:python@
pr << tx.pr;
pi << decide.pi;
pe << mention.pe;
@@
if pe[0].current_element == pr[0].current_element:
	if not int(pi[0].line) <= int(pe[0].line) <= int(pr[0].line):
		fact(pr).setdefault("mention", set()).add(key(pe))

@same depends on decide@
pte_t *tx.P;
position k;
@@
 ptep_get(P@k)

@script:python@
pr << tx.pr;
k << same.k;
@@
fact(pr)["known"].add(key(k))

@same_x depends on decide@
expression decide.X;
position k;
@@
(
 pte_present(X@k)
|
 pte_protnone(X@k)
|
 pfn_folio(pte_pfn(X@k))
|
 userfaultfd_rwp(...) && \(pte_uffd\|pte_uffd_wp\)(X@k)
|
 X@k = ptep_get(...)
)

@script:python@
pr << tx.pr;
k << same_x.k;
@@
fact(pr)["known"].add(key(k))

@early depends on decide exists@
expression tx.A, decide.X, decide.IGN;
pte_t *tx.P;
identifier tx.fn;
position decide.pi, stepp.pp, pe;
statement S1;
@@
fn(...)
{
 ... when any
(
 P@pp++
|
 ++P@pp
|
 P@pp += 1
)
 ... when any
     when != P++
     when != ++P
     when != P += 1
(
 A@pe
|
 P@pe
|
 X@pe
)
 ... when any
     when != P++
     when != ++P
     when != P += 1
 if@pi (!IGN) S1
 ... when any
}

@script:python@
pr << tx.pr;
pe << early.pe;
@@
fact(pr)["use"].add(key(pe))

@init depends on decide@
expression tx.A, EE;
pte_t *tx.P;
position k;
@@
(
 A@k = EE
|
 P@k = EE
)

@script:python@
pr << tx.pr;
k << init.k;
@@
if int(k[0].line) <= int(pr[0].line):
	fact(pr).setdefault("init", set()).add(key(k))

@late depends on decide exists@
expression tx.A, tx.V, tx.VMF, tx.W;
pte_t *tx.P;
identifier tx.fn;
position tx.pr, stepp.pp, pe;
statement S1;
@@
fn(...)
{
 ... when any
 numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
 ... when any
     when != P++
     when != ++P
     when != P += 1
 S1@pe
 ... when any
     when != P++
     when != ++P
     when != P += 1
(
 P@pp++
|
 ++P@pp
|
 P@pp += 1
)
 ... when any
}

@script:python@
pr << tx.pr;
pp << stepp.pp;
pa << stepa.pa;
pe << late.pe;
@@
if int(pe[0].line) > int(pr[0].line) and pe[0].line not in (pp[0].line, pa[0].line):
	fact(pr)["late"].add(int(pe[0].line))

@names depends on decide@
identifier tx.fn;
symbol nr_ptes;
position pe;
@@
fn(...)
{
 <+...
 nr_ptes@pe
 ...+>
}

@script:python@
pr << tx.pr;
pe << names.pe;
@@
fact(pr)["names"] = True

// --- the verdict -----------------------------------------------------------------------

@script:python ok@
fn << tx.fn;
pr << tx.pr;
A << tx.A;
E << bound.E;
pz << clear.pz;
pc << folio.pc;
pt << tested.pt;
IGN << decide.IGN;
UP << decide.UP;
W << tx.W;
LIM; UPG; WD;
@@
f = fact(pr)
if f["late"] or "skip" in f or "names" in f or f["use"] - f["known"] - f.get("init", set()):
	if not silent and "told" not in f:
		coccilib.report.print_report(pr[0], "note: %s() keeps one PTE per round because another statement looks at the single entry or a round leaves early" % fn)
	f["told"] = True
	cocci.include_match(False)
else:
	coccinelle.LIM = cocci.make_expr("(%s - %s) >> PAGE_SHIFT" % (E, A))
	other = f.get("mention", set()) - {key(pz)}
	coccinelle.WD = cocci.make_ident("cocci_batch_none" if other else W)
	coccinelle.UPG = cocci.make_expr("!%s && %s" % (IGN, UP))

@script:python depends on (report || org) && ok@
fn << tx.fn;
pr << tx.pr;
@@
coccilib.report.print_report(pr[0], "opportunity: %s() restores one PTE per round" % fn)

@script:python depends on (report || org) && tx && !stepp@
fn << tx.fn;
pr << tx.pr;
@@
coccilib.report.print_report(pr[0], "note: %s() keeps one PTE per round because it is in no loop that steps the entry by one" % fn)

@script:python depends on (report || org) && stepp && !bound@
fn << tx.fn;
pr << tx.pr;
@@
coccilib.report.print_report(pr[0], "note: %s() keeps one PTE per round because its address has no PAGE_SIZE step or no known end" % fn)

@script:python depends on (report || org) && bound && !decide@
fn << tx.fn;
pr << tx.pr;
@@
coccilib.report.print_report(pr[0], "note: %s() keeps one PTE per round because what decides about writing is not known" % fn)

@script:python depends on (report || org) && decide && !tested@
fn << tx.fn;
pr << tx.pr;
@@
coccilib.report.print_report(pr[0], "note: %s() keeps one PTE per round because a test of present, hinting and folio is missing" % fn)

@done depends on report || org@
identifier fn;
position pd;
@@
fn(...)
{
 <+...
 numa_rebuild_ptes@pd(...)
 ...+>
}

@script:python@
fn << done.fn;
pd << done.pd;
@@
coccilib.report.print_report(pd[0], "already: %s() restores runs" % fn)

@ctx depends on context && ok@
position tx.pr;
@@
* numa_rebuild_single_mapping@pr(...)

// --- the rewrite ---------------------------------------------------------------------------

@edit depends on patch && ok@
expression tx.A, tx.V, tx.VMF, tx.W, folio.FO, ok.LIM, ok.UPG, decide.X;
pte_t *tx.P;
position tx.pr, stepp.pp, stepa.pa, tested.pk;
@@
(
- pte_present@pk(X)
+ cocci_batch_present(X)
|
- numa_rebuild_single_mapping@pr(VMF, V, A, P, W)
+ cocci_batch_call(VMF, V, FO, A, P, LIM, UPG)
|
- P@pp++
+ P += nr_ptes
|
- ++P@pp
+ P += nr_ptes
|
- P@pp += 1
+ P += nr_ptes
|
- A@pa += PAGE_SIZE
+ A += nr_ptes * PAGE_SIZE
)

@call depends on edit@
expression list ES;
expression IGN, W, X, C;
@@
- if (!IGN) {
-  X = pte_modify(X, ...);
-  W = pte_write(X);
-  if (C)
-   W = true;
- }
- cocci_batch_call(ES);
+ /* One run; each entry keeps its own bits. */
+ nr_ptes = numa_rebuild_ptes(ES);

// a round that does not set the length handles one entry
@reset depends on edit@
expression X;
statement S;
@@
+ nr_ptes = 1;
 if (<+...
- cocci_batch_present(X)
+ pte_present(X)
  ...+>)
  S

@decl depends on reset@
identifier tx.fn;
@@
fn(...)
{
+ unsigned int nr_ptes;
 ...
}

@unused depends on call@
identifier tx.fn, ok.WD;
@@
fn(...)
{
 <...
- bool WD = false;
 ...>
}

@included depends on edit@
@@
#include <linux/folio_pte_batch.h>

@include depends on edit && !included@
@@
 #include "internal.h"
+#include <linux/folio_pte_batch.h>

// --- all or nothing -----------------------------------------------------------------------

@left depends on edit@
identifier M =~ "^cocci_batch_";
@@
 M(...)

@script:python@
M << left.M;
fn << tx.fn;
@@
import sys
sys.stderr.write("numa_rebuild: %s(): %s() is left, nothing is changed\n" % (fn, M))
sys.exit(4)

@has_include depends on edit@
@@
#include <linux/folio_pte_batch.h>

@script:python depends on edit && !has_include@
fn << tx.fn;
@@
import sys
sys.stderr.write("numa_rebuild: %s(): no #include \"internal.h\" to add ours to, nothing is changed\n" % fn)
sys.exit(4)
