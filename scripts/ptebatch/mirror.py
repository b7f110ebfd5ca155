# SPDX-License-Identifier: GPL-2.0
"""A copy of a kernel tree that is brought up to date, not made anew."""

from __future__ import annotations

import fnmatch
import os
import shutil
from pathlib import Path

from .util import CACHE

# Not source, and not wanted in a copy.
SKIP_DIRS = {".git", "include/config", "include/generated"}
SKIP_FILES = ("*.o", "*.a", "*.ko", "*.mod", "*.cmd", "*.so", "*.dbg", "modules.order")


def wanted(root: Path) -> dict[str, os.stat_result]:
    """Every source file of a tree, by its name relative to ROOT."""
    found: dict[str, os.stat_result] = {}
    pending = [""]
    while pending:
        at = pending.pop()
        with os.scandir(root / at) as entries:
            for entry in entries:
                name = f"{at}/{entry.name}" if at else entry.name
                if entry.is_dir(follow_symlinks=False):
                    generated = name.startswith("arch/") and name.endswith("/include/generated")
                    if name not in SKIP_DIRS and not generated:
                        pending.append(name)
                elif not skipped(entry.name):
                    found[name] = entry.stat(follow_symlinks=False)
    return found


def skipped(name: str) -> bool:
    if name.startswith("."):
        return name != ".kunitconfig"
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in SKIP_FILES)


def same(a: os.stat_result, b: os.stat_result | None) -> bool:
    return b is not None and (a.st_mode, a.st_size, a.st_mtime_ns) == (b.st_mode, b.st_size, b.st_mtime_ns)


def copy_file(source: Path, copy: Path) -> None:
    """Trees of our own cache lend us the file itself, which is quick; a user's tree never does."""
    if source.is_relative_to(CACHE):
        try:
            os.link(source, copy, follow_symlinks=False)
            return
        except OSError:
            pass
    shutil.copy2(source, copy, follow_symlinks=False)


def sync(source: Path, copy: Path, keep: set[str]) -> int:
    """Make COPY hold what SOURCE holds, but for the files in KEEP."""
    copy.mkdir(parents=True, exist_ok=True)
    want = wanted(source)
    have = wanted(copy)
    changed = 0
    for name in have.keys() - want.keys() - keep:
        (copy / name).unlink()
    for name, info in want.items():
        if name in keep or same(info, have.get(name)):
            continue
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).unlink(missing_ok=True)
        copy_file(source / name, copy / name)
        changed += 1
    return changed


def write_if_new(path: Path, data: bytes) -> None:
    """An unchanged file keeps its date, and make leaves it alone."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)
