# SPDX-License-Identifier: GPL-2.0
"""Units of ptebatch that need neither a kernel tree nor spatch."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptebatch import cocci, cover, findings, helpers, hooks, ktap, state, steps, util  # noqa: E402

PGTABLE = """\
#ifndef _G
#define _G
#include <asm/pgtable.h>
int x;
#endif
"""
KBUILD = "mandatory-y += a.h\nmandatory-y += pgalloc.h\nmandatory-y += preempt.h\n"
KCONFIG = 'menu "M"\nsource "mm/other/Kconfig"\n\nendmenu\n'
LIST = """\
=====  =======  =========  =======  =======
finding  machine  status  7.2  batched 6.12
=====  =======  =========  =======  =======
spread   any      contract   FINDING  FINDING
zero-a   x86_64   hazard     FINDING  CLEAN
zero-b   x86_64   hazard     -        CLEAN
step     um       bug        FINDING  CLEAN
=====  =======  =========  =======  =======

contract
\tA word, not a finding.

What each is
============

spread
\tWhat it is.

zero-
\tWhat both are.

step
\tWhat it is.
"""
MAINTAINERS = "Head\n----\n\nAAA\nS:\tOrphan\nF:\ta/\n\nZZZ\nS:\tOrphan\nF:\tz/\n"


class Findings(unittest.TestCase):
    """The list is what is shown, no more and no less."""

    def table(self, tree: str = "7.2", machine: str = "x86_64") -> findings.Table:
        return findings.read_table(LIST, tree, machine)

    def test_cells(self) -> None:
        self.assertEqual(self.table().cell, {"spread": "FINDING", "zero-a": "FINDING"})
        self.assertEqual(self.table("batched 6.12").cell["zero-b"], "CLEAN")
        self.assertEqual(set(self.table(machine="um").cell), {"spread", "step"})
        self.assertFalse(self.table("6.99").known)

    def test_lines(self) -> None:
        log = "[ 1.0]     # case_a: FINDING spread: 1 of 2\r\n    # case_b: CLEAN zero-a: returns\n"
        shown = findings.said(log)
        self.assertEqual(shown["spread"], findings.Verdict("FINDING", "1 of 2", "case_a"))
        self.assertEqual(set(findings.mismatches(shown, self.table())), {"zero-a"})
        with self.assertRaises(util.Refusal):
            findings.said(log + log)

    def test_missing_and_unlisted(self) -> None:
        shown = {"spread": findings.verdict(True, ""), "new": findings.verdict(False, "")}
        self.assertEqual(set(findings.mismatches(shown, self.table())), {"new", "zero-a"})
        self.assertEqual(findings.mismatches(shown, self.table("6.99")), {})

    def test_list(self) -> None:
        self.assertEqual(list(findings.list_errors(LIST)), [])
        for old, new in (
            ("\nstep\n\t", "\nstop\n\t"),
            ("spread   any      contract", "spread   any      refuted "),
            ("-        CLEAN", "maybe    CLEAN"),
        ):
            self.assertNotEqual(list(findings.list_errors(LIST.replace(old, new))), [], new)

    def test_descriptions(self) -> None:
        comment = "/**\n * modify_prot_start_ptes - x\n * Note that PTE bits in the PTE batch besides\n * the PFN can differ.\n"
        one = findings.contract_contradiction([comment + " */"])
        both = findings.contract_contradiction([comment + " * All other PTE bits\n * must be identical.\n */"])
        self.assertEqual([one["contract-contradiction"].word, both["contract-contradiction"].word], ["CLEAN", "FINDING"])
        batch = "/**\n * folio_pte_batch_flags - x\n * but the writable bit{} and more\n */"
        bare = findings.respect_write_undocumented([batch.format("")])
        named = findings.respect_write_undocumented([batch.format(" (unless FPB_RESPECT_WRITE is set)")])
        self.assertEqual([v.word for r in (bare, named) for v in r.values()], ["FINDING", "CLEAN"])
        self.assertEqual(findings.contract_contradiction(["int x;"]), {})


class Hooks(unittest.TestCase):
    """Each line lands in its place, and lands there once."""

    def twice(self, hook: hooks.Hook, text: str) -> str:
        once = hook(text)
        self.assertNotEqual(once, text)
        self.assertEqual(hook(once), once)
        return once

    def test_pgtable(self) -> None:
        lines = self.twice(hooks.pgtable_h, PGTABLE).splitlines()
        self.assertEqual(lines[3], "#include <asm/pgtable_batch.h>")
        self.assertEqual(lines[-3:], ["#include <linux/pgtable_batch.h>", "", "#endif"])

    def test_pgtable_without_a_place(self) -> None:
        with self.assertRaises(util.Refusal) as caught:
            hooks.pgtable_h("int x;\n")
        self.assertEqual(caught.exception.status, util.E_SHAPE)

    def test_kbuild(self) -> None:
        lines = self.twice(hooks.asm_generic_kbuild, KBUILD).splitlines()
        self.assertEqual(lines.index("mandatory-y += pgtable_batch.h"), 2)

    def test_kconfig_and_makefile(self) -> None:
        text = self.twice(hooks.mm_kconfig, KCONFIG)
        self.assertLess(text.index("ptebatch"), text.index("endmenu"))
        self.twice(hooks.mm_makefile, "obj-y += a.o\n")

    def test_maintainers(self) -> None:
        first = self.twice(hooks.maintainers(["m/b.h"], ""), MAINTAINERS)
        self.assertLess(first.index("AAA"), first.index(hooks.TITLE))
        self.assertLess(first.index(hooks.TITLE), first.index("ZZZ"))
        second = self.twice(hooks.maintainers(["m/a.h"], ""), first)
        self.assertIn("F:\tm/a.h\nF:\tm/b.h\n", second)
        self.assertNotIn("M:\t", second)


class Helpers(unittest.TestCase):
    """Signatures are compared by type, however they are written."""

    def test_signatures(self) -> None:
        text = (
            "static inline void set_ptes(struct mm_struct *mm, unsigned long addr,\n"
            "\t\tpte_t *ptep, pte_t pte, unsigned int nr)\n{\n}\n"
            "extern void other(struct mm_struct *, unsigned long,\n\tpte_t *, pte_t, unsigned int);\n"
            "/* void prose(int); */\n"
        )
        found = helpers.signatures(text)
        self.assertEqual(found["set_ptes"], found["other"])
        self.assertNotIn("prose", found)

    def test_other_signature(self) -> None:
        one = helpers.signatures("void f(pte_t *ptep, int nr);\n")["f"]
        two = helpers.signatures("void f(pte_t *ptep, unsigned int nr);\n")["f"]
        self.assertNotEqual(one, two)

    def test_renamed(self) -> None:
        with tempfile.TemporaryDirectory() as tmp:
            root = Path(tmp)
            (root / helpers.UFFD).parent.mkdir(parents=True)
            (root / helpers.UFFD).write_text(
                "static inline int pte_uffd(pte_t pte)\n{\n\treturn 0;\n}\n"
                "static inline pte_t pte_mkuffd_wp(pte_t pte)\n{\n\treturn pte;\n}\n"
            )
            tree = mock.Mock(root=root, read=lambda name: (root / name).read_bytes() if (root / name).is_file() else None)
            text = helpers.compat(tree).decode()
        self.assertIn("#define pte_uffd_wp pte_uffd\n", text)
        self.assertNotIn("pte_mkuffd_wp", text)
        self.assertNotIn("pte_clear_uffd_wp", text)

    def test_contract(self) -> None:
        for name in ("set_ptes", "modify_prot_ptes", "set_access_flags_ptes", "folio_pte_batch"):
            self.assertIn(name, helpers.contract())


class Rules(unittest.TestCase):
    """What is read from rules and from C text."""

    def test_definitions(self) -> None:
        text = "int g(void);\n\nstatic int f(int a,\n\tint b)\n{\n\tg();\n}\n\nint g(void)\n{\n}\n"
        self.assertEqual(cocci.definitions(text, "f"), [(3, 7)])
        self.assertEqual(cocci.definitions(text, "g"), [(9, 11)])
        self.assertEqual(cocci.definitions(text, "h"), [])

    def test_every_step_has_its_message(self) -> None:
        for step in steps.steps():
            subject, text = steps.message(step)
            self.assertLessEqual(len(subject), 70, step.name)
            for word in ("Risk: ", "Verified"):
                self.assertIn(word, text, step.name)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 72, step.name)

    def test_every_rule_is_there(self) -> None:
        for step in steps.steps():
            for rule in step.rules:
                self.assertTrue((util.TOP / rule.path).is_file(), rule.path)


class Cover(unittest.TestCase):
    """Numbers come from out/bench, or the letter says that there are none."""

    def test_numbers(self) -> None:
        with tempfile.TemporaryDirectory() as tmp, mock.patch.object(cover, "OUT", Path(tmp)):
            self.assertEqual(cover.numbers(9), [cover.NOT_MEASURED])
            (Path(tmp) / "bench").mkdir()
            row = {"unit": "entry", "insns_before": 92, "insns_after": 46.0}
            row |= {"faults_before": 100, "faults_after": 7}
            rows = {key: row for key in cover.COSTS + cover.FAULTS}
            (Path(tmp) / "bench" / "bench.json").write_text(json.dumps({"rows": rows}))
            self.assertIn("0.500", cover.numbers(20)[1])
            self.assertIn("0.070", cover.numbers(20)[-1])
            self.assertEqual(len(cover.numbers(3)), 3)
            self.assertLessEqual(max(map(len, cover.numbers(20))), 75)
            (Path(tmp) / "bench" / "bench.json").write_text("{}")
            with self.assertRaises(util.Refusal):
                cover.numbers(20)


class Results(unittest.TestCase):
    """What a kernel's log says, and what it leaves out."""

    def log(self, *cases: str) -> ktap.Ktap:
        lines = ["KTAP version 1", "1..1", "    KTAP version 1", "    # Subtest: s", f"    1..{len(cases)}"]
        lines += [f"    {case}" for case in cases]
        found = ktap.Ktap()
        found.feed("\n".join([*lines, "ok 1 s" if "ok 9 dies" not in cases else ""]))
        found.finish()
        return found

    def test_counts(self) -> None:
        self.assertEqual(self.log("ok 1 a", "ok 2 b # SKIP no").counts, {"passed": 1, "failed": 0, "skipped": 1})
        self.assertEqual(self.log("not ok 1 a").counts["failed"], 1)
        self.assertEqual(self.log("ok 9 dies").counts["failed"], 1)

    def test_differences(self) -> None:
        one = self.log("ok 1 a", "ok 2 b # SKIP no", "ok 3 own")
        self.assertEqual(ktap.differences(one, self.log("ok 1 a", "ok 2 b # SKIP x"), ("s.own",)), (["s.a", "s.b"], []))
        # One way only: not run, skipped, failed.
        others: list[list[str]] = [[], ["ok 1 a", "ok 2 b"], ["not ok 1 a", "ok 2 b # SKIP no"]]
        for other in others:
            self.assertTrue(ktap.differences(one, self.log(*other), ("s.own",))[1])


class Install(unittest.TestCase):
    """All files or none, times of files and directories included."""

    def test_rollback(self) -> None:
        with tempfile.TemporaryDirectory() as tmp:
            root = Path(tmp)
            (root / "d").mkdir()
            (root / "d" / "old").write_bytes(b"old")
            os.utime(root / "d" / "old", ns=(1, 1))
            os.utime(root / "d", ns=(2, 2))
            real = Path.replace
            calls = []

            def fail_once(path: Path, target: Path) -> Path:
                calls.append(target)
                if len(calls) == 2:
                    raise OSError(28, "No space left on device")
                return real(path, target)

            images = {"d/old": state.Image(b"new"), "new/file": state.Image(b"x")}
            with mock.patch.object(Path, "replace", fail_once), self.assertRaises(OSError):
                state.install(root, images)
            self.assertEqual((root / "d" / "old").read_bytes(), b"old")
            self.assertEqual((root / "d" / "old").stat().st_mtime_ns, 1)
            self.assertEqual((root / "d").stat().st_mtime_ns, 2)
            self.assertEqual(sorted(path.name for path in root.rglob("*")), ["d", "old"])


if __name__ == "__main__":
    unittest.main()
