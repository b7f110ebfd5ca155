# SPDX-License-Identifier: GPL-2.0
"""The few lines that existing files get: each finds its place by what is around it.

A hook takes the file's text and returns the new one; text that has the line
already comes back as it was.  Where the place cannot be found it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .util import E_SHAPE, Refusal

Hook = Callable[[str], str]


def _lost(name: str, what: str) -> Refusal:
    return Refusal(E_SHAPE, f"unknown shape: {name}: no {what}")


def pgtable_h(text: str) -> str:
    """The arch's overrides before the kernel's own fallbacks, the contract after them."""
    name = "include/linux/pgtable.h"
    first = "#include <asm/pgtable_batch.h>\n"
    last = "#include <linux/pgtable_batch.h>\n"
    if first not in text:
        anchor = re.search(r"^#include <asm/pgtable\.h>\n", text, re.M)
        if not anchor:
            raise _lost(name, "#include <asm/pgtable.h>")
        text = text[: anchor.end()] + first + text[anchor.end() :]
    if last not in text:
        end = text.rstrip("\n").rfind("\n#endif")
        if end < 0:
            raise _lost(name, "include guard")
        text = text[: end + 1] + last + "\n" + text[end + 1 :]
    return text


def asm_generic_kbuild(text: str) -> str:
    """Every arch without overrides of its own gets the generic header."""
    line = "mandatory-y += pgtable_batch.h\n"
    if line in text:
        return text
    entries = list(re.finditer(r"^mandatory-y \+= (\S+)\n", text, re.M))
    after = [m for m in entries if m[1] < "pgtable_batch.h"]
    if not after:
        raise _lost("include/asm-generic/Kbuild", "list of mandatory-y headers")
    at = after[-1].end()
    return text[:at] + line + text[at:]


def mm_makefile(text: str) -> str:
    """Descend into the tests; the Kbuild there knows what is configured."""
    line = "obj-$(CONFIG_KUNIT) += tests/ptebatch/\n"
    if "tests/ptebatch/" in text:
        return text
    return text.rstrip("\n") + "\n" + line


def mm_kconfig(text: str) -> str:
    """The tests' options go where the other directories of mm/ have theirs."""
    line = 'source "mm/tests/ptebatch/Kconfig"\n'
    if line in text:
        return text
    menu = text.rstrip("\n").rfind("\nendmenu")
    if menu < 0:
        raise _lost("mm/Kconfig", "endmenu")
    return text[: menu + 1] + line + "\n" + text[menu + 1 :]


TITLE = "PTE BATCHING"


def maintainers(files: Iterable[str], contact: str) -> Hook:
    """Each patch lists the files that it brings: F: lines in one section."""

    def hook(text: str) -> str:
        wanted = {f"F:\t{name}" for name in files}
        found = re.search(rf"^{TITLE}\n((?:[A-Z]:\t.*\n)+)", text, re.M)
        if found:
            lines = found[1].splitlines()
            other = [line for line in lines if not line.startswith("F:")]
            listed = sorted({line for line in lines if line.startswith("F:")} | wanted)
            section = "\n".join([TITLE, *other, *listed]) + "\n"
            return text[: found.start()] + section + text[found.end() :]
        head = ["L:\tlinux-mm@kvack.org", "S:\tMaintained" if contact else "S:\tOdd Fixes"]
        if contact:
            head.insert(0, f"M:\t{contact}")
        section = "\n".join([TITLE, *head, *sorted(wanted)]) + "\n\n"
        titles = re.finditer(r"(?<=\n\n)([^\n\t]+)\n(?=[A-Z]:\t)", text)
        later = next((m for m in titles if m[1] > TITLE and m[1][0].isalpha()), None)
        if not later:
            raise _lost("MAINTAINERS", f"section that sorts after {TITLE}")
        return text[: later.start()] + section + text[later.start() :]

    return hook
