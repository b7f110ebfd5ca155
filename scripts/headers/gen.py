#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""gen.py DIR HEADER...: the sources that check-headers compiles, into DIR.

  alone-*.c     one header, nothing before it but what it asks for
  twice.c       every header, and again
  planted.c     a mistake that only sparse finds
  asm.S         <linux/pgtable.h>, as assembly includes it
  contract.c    a function for each documented helper that calls it, so that its
                body is compiled; the signature is the documented one
  wrong-nr/     <asm/pgtable_batch.h> that overrides every helper with a signed
  wrong-type/   count, or with a number for a pte_t: neither may compile

The helpers are the ones with kernel-doc, so a new one is found by itself.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

SPDX = "// SPDX-License-Identifier: GPL-2.0\n"
PLANTED = """#include <linux/pgtable.h>
modprot_t planted(void);
modprot_t planted(void)
{
	return 1;
}
"""
CONTRACT = "include/linux/pgtable_batch.h"
FOLIO = "include/linux/folio_pte_batch.h"
DOC = re.compile(r"^/\*\*\n \* (\w+)\(\) - .*?\*/\n(.*?)(?=[;{])", re.M | re.S)
# Static inline functions that nothing calls are not compiled any further than
# their syntax; Kbuild hides that they are unused.
WORDS = re.compile(r"\b(?:static|inline|__always_inline|__maybe_unused|extern)\b\s*")
CONDITIONAL = re.compile(r"^#\s*(if|ifdef|ifndef|elif|else|endif)\b.*$", re.M)


@dataclass(frozen=True)
class Helper:
    """A documented function: how it is declared, and under which conditions."""

    name: str
    returns: str
    params: tuple[str, ...]
    conditions: tuple[str, ...]

    def declaration(self, name: str) -> str:
        """The prototype, of a function NAME."""
        space = "" if self.returns.endswith("*") else " "
        return f"{self.returns}{space}{name}({', '.join(self.params)})"

    def arguments(self) -> str:
        """The parameters' names, as a call has them."""
        return ", ".join(re.findall(r"(\w+)$", param)[0] for param in self.params)


def conditions(text: str) -> tuple[str, ...]:
    """What has to hold at the end of TEXT, without the include guard."""
    stack: list[str] = []
    for found in CONDITIONAL.finditer(re.sub(r"\\\n", " ", text)):
        if found[1] == "endif":
            stack.pop()
        elif found[1] in ("else", "elif"):
            stack[-1] = f"{stack[-1]}\n{found[0]}"
        else:
            stack.append(found[0])
    return tuple(stack[1:])


def helpers(header: Path) -> list[Helper]:
    """The documented functions of HEADER."""
    text = header.read_text()
    found = []
    for doc in DOC.finditer(text):
        code = " ".join(WORDS.sub("", doc[2]).split())
        shape = re.fullmatch(r"(.+?)\b(\w+)\((.*)\)", code)
        if not shape or shape[2] != doc[1]:
            sys.exit(f"{header}: {doc[1]}(): no prototype after its description, but: {code}")
        params = tuple(param.strip() for param in shape[3].split(","))
        found.append(Helper(shape[2], shape[1].strip(), params, conditions(text[: doc.start()])))
    if not found:
        sys.exit(f"{header}: no documented function")
    return found


def caller(helper: Helper) -> str:
    """A function that calls HELPER and is not thrown away."""
    give = "" if helper.returns == "void" else "return "
    name = f"call_{helper.name}"
    return (
        f"{helper.declaration(name)};\n{helper.declaration(name)}\n"
        f"{{\n\t{give}{helper.name}({helper.arguments()});\n}}\n"
    )


def contract(contract_h: Path, folio_h: Path) -> str:
    """Calls of everything.  What decides whether a tree needs a helper of ours
    is looked at before the header changes it."""
    folio = helpers(folio_h)
    lines = [SPDX + '#include "internal.h"\n']
    for number, helper in enumerate(folio):
        for line in helper.conditions:
            lines.append(line + "\n")
        lines.append(f"#define WANT_{number}\n")
        lines += ["#endif\n" for _ in helper.conditions]
    lines.append("#include <linux/folio_pte_batch.h>\n")
    lines += [caller(helper) for helper in helpers(contract_h)]
    for number, helper in enumerate(folio):
        lines.append(f"#ifdef WANT_{number}\n{caller(helper)}#endif\n")
    return "".join(lines)


def wrong(contract_h: Path, old: str, new: str) -> str:
    """Overrides in which one type is another; a comment names each."""
    lines = ["/* SPDX-License-Identifier: GPL-2.0 */\n"]
    lines.append("#if !defined(__ASSEMBLY__) && !defined(WRONG_H)\n#define WRONG_H\n")
    lines.append("#include <linux/pgtable_batch_types.h>\nstruct vm_area_struct;\nstruct mm_struct;\n")
    for helper in helpers(contract_h):
        params = [re.sub(old, new, param, count=1) for param in helper.params]
        changed = tuple(params)
        if changed == helper.params:
            continue
        bad = Helper(helper.name, helper.returns, changed, ())
        lines.append(
            f"#undef {helper.name}\n"
            f"static inline {bad.declaration(f'wrong_{helper.name}')}\n"
            f"{{\n\t__builtin_unreachable();\n}}\n"
            f"#define {helper.name} wrong_{helper.name}\n"
        )
    return "".join(lines) + "#endif\n"


def before(header: Path) -> str:
    """What HEADER says it has to be included after: some file of mm/."""
    said = re.search(r'included after ("\w+\.h")', " ".join(header.read_text().split())) if header.exists() else None
    return f"#include {said[1]}\n" if said else ""


def put(path: Path, text: str) -> None:
    """Keep the time stamp of what is right already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    """See the top."""
    out, top = Path(sys.argv[1]), Path(__file__).resolve().parents[2]
    twice = SPDX
    for header in sys.argv[2:]:
        name = re.sub(r"\W", "-", header)
        first, include = before(top / "include" / header), f"#include <{header}>\n"
        put(out / f"alone-{name}.c", SPDX + first + include)
        twice += first + include + include
    put(out / "twice.c", twice)
    put(out / "planted.c", SPDX + PLANTED)
    put(out / "asm.S", "/* SPDX-License-Identifier: GPL-2.0 */\n#include <linux/pgtable.h>\n")
    put(out / "contract.c", contract(top / CONTRACT, top / FOLIO))
    put(out / "wrong.c", SPDX + "#include <linux/pgtable.h>\n")
    put(
        out / "wrong-nr/asm/pgtable_batch.h",
        wrong(top / CONTRACT, r"^unsigned (?:int|long) (?=(?:max_)?nr$)", "int "),
    )
    # A pointer: on powerpc 32-bit a pte_t is a plain number.
    put(out / "wrong-type/asm/pgtable_batch.h", wrong(top / CONTRACT, r"^pte_t (?=\w+$)", "void *"))


if __name__ == "__main__":
    main()
