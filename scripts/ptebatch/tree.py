# SPDX-License-Identifier: GPL-2.0
"""A kernel tree somebody named with KDIR: is it one, which one, may we touch it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .util import E_TREE, E_USAGE, Refusal, run, said

# Without these it is no kernel tree that this project has any business with.
LANDMARKS = ("Makefile", "Kbuild", "mm/mprotect.c", "mm/memory.c", "include/linux/pgtable.h")


@dataclass(frozen=True)
class Tree:
    """KDIR, looked at but not touched."""

    root: Path
    version: str
    git: bool

    def read(self, name: str) -> bytes | None:
        """What the tree's file NAME holds, or None where there is none."""
        try:
            return (self.root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None


def _version(makefile: str) -> str:
    parts = []
    for key in ("VERSION", "PATCHLEVEL"):
        found = re.search(rf"^{key}\s*=\s*(\d+)\s*$", makefile, re.M)
        if not found:
            return ""
        parts.append(found[1])
    return ".".join(parts)


def _is_git(root: Path) -> bool:
    """Only a tree that is a work tree of its own: not one that merely lies in one."""
    if not (root / ".git").exists():
        return False
    result = run(["git", "-C", root, "rev-parse", "--show-toplevel"])
    if result.returncode:
        raise Refusal(E_TREE, f"git does not accept {root}: {said(result)}")
    return os.path.realpath(os.fsdecode(result.stdout.rstrip(b"\n"))) == str(root)


def open_tree(kdir: str) -> Tree:
    """Refuse what is not a kernel tree, in one line that says why."""
    if not kdir:
        raise Refusal(E_USAGE, "which tree? Say KDIR=/path/to/linux")
    path = Path(kdir).expanduser()
    if not path.is_dir():
        raise Refusal(E_USAGE, f"KDIR: no such directory: {kdir}")
    root = path.resolve()
    for name in LANDMARKS:
        if not (root / name).is_file():
            raise Refusal(E_USAGE, f"KDIR: not a kernel tree (no {name}): {kdir}")
    version = _version((root / "Makefile").read_text(errors="replace"))
    if not version:
        raise Refusal(E_USAGE, f"KDIR: not a kernel tree (no version in Makefile): {kdir}")
    return Tree(root, version, _is_git(root))
