// SPDX-License-Identifier: GPL-2.0
/// A loop that changes the protection of one present PTE per round can hand
/// a whole run of them to change_present_ptes().
///
//# Matched by role: the entry V, A, P, its value X, the new value N, the end
//# E.  The statements from the start of the transaction to the counter become
//# one call; the steps advance by what that call says it handled.  Anything
//# else that looks at the single entry, or counts rounds, makes the loop stay
//# as it is, with a note in report mode.
//
// Confidence: High
// Options: --no-includes
// Requires: 1.1.1
// Keywords: pte, batch, mprotect, NUMA hinting, userfaultfd
// Comments: spatch 1.1.1 has no do-while in rules, so that loops are matched
// Comments: as paths: start, steps, end test, start again.

virtual patch
virtual report
virtual org
virtual context

@initialize:python@
@@
import re

UFFD = ("MM_CP_UFFD_WP", "MM_CP_UFFD_WP_RESOLVE")
WRITE = "MM_CP_TRY_CHANGE_WRITABLE"
facts = {}
told = set()
silent = True

def key(p):
	return (p[0].file, int(p[0].line), int(p[0].column))

def fact(ps):
	return facts.setdefault(key(ps), {})

def note(ps, name, value):
	fact(ps).setdefault(name, set()).add(value)

def has(ps, name):
	return fact(ps).get(name, set())

def mention(ps, name, pe):
	if pe[0].current_element == ps[0].current_element:
		note(ps, name, key(pe))

def closing(t):
	depth = 0
	for i, c in enumerate(t):
		depth += (c == "(") - (c == ")")
		if not depth:
			return i
	return -1

def lines(keys):
	return {k[1] for k in keys}

def text(e):
	t = re.sub(r"\s*(->|\.|\(|\)|\[|\]|!|,)\s*", r"\1", " ".join(e.split()))
	while t.startswith("(") and closing(t) == len(t) - 1:
		t = t[1:-1]
	return t.replace(",", ", ")

# One line per transaction, in the modes that report.
def say(ps, fn, why):
	if silent or key(ps) in told:
		return
	told.add(key(ps))
	coccilib.report.print_report(ps[0], "note: %s() keeps one PTE per round because %s" % (fn, why))

# "F & MASK", or a boolean that was set to that once and never again
def flags_of(ps, cond, mask):
	m = re.match(r"^(.*\S) & " + mask + "$", text(cond))
	if m:
		return text(m.group(1))
	sets = [s for s in has(ps, "set") if s[0] == text(cond)]
	if len(sets) != 1:
		return None
	m = re.match(r"^(.*\S) & " + mask + "$", text(sets[0][1]))
	return text(m.group(1)) if m else None

# The flags to hand over, or None: all of them if the loop knows all of them.
def flags(ps):
	wanted = list(fact(ps).get("uffd", ()))
	if "write" in fact(ps):
		wanted.append((fact(ps)["write"], WRITE))
	if not wanted:
		return "0"
	found = {flags_of(ps, cond, mask) for cond, mask in wanted}
	if len(found) != 1 or None in found:
		return None
	name = found.pop()
	if any(s[0] == name for s in has(ps, "set")):
		return None
	if len(wanted) == 3:
		return name
	masks = " | ".join(mask for cond, mask in wanted)
	return "%s & (%s)" % (name, masks) if len(wanted) > 1 else "%s & %s" % (name, masks)

# The variable, if the straight line is all that mentions it.
def unused(ps, name, var):
	first, last = key(ps)[1], max(lines(has(ps, "line")))
	if all(first <= l <= last for l in lines(has(ps, name))) and re.match(r"^\w+$", text(var)):
		return text(var)
	return "cocci_batch_none"

# A flag's own definition is one mention more.
def unused_flag(ps, var):
	names = {k for n in ("mention_u", "mention_r", "mention_u1") for v, k in has(ps, n) if v == var}
	fact(ps)["flag"] = names - {s[2] for s in has(ps, "set") if s[0] == var}
	return unused(ps, "flag", var)

# Why this loop has to stay as it is, or None.
def refusal(ps, A, P, X):
	last = max(lines(has(ps, "line")))
	used = has(ps, "use") - has(ps, "known")
	work = {k for k in has(ps, "work") - has(ps, "known") if k[1] not in lines(has(ps, "step"))}
	late = {l for l in lines(has(ps, "late")) if l > last}
	late -= lines(has(ps, "step")) | lines(has(ps, "line"))
	guard = has(ps, "guard")
	if len(has(ps, "end")) != 1:
		return "it is compared with more than one end"
	if any(k < key(ps) for k in has(ps, "step") - has(ps, "head")):
		return "a step comes before the start"
	if not fact(ps).get("present") or fact(ps).get("unread"):
		return "nothing shows that the entry is present"
	if used:
		return "line %d looks at the single entry" % min(lines(used))
	if work:
		return "line %d runs once per entry" % min(lines(work))
	if late:
		return "line %d runs once per entry" % min(late)
	if len(guard) > 1 or any(w in re.findall(r"\w+", g) for g in guard for w in (A, P, X)):
		return "what guards the folio depends on the entry"
	if fact(ps).get("write") == "":
		return "what decides about the write upgrade is not known"
	if flags(ps) is None:
		return "what decides about uffd-wp or writing does not come from one set of flags"
	if fact(ps).get("names"):
		return "the name nr_ptes is in use"
	return None

@initialize:python depends on report || org@
@@
silent = False

// --- the transaction, and that it is in a loop over entries ----------------

@tx exists@
expression A, V, X;
pte_t *P;
identifier fn;
position ps;
@@
fn(...)
{
 ... when any
 X = ptep_modify_prot_start@ps(V, A, P)
 ... when any
}

@stepp exists@
expression tx.A, tx.V;
pte_t *tx.P;
identifier tx.fn;
position tx.ps, pp;
@@
fn(...)
{
 ... when any
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
(
 P@pp++
|
 ++P@pp
|
 P@pp += 1
)
 ... when any
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
}

@stepa exists@
expression tx.A, tx.V;
pte_t *tx.P;
identifier tx.fn;
position tx.ps, pa;
@@
fn(...)
{
 ... when any
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
 A@pa += PAGE_SIZE
 ... when any
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
}

@bound depends on stepp && stepa exists@
expression tx.A, tx.V, E;
pte_t *tx.P;
identifier tx.fn;
position tx.ps, pb;
@@
fn(...)
{
 ... when any
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
(
 A@pb != E
|
 A@pb < E
)
 ... when any
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
}

@script:python depends on bound@
ps << tx.ps;
pp << stepp.pp;
pa << stepa.pa;
pb << bound.pb;
E << bound.E;
@@
note(ps, "step", key(pp))
note(ps, "step", key(pa))
note(ps, "known", key(pp))
note(ps, "known", key(pa))
note(ps, "known", key(pb))
note(ps, "end", text(E))

// --- the straight line from the start to the counter --------------------------

@line depends on bound@
expression tx.A, tx.V, tx.X, N, PROT;
pte_t *tx.P;
position tx.ps, pm;
@@
 X = ptep_modify_prot_start@ps(V, A, P);
 N = pte_modify@pm(X, PROT);

@script:python depends on line@
ps << tx.ps;
pm << line.pm;
@@
note(ps, "line", key(pm))

@uffd depends on line@
expression tx.X, line.N, line.PROT, U, R;
position line.pm, pu;
@@
 N = pte_modify@pm(X, PROT);
 if@pu (U)
  N = pte_mkuffd_wp(N);
 else if (R)
  N = pte_clear_uffd_wp(N);

@script:python depends on line@
ps << tx.ps;
pu << uffd.pu;
@@
note(ps, "line", key(pu))

@uffd1 depends on line && !uffd@
expression tx.X, line.N, line.PROT, U1;
identifier MK = { pte_mkuffd_wp, pte_clear_uffd_wp };
position line.pm, pu1;
@@
 N = pte_modify@pm(X, PROT);
 if@pu1 (U1)
  N = MK(N);

@script:python depends on line@
ps << tx.ps;
pu1 << uffd1.pu1;
@@
note(ps, "line", key(pu1))

@write depends on line@
expression tx.X, tx.V, line.N, line.PROT, C;
position line.pm, uffd.pu, uffd1.pu1, pw;
@@
(
 N = pte_modify@pm(X, PROT);
|
 if@pu (...)
  N = pte_mkuffd_wp(N);
 else if (...)
  N = pte_clear_uffd_wp(N);
|
 if@pu1 (...)
  N = \(pte_mkuffd_wp\|pte_clear_uffd_wp\)(N);
)
 if@pw (C)
  N = pte_mkwrite(N, V);

@script:python depends on line@
ps << tx.ps;
pw << write.pw;
@@
note(ps, "line", key(pw))

@commit depends on line@
expression tx.A, tx.X, tx.V, line.N, line.PROT;
pte_t *tx.P;
position line.pm, uffd.pu, uffd1.pu1, write.pw, pc;
@@
(
 N = pte_modify@pm(X, PROT);
|
 if@pu (...)
  N = pte_mkuffd_wp(N);
 else if (...)
  N = pte_clear_uffd_wp(N);
|
 if@pu1 (...)
  N = \(pte_mkuffd_wp\|pte_clear_uffd_wp\)(N);
|
 if@pw (...)
  N = pte_mkwrite(N, V);
)
 ptep_modify_prot_commit@pc(V, A, P, X, N);

@script:python depends on line@
ps << tx.ps;
pc << commit.pc;
@@
note(ps, "line", key(pc))

@flush depends on commit@
expression tx.A, tx.X, tx.V, line.N, T;
pte_t *tx.P;
position commit.pc, pf, pi;
@@
 ptep_modify_prot_commit@pc(V, A, P, X, N);
(
 if@pf (pte_needs_flush(X, N))
  tlb_flush_pte_range@pi(T, A, PAGE_SIZE);
|
 tlb_flush_pte_range@pf@pi(T, A, PAGE_SIZE);
)

@script:python depends on line@
ps << tx.ps;
pf << flush.pf;
@@
note(ps, "line", key(pf))

@script:python depends on line@
ps << tx.ps;
pi << flush.pi;
T << flush.T;
@@
note(ps, "line", key(pi))
note(ps, "tlb", text(T))

@count depends on commit@
expression tx.A, tx.X, tx.V, line.N, T;
{long, int, unsigned long, unsigned int} CNT;
pte_t *tx.P;
position commit.pc, flush.pf, pn;
@@
(
 ptep_modify_prot_commit@pc(V, A, P, X, N);
|
 if@pf (pte_needs_flush(X, N))
  tlb_flush_pte_range(T, A, PAGE_SIZE);
|
 tlb_flush_pte_range@pf(T, A, PAGE_SIZE);
)
(
 CNT@pn++;
|
 ++CNT@pn;
|
 CNT@pn += 1;
)

@script:python depends on line@
ps << tx.ps;
pn << count.pn;
@@
note(ps, "line", key(pn))

// --- what decides about uffd-wp and writing ---------------------------------

@sets depends on line@
idexpression W;
expression VALUE;
assignment operator aop;
position pe;
@@
 W@pe aop VALUE

@script:python depends on sets@
ps << tx.ps;
W << sets.W;
VALUE << sets.VALUE;
pe << sets.pe;
@@
if pe[0].current_element == ps[0].current_element:
	note(ps, "set", (text(W), VALUE, key(pe)))

@script:python depends on line@
ps << tx.ps;
U << uffd.U;
R << uffd.R;
@@
fact(ps)["uffd"] = ((U, UFFD[0]), (R, UFFD[1]))

@script:python depends on line@
ps << tx.ps;
U << uffd1.U1;
MK << uffd1.MK;
@@
fact(ps)["uffd"] = ((U, UFFD[MK == "pte_clear_uffd_wp"]),)

@script:python depends on line@
ps << tx.ps;
C << write.C;
A << tx.A;
V << tx.V;
N << line.N;
@@
parts = [text(c) for c in re.split(r"&&", text(C))]
want = ("!pte_write(%s)" % text(N),
	"can_change_pte_writable(%s, %s, %s)" % (text(V), text(A), text(N)))
rest = [c for c in parts if c not in want]
fact(ps)["write"] = rest[0] if len(rest) == 1 and len(parts) == 3 else ""

// --- the guard of NUMA hinting: its tests are about the folio ------------------

@guard depends on commit exists@
expression tx.A, tx.V, tx.X, G;
pte_t *tx.P;
idexpression FO;
position tx.ps, pg, pv;
@@
 if@pg (G) {
  ... when any
  FO = vm_normal_folio@pv(V, A, X);
  ... when any
 }
 X = ptep_modify_prot_start@ps(V, A, P);

@script:python depends on guard@
ps << tx.ps;
G << guard.G;
@@
note(ps, "guard", text(G))

// --- what else a round does ----------------------------------------------------

// the first look at the entry
@read depends on commit exists@
expression tx.A, tx.V, tx.X;
pte_t *tx.P;
identifier tx.fn;
position tx.ps, pt;
@@
fn(...)
{
 ... when any
(
 X = ptep_get@pt(P)
|
 X = *P@pt
)
 ... when any
     when != P++
     when != A += PAGE_SIZE
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
}

@script:python depends on read@
ps << tx.ps;
pt << read.pt;
@@
note(ps, "read", key(pt))

// it is the first statement that counts: a reset can stand before it
@top depends on read@
expression tx.X;
pte_t *tx.P;
position read.pt, pr;
@@
(
 X = ptep_get@pt@pr(P);
|
 X = *P@pt@pr;
)

@script:python depends on top@
ps << tx.ps;
pr << top.pr;
@@
fact(ps)["top"] = True

// a round that gets to the step without that look
@skip depends on top exists@
expression tx.A, tx.X;
pte_t *tx.P;
identifier tx.fn;
position stepp.pp, stepa.pa, sk;
@@
fn(...)
{
 ... when any
 A@pa@sk += PAGE_SIZE
 ... when any
     when != X = ptep_get(P)
     when != X = *P
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
ps << tx.ps;
sk << skip.sk;
@@
fact(ps)["skip"] = True

// the start is reached only if the entry is present
@present depends on commit exists@
expression tx.A, tx.V, tx.X;
pte_t *tx.P;
position tx.ps, pq;
statement S1;
@@
(
 if (\(pte_present@pq(X)\|pte_present@pq(ptep_get(P))\|pte_present@pq(*P)\)) {
  ... when any
  ptep_modify_prot_start@ps(V, A, P)
  ... when any
 }
|
 if (\(pte_present@pq(X)\|pte_present@pq(ptep_get(P))\|pte_present@pq(*P)\)) {
  ... when any
  ptep_modify_prot_start@ps(V, A, P)
  ... when any
 } else S1
|
 if (\(!pte_present@pq(X)\|!pte_present@pq(ptep_get(P))\|!pte_present@pq(*P)\))
  continue;
 ... when any
     when != P++
     when != ++P
     when != P += 1
 ptep_modify_prot_start@ps(V, A, P)
|
 if (\(!pte_present@pq(X)\|!pte_present@pq(ptep_get(P))\|!pte_present@pq(*P)\))
  continue;
 else S1
 ... when any
     when != P++
     when != ++P
     when != P += 1
 ptep_modify_prot_start@ps(V, A, P)
)

@script:python depends on present@
ps << tx.ps;
pq << present.pq;
@@
fact(ps)["present"] = True

// a round that starts with what an earlier one has read
@unread depends on read exists@
expression tx.A, tx.V, tx.X;
pte_t *tx.P;
identifier tx.fn;
position tx.ps, stepp.pp, pu;
@@
fn(...)
{
 ... when any
(
 P@pp@pu++
|
 ++P@pp@pu
|
 P@pp@pu += 1
)
 ... when any
     when != X = ptep_get(P)
     when != X = *P
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
}

@script:python depends on unread@
ps << tx.ps;
pu << unread.pu;
@@
fact(ps)["unread"] = True

// uses of the entry that are the same for each entry of a run
@same depends on commit@
pte_t *tx.P;
position k;
@@
(
 ptep_get(P@k)
|
 *P@k
)

@script:python depends on same@
ps << tx.ps;
k << same.k;
@@
note(ps, "known", key(k))

@same_x depends on commit@
expression tx.X;
pte_t *tx.P;
position k;
@@
(
 pte_present(X@k)
|
 X@k = ptep_get(P)
|
 X@k = *P
)

@script:python depends on same_x@
ps << tx.ps;
k << same_x.k;
@@
note(ps, "known", key(k))

// In a for header this shares a node with the steps; as a statement inside the
// loop it is refused as work per entry.
@init depends on commit@
expression tx.A, FIRST;
pte_t *tx.P;
position k;
@@
(
 A@k = FIRST
|
 P@k = FIRST
)

@script:python depends on init@
ps << tx.ps;
k << init.k;
@@
note(ps, "known", key(k))

// From the step to the start; to the guard, where there is one.
@early depends on commit && !guard exists@
expression tx.A, tx.V, tx.X;
pte_t *tx.P;
identifier tx.fn;
position tx.ps, stepp.pp, pe;
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
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
}

@script:python depends on early@
ps << tx.ps;
pe << early.pe;
@@
note(ps, "use", key(pe))

@early_g depends on commit && guard exists@
expression tx.A, tx.X, guard.G;
pte_t *tx.P;
identifier tx.fn;
position stepp.pp, pe, guard.pg;
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
 if@pg (G) S1
 ... when any
}

@script:python depends on early_g@
ps << tx.ps;
pe << early_g.pe;
@@
note(ps, "use", key(pe))

@work depends on commit && !guard exists@
expression tx.A, tx.V, E1;
pte_t *tx.P;
identifier tx.fn;
position tx.ps, stepp.pp, pe;
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
 E1@pe;
 ... when any
     when != P++
     when != ++P
     when != P += 1
 ptep_modify_prot_start@ps(V, A, P)
 ... when any
}

@script:python depends on work@
ps << tx.ps;
pe << work.pe;
@@
note(ps, "work", key(pe))

@work_g depends on commit && guard exists@
expression guard.G, E1;
pte_t *tx.P;
identifier tx.fn;
position stepp.pp, pe, guard.pg;
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
 E1@pe;
 ... when any
     when != P++
     when != ++P
     when != P += 1
 if@pg (G) S1
 ... when any
}

@script:python depends on work_g@
ps << tx.ps;
pe << work_g.pe;
@@
note(ps, "work", key(pe))

// Inside the guard the entry may only lead to the folio.
@inside depends on guard exists@
expression tx.A, tx.X, guard.G;
pte_t *tx.P;
position guard.pg, pe;
@@
 if@pg (G) {
  ... when any
(
  A@pe
|
  P@pe
|
  X@pe
)
  ... when any
 }

@script:python depends on inside@
ps << tx.ps;
pe << inside.pe;
@@
note(ps, "use", key(pe))

@inside_ok depends on guard@
expression tx.A, tx.V, tx.X;
position k, kx;
@@
(
 vm_normal_folio(V, A@k, X@kx)
|
 pte_protnone(X@k@kx)
)

@script:python depends on inside_ok@
ps << tx.ps;
k << inside_ok.k;
@@
note(ps, "known", key(k))

@script:python depends on inside_ok@
ps << tx.ps;
kx << inside_ok.kx;
@@
note(ps, "known", key(kx))

@inside_count depends on guard exists@
expression guard.G, E1;
position guard.pg, pe;
@@
 if@pg (G) {
  ... when any
(
  E1@pe++
|
  ++E1@pe
|
  E1@pe += ...
)
  ... when any
 }

@script:python depends on inside_count@
ps << tx.ps;
pe << inside_count.pe;
@@
note(ps, "work", key(pe))

// Nothing may come between the end of the transaction and the step.
@late depends on commit exists@
expression tx.A, tx.V, tx.X, line.N;
pte_t *tx.P;
identifier tx.fn;
position commit.pc, stepp.pp, pe;
statement S1;
@@
fn(...)
{
 ... when any
 ptep_modify_prot_commit@pc(V, A, P, X, N)
 ... when any
     when != P++
     when != ++P
     when != P += 1
     when != ptep_modify_prot_start(V, A, P)
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

@script:python depends on late@
ps << tx.ps;
pe << late.pe;
@@
note(ps, "late", key(pe))

// A step in a for header runs after the body, though it stands before it.
@head_a depends on commit@
expression tx.A;
position stepa.pa, q;
statement S1;
@@
 for (...; ...; <+... A@pa@q += PAGE_SIZE ...+>) S1

@script:python depends on head_a@
ps << tx.ps;
q << head_a.q;
@@
note(ps, "head", key(q))

@head_p depends on commit@
pte_t *tx.P;
position stepp.pp, q;
statement S1;
@@
 for (...; ...; <+... \(P@pp@q++\|++P@pp@q\|P@pp@q += 1\) ...+>) S1

@script:python depends on head_p@
ps << tx.ps;
q << head_p.q;
@@
note(ps, "head", key(q))

// every mention of what may become unused
@mention depends on commit@
expression line.N;
position pe;
@@
 N@pe

@script:python depends on mention@
ps << tx.ps;
pe << mention.pe;
@@
mention(ps, "mention", pe)

@mention_x depends on commit@
expression tx.X;
position pe;
@@
 X@pe

@script:python depends on mention_x@
ps << tx.ps;
pe << mention_x.pe;
@@
mention(ps, "mention_x", pe)

@mention_u depends on uffd@
expression uffd.U;
position pe;
@@
 U@pe

@script:python depends on mention_u@
ps << tx.ps;
pe << mention_u.pe;
U << uffd.U;
@@
if pe[0].current_element == ps[0].current_element:
	note(ps, "mention_u", (text(U), key(pe)))

@mention_r depends on uffd@
expression uffd.R;
position pe;
@@
 R@pe

@script:python depends on mention_r@
ps << tx.ps;
pe << mention_r.pe;
R << uffd.R;
@@
if pe[0].current_element == ps[0].current_element:
	note(ps, "mention_r", (text(R), key(pe)))

@mention_u1 depends on uffd1@
expression uffd1.U1;
position pe;
@@
 U1@pe

@script:python depends on mention_u1@
ps << tx.ps;
pe << mention_u1.pe;
U1 << uffd1.U1;
@@
if pe[0].current_element == ps[0].current_element:
	note(ps, "mention_u1", (text(U1), key(pe)))


@names depends on commit@
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

@script:python depends on names@
ps << tx.ps;
pe << names.pe;
@@
fact(ps)["names"] = True

// --- the verdict ------------------------------------------------------------------

@script:python ok depends on commit@
fn << tx.fn;
ps << tx.ps;
A << tx.A;
P << tx.P;
X << tx.X;
pp << stepp.pp;
pa << stepa.pa;
E << bound.E;
N << line.N;
FL; TL; LIM; NG; SA; SP; RT; ND; XD; UD; RD;
@@
why = refusal(ps, A, P, X)
if why:
	say(ps, fn, why)
	cocci.include_match(False)
else:
	guard = [g if re.match(r"^\w+$", g) else "(%s)" % g for g in has(ps, "guard")]
	a_last = (key(pa) in has(ps, "head"), key(pa)) > (key(pp) in has(ps, "head"), key(pp))
	top = "top" in fact(ps) and "skip" not in fact(ps)
	coccinelle.ND = cocci.make_ident(unused(ps, "mention", N))
	coccinelle.XD = cocci.make_ident(unused(ps, "mention_x", X))
	conds = [text(c) for c, mask in fact(ps).get("uffd", ())] + ["", ""]
	coccinelle.UD = cocci.make_ident(unused_flag(ps, conds[0]))
	coccinelle.RD = cocci.make_ident(unused_flag(ps, conds[1]))
	coccinelle.FL = cocci.make_expr(flags(ps))
	coccinelle.TL = cocci.make_expr(min(has(ps, "tlb") or {"NULL"}))
	coccinelle.LIM = cocci.make_expr("(%s - %s) >> PAGE_SHIFT" % (text(E), text(A)))
	coccinelle.NG = cocci.make_expr("!" + guard[0] if guard else "1")
	coccinelle.RT = cocci.make_expr("1" if top else "0")
	coccinelle.SA = cocci.make_ident("cocci_batch_a%d" % (a_last and not top))
	coccinelle.SP = cocci.make_ident("cocci_batch_p%d" % (not a_last and not top))

@script:python depends on (report || org) && tx && !stepp@
fn << tx.fn;
ps << tx.ps;
@@
say(ps, fn, "it is in no loop that steps the entry by one")

@script:python depends on (report || org) && stepp && !bound@
fn << tx.fn;
ps << tx.ps;
@@
say(ps, fn, "its address has no PAGE_SIZE step or no known end")

@script:python depends on (report || org) && bound && !line@
fn << tx.fn;
ps << tx.ps;
@@
say(ps, fn, "the start initialises a declaration or is not followed by pte_modify()")

@script:python depends on (report || org) && line && !commit@
fn << tx.fn;
ps << tx.ps;
@@
say(ps, fn, "a statement between start and commit is not known")

@done depends on (report || org) exists@
identifier fn;
identifier F = { change_present_ptes, modify_prot_start_ptes };
position pd;
@@
fn(...)
{
 ... when any
 F@pd(...)
 ... when any
}

@script:python depends on (report || org)@
fn << done.fn;
F << done.F;
pd << done.pd;
@@
coccilib.report.print_report(pd[0], "already: %s() handles runs by %s()" % (fn, F))

@script:python depends on (report || org) && ok@
fn << tx.fn;
ps << tx.ps;
E << bound.E;
FL << ok.FL;
@@
coccilib.report.print_report(ps[0], "opportunity: %s() changes one PTE per round (until %s, flags %s)" % (fn, text(E), text(FL)))

@ctx depends on context && ok@
position tx.ps;
@@
* ptep_modify_prot_start@ps(...)

// --- the rewrite ------------------------------------------------------------------
// ONE expression rule for all that needs a position: positions do not outlive
// an edit, and two steps may share a node.  cocci_batch_*() carry what is needed
// to finish without them.

@edit depends on patch && ok@
expression tx.A, tx.V, tx.X, line.PROT;
expression ok.FL, ok.TL, ok.LIM, ok.NG, ok.RT;
identifier ok.SA, ok.SP;
pte_t *tx.P;
position tx.ps, stepp.pp, stepa.pa, read.pt, guard.pv;
@@
(
- ptep_get@pt(P)
+ cocci_batch_read(ptep_get(P), RT)
|
- *P@pt
+ cocci_batch_read(*P, RT)
|
- vm_normal_folio@pv(V, A, X)
+ cocci_batch_folio(vm_normal_folio(V, A, X), P, X, LIM)
|
- ptep_modify_prot_start@ps(V, A, P)
+ cocci_batch_start(NG, LIM, TL, V, A, P, PROT, FL)
|
- P@pp++
+ SP(P)
|
- ++P@pp
+ SP(P)
|
- P@pp += 1
+ SP(P)
|
- A@pa += PAGE_SIZE
+ SA(A)
)

// a round that does not set the length handles one entry
@reset_top depends on edit@
expression X, READ;
@@
+ nr_ptes = 1;
 X =
- cocci_batch_read(READ, 1)
+ READ
 ;

@read_plain depends on edit@
expression READ;
@@
- cocci_batch_read(READ, 0)
+ READ

@stepping depends on edit exists@
identifier fn;
@@
fn(...)
{
 ... when any
 \(cocci_batch_a1\|cocci_batch_p1\)(...)
 ... when any
}

@decl_one depends on stepping@
identifier stepping.fn;
@@
fn(...)
{
+ unsigned int nr_ptes = 1;
 ...
}

@resetting depends on edit exists@
identifier fn != stepping.fn;
@@
fn(...)
{
 ... when any
 cocci_batch_a0(...)
 ... when any
}

@decl depends on resetting@
identifier resetting.fn;
@@
fn(...)
{
+ unsigned int nr_ptes;
 ...
}

@reset_statement depends on stepping@
expression Q;
@@
(
- cocci_batch_a1(Q);
+ Q += nr_ptes * PAGE_SIZE;
+ nr_ptes = 1;
|
- cocci_batch_p1(Q);
+ Q += nr_ptes;
+ nr_ptes = 1;
)

@advance depends on edit@
expression Q;
@@
(
- cocci_batch_a0(Q)
+ Q += nr_ptes * PAGE_SIZE
|
- cocci_batch_p0(Q)
+ Q += nr_ptes
|
- cocci_batch_a1(Q)
+ Q += nr_ptes * PAGE_SIZE, nr_ptes = 1
|
- cocci_batch_p1(Q)
+ Q += nr_ptes, nr_ptes = 1
)

@folio depends on edit@
expression FO, LOOKUP, P, X, LIM;
@@
 FO =
- cocci_batch_folio(LOOKUP, P, X, LIM)
+ LOOKUP
 ;
+ nr_ptes = folio_run_ptes(FO, P, X, LIM);

// The straight line becomes one statement, one piece after the other.
@fold_start depends on edit@
expression list ES;
expression X, N, PROT;
@@
- X = cocci_batch_start(ES);
- N = pte_modify(X, PROT);
+ cocci_batch_tx(ES);

@fold_uffd depends on edit@
expression list ES;
expression U, R, N;
@@
 cocci_batch_tx(ES);
(
- if (U)
-  N = pte_mkuffd_wp(N);
- else if (R)
-  N = pte_clear_uffd_wp(N);
|
- if (U)
-  N = \(pte_mkuffd_wp\|pte_clear_uffd_wp\)(N);
)

@fold_write depends on edit@
expression list ES;
expression C, N;
@@
 cocci_batch_tx(ES);
- if (C)
-  N = pte_mkwrite(N, ...);

@fold_commit depends on edit@
expression list ES;
expression A, V, X, N;
pte_t *P;
@@
- cocci_batch_tx(ES);
- ptep_modify_prot_commit(V, A, P, X, N);
+ cocci_batch_tx(ES);

@fold_flush depends on fold_commit@
expression list ES;
expression A, T, X, N;
@@
(
- cocci_batch_tx(ES);
- if (pte_needs_flush(X, N))
-  tlb_flush_pte_range(T, A, PAGE_SIZE);
+ cocci_batch_tx(ES);
|
- cocci_batch_tx(ES);
- tlb_flush_pte_range(T, A, PAGE_SIZE);
+ cocci_batch_tx(ES);
)

@fold_count depends on fold_commit@
expression list ES;
{long, int, unsigned long, unsigned int} CNT;
@@
(
- cocci_batch_tx(ES);
- CNT++;
+ cocci_batch_tx(ES);
+ CNT += nr_ptes;
|
- cocci_batch_tx(ES);
- ++CNT;
+ cocci_batch_tx(ES);
+ CNT += nr_ptes;
|
- cocci_batch_tx(ES);
- CNT += 1;
+ cocci_batch_tx(ES);
+ CNT += nr_ptes;
)

@call depends on fold_commit@
expression LIM, TL, V, A, P, PROT, FL;
@@
- cocci_batch_tx(1, LIM, TL, V, A, P, PROT, FL);
+ /* One run; each entry keeps its own bits. */
+ nr_ptes = LIM;
+ nr_ptes = change_present_ptes(TL, V, A, P, nr_ptes, PROT, FL);

@call_guarded depends on fold_commit@
expression NG, LIM, TL, V, A, P, PROT, FL;
@@
- cocci_batch_tx(NG, LIM, TL, V, A, P, PROT, FL);
+ /* One run; each entry keeps its own bits. */
+ cocci_batch_limit(NG, LIM);
+ nr_ptes = change_present_ptes(TL, V, A, P, nr_ptes, PROT, FL);

@limit depends on call_guarded@
expression NG, LIM;
@@
- cocci_batch_limit(NG, LIM);
+ if (NG)
+ 	nr_ptes = LIM;

// --- what nothing mentions any more -------------------------------------------

@unused depends on fold_commit@
identifier ok.ND, tx.fn;
type T;
@@
fn(...)
{
 <...
- T ND;
 ...>
}

@unused_x depends on fold_commit@
identifier ok.XD, tx.fn;
type T;
@@
fn(...)
{
 <...
- T XD;
 ...>
}

@unused_flags depends on fold_commit@
identifier ok.UD, ok.RD, tx.fn;
expression FLAGS;
type T;
@@
fn(...)
{
 <...
(
- T UD = FLAGS;
|
- T RD = FLAGS;
)
 ...>
}

@included@
@@
#include <linux/folio_pte_batch.h>

@include depends on edit && !included@
@@
 #include "internal.h"
+#include <linux/folio_pte_batch.h>

// --- all or nothing -----------------------------------------------------------------

@left depends on edit@
identifier M =~ "^cocci_batch_";
@@
 M(...)

@script:python@
M << left.M;
fn << tx.fn;
@@
import sys
sys.stderr.write("change_pte_range: %s(): %s() is left, nothing is changed\n" % (fn, M))
sys.exit(4)

@has_include depends on edit@
@@
#include <linux/folio_pte_batch.h>

@script:python depends on edit && !has_include@
fn << tx.fn;
@@
import sys
sys.stderr.write("change_pte_range: %s(): no #include \"internal.h\" to add ours to, nothing is changed\n" % fn)
sys.exit(4)
