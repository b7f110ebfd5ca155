# SPDX-License-Identifier: GPL-2.0
"""Which batched helpers a tree has, and whether they are the contract's.

Found by presence, never by version number: vendor and stable trees make
versions lie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from .tree import Tree
from .util import TOP

CONTRACT = ("include/linux/pgtable_batch.h", "include/linux/folio_pte_batch.h")
FALLBACKS = ("include/asm-generic/pgtable_batch.h", "include/linux/folio_pte_batch.h")
COMPAT = "include/linux/pgtable_batch_compat.h"
GENERIC = ("include/linux/pgtable.h", "mm/internal.h")
ARCHES = ("x86", "arm64", "powerpc", "um")
# What newer trees call otherwise, and where each has a fallback for all.
RENAMED = {"pte_uffd_wp": "pte_uffd", "pte_mkuffd_wp": "pte_mkuffd", "pte_clear_uffd_wp": "pte_clear_uffd"}
UFFD = "include/asm-generic/pgtable_uffd.h"
BEGIN, END = "/* present in this tree: begin */\n", "/* present in this tree: end */\n"

_SPECIFIERS = {"static", "inline", "extern", "__always_inline", "noinline", "__must_check", "const"}
_TYPE_WORDS = {"unsigned", "signed", "int", "long", "short", "char", "void", "bool"}
# A declaration or definition that starts in column 0: type, name, parameters.
_DECLARED = r"^(?P<type>[a-z_][\w \t*]*[\s*])(?P<name>{name})\((?P<args>[^(){{}};]*)\)(?=[\w\s]*[;{{])"


def _plain(text: str) -> str:
    """Text without comments, so that words in prose are not taken for code."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)


def _type(text: str, named: bool) -> str:
    """A parameter's or result's type alone, in one spelling."""
    words = re.findall(r"\w+|\*", text)
    words = [word for word in words if word not in _SPECIFIERS]
    if named and len(words) > 1 and words[-1] not in _TYPE_WORDS and words[-1] != "*":
        if words[-2] not in ("struct", "enum", "union"):
            words.pop()
    if words == ["unsigned"]:
        words.append("int")
    return " ".join(words)


def _signature(kind: str, args: str) -> str:
    return f"{_type(kind, False)} ({', '.join(_type(arg, True) for arg in args.split(','))})"


def signatures(text: str, name: str = r"\w+") -> dict[str, str]:
    """Name and signature of what is declared or defined in TEXT."""
    found = re.finditer(_DECLARED.format(name=name), _plain(text), re.M)
    return {m["name"]: _signature(m["type"], m["args"]) for m in found if m["type"].strip() != "return"}


@cache
def contract() -> dict[str, str]:
    """The helpers that this project promises, with their signatures."""
    promised: dict[str, str] = {"pte_next_pfn": ""}
    for name in CONTRACT:
        path = TOP / name
        if not path.is_file():
            continue
        text = path.read_text()
        # A description in kernel-doc is what makes a name a promise.
        described = set(re.findall(r"^ \* (\w+)\(\) - ", text, re.M))
        promised.update((key, sig) for key, sig in signatures(text).items() if key in described)
    return promised


@dataclass(frozen=True)
class Found:
    """A helper in one place of the tree."""

    where: str  # "generic" or the arch
    file: str
    signature: str  # empty for a macro, which has none


def _in_text(text: str, name: str) -> str | None:
    """The signature of NAME in TEXT, "" for a macro, None where it is not there."""
    own = signatures(text, re.escape(name)).get(name)
    if own is not None:
        return own
    macro = re.search(rf"^#\s*define\s+{re.escape(name)}(\(|\s+(\w+)\s*$)", text, re.M)
    if not macro:
        return None
    if macro[2] and macro[2] != name:
        return signatures(text, re.escape(macro[2])).get(macro[2], "")
    return ""


class Inventory:
    """The headers of a tree in which helpers can be."""

    def __init__(self, tree: Tree) -> None:
        self.places: list[tuple[str, str, str]] = []
        for name in GENERIC:
            self._add(tree, "generic", name)
        for arch in ARCHES:
            base = tree.root / "arch" / arch / "include" / "asm"
            for path in sorted(base.rglob("*.h")):
                if path.name != "pgtable_batch.h" and ("pgtable" in path.name or path.name == "tlbflush.h"):
                    self._add(tree, arch, str(path.relative_to(tree.root)))

    def _add(self, tree: Tree, where: str, name: str) -> None:
        data = tree.read(name)
        if data is not None:
            self.places.append((where, name, data.decode("latin-1")))

    def find(self, name: str) -> list[Found]:
        """Every place that has NAME."""
        found = []
        for where, file, text in self.places:
            if name in text:
                signature = _in_text(text, name)
                if signature is not None:
                    found.append(Found(where, file, signature))
        return found


def _renamed(tree: Tree) -> str:
    """Our names for what TREE calls otherwise."""
    have = signatures((tree.read(UFFD) or b"").decode("latin-1"))
    return "".join(
        f"#define {ours} {theirs}\n" for ours, theirs in RENAMED.items() if theirs in have and ours not in have
    )


def compat(tree: Tree) -> bytes:
    """The compat header with the list of what TREE brings as inline functions."""
    text = (TOP / COMPAT).read_text()
    guards: list[str] = []
    for name in FALLBACKS:
        path = TOP / name
        if path.is_file():
            guards += re.findall(r"^#ifndef (\w+)$", path.read_text(), re.M)
    inventory = Inventory(tree)
    lines = []
    for name in dict.fromkeys(guards):
        if any(found.where == "generic" and found.signature for found in inventory.find(name)):
            lines.append(f"#ifndef {name}\n#define {name} {name}\n#endif\n")
    head, _, rest = text.partition(BEGIN)
    return (head + BEGIN + "".join(lines) + _renamed(tree) + END + rest.partition(END)[2]).encode()
