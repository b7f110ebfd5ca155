// SPDX-License-Identifier: GPL-2.0
/// Which functions of a file did spatch parse?  It leaves out the others
/// without a word, and a rule can find nothing in them.

@f@
identifier fn;
position p;
@@
fn@p(...) { ... }

@script:python@
fn << f.fn;
p << f.p;
@@
print("parsed: %s %s" % (fn, p[0].line))
