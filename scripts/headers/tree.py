#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tree.py PRISTINE WORK: bring WORK, a copy of PRISTINE, to what the checkout holds.

WORK gets what the series gives a tree up to its headers, by the series' own
table: files, hooks, rules for headers.  Files of WORK are hard links to those
of PRISTINE, so a file is replaced, never written to; one that is right already
keeps its time stamp.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptebatch import cocci, helpers, steps, tree, util  # noqa: E402


def wanted(pristine: tree.Tree) -> dict[str, bytes]:
    """The files below include/ and arch/ as the series leaves them."""
    files: dict[str, bytes] = {}

    def text(name: str) -> str:
        data = files.get(name) or pristine.read(name)
        if data is None:
            raise util.Refusal(util.E_SHAPE, f"no {name} in {pristine.root}")
        return data.decode("latin-1")

    for step in steps.steps():
        for rule in step.rules:
            if rule.target.endswith(".h"):
                files[rule.target] = (cocci.rewrite(rule, text(rule.target)).text or "").encode("latin-1")
        for name, hook in step.hooks.items():
            if name.startswith("include/"):
                files[name] = hook(text(name)).encode("latin-1")
        for name, here in step.copies.items():
            if name.startswith(("include/", "arch/")):
                is_list = here == helpers.COMPAT
                files[name] = helpers.compat(pristine) if is_list else steps.source(here)
    return files


def main() -> None:
    """Write what differs."""
    pristine, work = tree.open_tree(sys.argv[1]), Path(sys.argv[2])
    for name, data in wanted(pristine).items():
        path = work / name
        if not path.exists() or path.read_bytes() != data:
            util.write_atomic(path, data)
            util.step("UPD", name)


if __name__ == "__main__":
    util.main(main)
