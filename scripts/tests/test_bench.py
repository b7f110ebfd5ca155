# SPDX-License-Identifier: GPL-2.0
"""bench/report and bench/size-table, on counts and objects made up here."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

BENCH = Path(__file__).resolve().parents[2] / "bench"


def load(name: str) -> ModuleType:
    """A program of bench/ as a module: they have no suffix."""
    loader = SourceFileLoader(f"bench_{name.replace('-', '_')}", str(BENCH / name))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


report = load("report")
size_table = load("size-table")

INFO = """\
I tree {tree}
I kernel 6.12
I compiler gcc 12
I batched {batched}
I qemu QEMU 7.2
I cpu qemu64
I deterministic {same}
I counter icount
I grain 1
I page 4096
R calibrate/loop 2000015 2000000 0
"""
ROWS: dict[str, float] = {"mprotect-ro/4K": 100, "mprotect-rw/4K": 200, "mprotect-ro/64K": 100, "mprotect-rw/64K": 200,
        "mprotect-ro/order0": 100, "mprotect-ro/400KiB": 110, "mprotect-rw/400KiB": 210, "fault/4K": 900,
        "fault/64K": 3000, "fork/4K": 90}


class Report(unittest.TestCase):
    """Bounds decide, targets do not; what is recorded holds where it was recorded."""

    def setUp(self) -> None:
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.dir = Path(tmp.name)

    def counts(self, name: str, rows: dict[str, float], batched: str = "yes", same: str = "yes") -> Path:
        path = self.dir / f"{name}.txt"
        text = INFO.format(tree=name, batched=batched, same=same)
        text += "".join(f"R {key} {int(value * 1000)} 1000 {500 if 'fault' in key else 0}\n"
                        for key, value in rows.items())
        path.write_text(text, encoding="ascii")
        return path

    def compare(self, *others: Path) -> "report.Comparison":  # type: ignore[name-defined]
        first = self.counts("old", ROWS, "no")
        return report.Comparison([report.read_counts(path) for path in (first, *others)], "x86_64")

    def missed(self, found: object, expected: Path | None = None) -> list[str]:
        return [b.what for b in report.guards(found, report.read_expected(expected)) if not b.reached]

    def test_order_0_is_guarded_and_folios_are_not(self) -> None:
        found = self.compare(self.counts("new", ROWS | {"mprotect-ro/4K": 103, "mprotect-ro/64K": 150}))
        self.assertEqual(self.missed(found), ["mprotect-ro/4K, ratio"])
        found = self.compare(self.counts("new", ROWS | {"mprotect-ro/4K": 101.9}))
        self.assertEqual(self.missed(found), [])

    def test_a_tree_that_is_not_batched_is_only_shown(self) -> None:
        found = self.compare(self.counts("newer", ROWS | {"mprotect-ro/4K": 300}, "no"))
        self.assertEqual(self.missed(found), [])
        self.assertEqual(list(report.targets(found)), [])

    def test_recorded(self) -> None:
        path = self.dir / "expected.csv"
        good = self.compare(self.counts("new", ROWS | {"mprotect-ro/64K": 20, "mprotect-ro/4K": 110}))
        self.assertEqual(report.record(path, good), ["mprotect-ro/4K: 1.100, allowed 1.11"])
        self.assertEqual(self.missed(good, path), [])
        worse = self.compare(self.counts("new", ROWS | {"mprotect-ro/64K": 21}))
        self.assertEqual(self.missed(worse, path), ["mprotect-ro/64K, recorded"])
        path.write_text(path.read_text().replace("gcc 12", "gcc 13"))
        self.assertEqual(self.missed(worse, path), [])

    def test_targets(self) -> None:
        found = self.compare(self.counts("new", ROWS | {"mprotect-rw/4K": 90}))
        goals = {b.what: b.reached for b in report.targets(found)}
        self.assertTrue(goals["mprotect-rw/4K, instructions"])
        self.assertFalse(goals["mprotect-ro/4K, instructions"])
        self.assertFalse(goals["mprotect-mean/400KiB, instructions"])

    def test_files(self) -> None:
        more = self.counts("third", ROWS | {"mprotect-ro/4K": 50})
        found = self.compare(self.counts("new", ROWS | {"mprotect-ro/4K": 50}), more)
        goals, bounds = list(report.targets(found)), list(report.guards(found, report.read_expected(None)))
        text = report.write_all(self.dir, found, goals, bounds)
        self.assertIn("third", text)
        data = json.loads((self.dir / "bench.json").read_text())
        self.assertEqual(data["rows"]["mprotect-ro/4K"]["ratio"], 0.5)
        self.assertEqual(data["rows"]["mprotect-ro/4K"]["insns"], [100, 50, 50])
        self.assertTrue(data["rows"]["mprotect-ro/400KiB"]["order0"])
        self.assertFalse(data["rows"]["mprotect-ro/64K"]["order0"])
        self.assertEqual((self.dir / "bench.names").read_text(), "old new third\n")

    def test_a_clock_that_is_none(self) -> None:
        path = self.counts("new", ROWS)
        path.write_text(path.read_text().replace("2000015", "2010000"))
        with self.assertRaises(SystemExit):
            report.read_counts(path)

    def test_two_boots_that_differ(self) -> None:
        found = self.compare(self.counts("new", ROWS, same="no"))
        self.assertFalse(found.deterministic())


class Size(unittest.TestCase):
    """Names as compilers write them."""

    def test_bare(self) -> None:
        self.assertEqual(size_table.bare("change_pte_range.constprop.0.isra.0"), "change_pte_range")
        self.assertEqual(size_table.bare("do_wp_page.cold"), "do_wp_page")
        self.assertEqual(size_table.bare("do_wp_page"), "do_wp_page")


if __name__ == "__main__":
    unittest.main()
