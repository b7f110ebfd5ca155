# SPDX-License-Identifier: GPL-2.0
"""What a tree has and what would be done to it, without building anything."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from . import cocci
from .cocci import Rule
from .helpers import Found, Inventory, contract
from .steps import steps
from .tree import Tree, open_tree
from .util import alive, step, without_arguments


def _verdict(found: list[Found], promised: str) -> str:
    if not found:
        return "absent"
    if promised and any(one.signature and one.signature != promised for one in found):
        return "other signature"
    return "present"


def _helpers(tree: Tree) -> int:
    """One line per helper of the contract; how many of them the tree lacks."""
    inventory = Inventory(tree)
    absent = 0
    print(f"\nHelpers in linux {tree.version} ({tree.root}):\n")
    print(f"  {'helper':<26}{'generic':<18}own in an architecture")
    for name, promised in contract().items():
        found = inventory.find(name)
        generic = _verdict([one for one in found if one.where == "generic"], promised)
        own = []
        for arch in dict.fromkeys(one.where for one in found if one.where != "generic"):
            verdict = _verdict([one for one in found if one.where == arch], promised)
            own.append(arch if verdict == "present" else f"{arch} ({verdict})")
        absent += not found
        print(f"  {name:<26}{generic:<18}{', '.join(own)}".rstrip())
    return absent


def _caller(tree: Tree, rule: Rule) -> tuple[str, list[str]]:
    """Verdict on one target function, and the lines that explain it."""
    data = tree.read(rule.target)
    if data is None:
        return "unknown shape", [f"no {rule.target} in this tree"]
    seen = cocci.look(rule, data.decode("latin-1"))
    report = seen.report
    if seen.absent and rule.optional:
        return "absent", []
    if seen.absent:
        return "unknown shape", [f"{rule.target}: no function {seen.absent[0]}()"]
    if seen.unparsed:
        return "not parsed", seen.unparsed
    if report.opportunity:
        return "single-PTE", report.opportunity + report.note
    if report.already:
        return "batched", report.already
    return "unknown shape", report.note or [f"{rule.target}: nothing that {rule.path} knows"]


def _callers(tree: Tree) -> dict[str, int]:
    rules = [rule for one in steps() for rule in one.rules if not rule.extra and (not one.needs or (tree.root / one.needs).is_dir())]
    with ThreadPoolExecutor(max_workers=2) as pool, alive("spatch"):
        verdicts = list(pool.map(lambda rule: _caller(tree, rule), rules))
    count: dict[str, int] = {}
    print("\nCallers:\n")
    print(f"  {'function':<30}{'state':<16}{'parsed':<8}file")
    for rule, (verdict, lines) in zip(rules, verdicts):
        count[verdict] = count.get(verdict, 0) + 1
        parsed = "no" if verdict == "not parsed" else "yes"
        print(f"  {rule.functions[0]:<30}{verdict:<16}{parsed:<8}{rule.target}")
        for line in lines:
            print(f"      {line}")
    return count


def _next(tree: Tree, absent: int, count: dict[str, int]) -> str:
    if count.get("not parsed"):
        return "teach spatch the function that it could not parse (a macro, most often); nothing is applied until then"
    if count.get("unknown shape"):
        return "a rule for the shape reported above; nothing is applied until then"
    if count.get("single-PTE"):
        return f"make series KDIR={tree.root} writes the patches, make apply KDIR={tree.root} applies them"
    if absent:
        return f"make apply KDIR={tree.root} brings the {absent} helpers that are missing"
    return f"nothing to convert; make kunit KDIR={tree.root} tests what is there"


def main() -> None:
    """Entry point of scripts/probe."""
    without_arguments()
    tree = open_tree(os.environ.get("KDIR", ""))
    version = cocci.spatch_version()
    step("PROBE", f"{tree.root} ({version})")
    absent = _helpers(tree)
    count = _callers(tree)
    print(f"\nNext step: {_next(tree, absent, count)}")
