# SPDX-License-Identifier: GPL-2.0
"""The list of upstream findings: what it says, what a tree says, where they differ."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .util import E_TEST, TOP, Refusal

LIST = TOP / "Documentation/upstream-findings.rst"

# What the suite prints, one line for each rule.
SAID = re.compile(r"# (\w+): (FINDING|CLEAN) ([\w-]+): (.*?)\s*$", re.M)

# The heading below which each finding is described.
DESCRIBED = "\nWhat each is\n"

STATUSES = ("deviation", "contract", "hazard", "bug", "text", "refuted")

# Where batched helpers are described; the second and third are ours.
HEADERS = ("include/linux/pgtable.h", "include/linux/pgtable_batch.h", "include/linux/folio_pte_batch.h", "mm/internal.h")


@dataclass(frozen=True)
class Verdict:
    """FINDING or CLEAN, what was seen, and the case that saw it."""

    word: str
    text: str
    case: str = "scripts/findings"


Verdicts = dict[str, Verdict]


def verdict(shown: object, text: str) -> Verdict:
    return Verdict("FINDING" if shown else "CLEAN", text)


@dataclass
class Table:
    """The table of the document, for one tree and one machine."""

    known: bool = False
    status: dict[str, str] = field(default_factory=dict)
    cell: dict[str, str] = field(default_factory=dict)


def table_rows(text: str) -> tuple[list[str], list[list[str]]]:
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    head: list[str] = next((row for row in rows if row[:3] == ["finding", "machine", "status"]), [])
    return head, [row for row in rows if head and len(row) == len(head) and row[2] in STATUSES]


def read_table(text: str, tree: str, machine: str) -> Table:
    """The cells that say FINDING or CLEAN; "-" is what that tree does not have."""
    head, rows = table_rows(text)
    table = Table(known=tree in head)
    for row in rows:
        if row[1] not in (machine, "any"):
            continue
        table.status[row[0]] = row[2]
        if table.known and row[head.index(tree)] != "-":
            table.cell[row[0]] = row[head.index(tree)]
    return table


def list_errors(text: str) -> Iterator[str]:
    """Each row is described once, and nothing that is refuted was found."""
    head, rows = table_rows(text)
    named = {row[0] for row in rows}
    terms = re.findall(r"^([a-z][\w-]+(?:, [a-z][\w-]+)*)\n\t\S", text.partition(DESCRIBED)[2], re.M)
    described = [name for term in terms for name in term.split(", ")]
    for name in sorted(named):
        covering = [word for word in described if name == word or (word.endswith("-") and name.startswith(word))]
        if len(covering) != 1:
            yield f"{name}: described {len(covering)} times"
    for word in described:
        if not any(name == word or (word.endswith("-") and name.startswith(word)) for name in named):
            yield f"{word}: described and not in the table"
    for row in rows:
        if row[2] == "refuted" and "FINDING" in row[3:]:
            yield f"{row[0]}: refuted, and found"
        if not set(row[3:]) <= {"FINDING", "CLEAN", "-"}:
            yield f"{row[0]}: not FINDING, CLEAN or -"
    if not head:
        yield "no table"


def said(log: str) -> Verdicts:
    """The suite's lines; a name that comes twice would hide one of them."""
    found: Verdicts = {}
    for case, word, name, text in SAID.findall("\n".join(line.rstrip() for line in log.splitlines())):
        if name in found:
            raise Refusal(E_TEST, f"{name}: two lines in one run")
        found[name] = Verdict(word, text, case)
    return found


def mismatches(shown: Verdicts, table: Table) -> dict[str, str]:
    """What is shown and not in the list, in the list and not shown, or otherwise there."""
    if not table.known:
        return {}
    return {
        name: f"the list says {table.cell.get(name, 'nothing')}"
        for name in sorted(shown.keys() | table.cell.keys())
        if (shown[name].word if name in shown else "") != table.cell.get(name, "")
    }


def column(root: Path) -> str:
    """The name of the tree's column: its version, or that it is one of ours."""
    text = (root / "Makefile").read_text()
    found = [re.search(rf"^{name} = (\d+)$", text, re.M) for name in ("VERSION", "PATCHLEVEL")]
    version = ".".join(match[1] for match in found if match)
    return f"batched {version}" if (root / "include/linux/pgtable_batch.h").is_file() else version


def description(text: str, name: str) -> str:
    """The words of a function's kernel-doc comment, or nothing."""
    found = re.search(rf"/\*\*\n \* {name}(?:\(\))? - .*?\*/", text, re.S)
    return " ".join(re.sub(r"^ \*/?", "", found[0], flags=re.M).split()) if found else ""


def contract_contradiction(texts: list[str]) -> Verdicts:
    """May bits differ between the entries of a range, or may they not?"""
    words = next(filter(None, (description(text, "modify_prot_start_ptes") for text in texts)), "")
    if not words:
        return {}
    may = re.search(r"PTE bits in the PTE batch besides the PFN can differ", words)
    may_not = re.search(r"All other PTE bits must be identical", words)
    what = f'modify_prot_start_ptes(): "{may[0]}", and "{may_not[0]}"' if may and may_not else "one statement"
    return {"contract-contradiction": verdict(may and may_not, what)}


def respect_write_undocumented(texts: list[str]) -> Verdicts:
    """Each bit that a flag makes count is said to count with that flag."""
    words = next(filter(None, (description(text, "folio_pte_batch_flags") for text in texts)), "")
    if not words:
        return {}
    bare = re.search(r"writable bit(?! \(unless)", words)
    what = f'folio_pte_batch_flags(): "{bare[0]}" may differ, FPB_RESPECT_WRITE is not named' if bare else "all named"
    return {"respect-write-undocumented": verdict(bare, what)}


def kernel_doc(root: Path, headers: list[str]) -> Verdicts:
    """kernel-doc compares descriptions with prototypes; what it says of batched helpers counts."""
    cmd = [str(root / "scripts/kernel-doc"), "-none", "-Wall", *headers]
    done = subprocess.run(cmd, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode and not done.stdout + done.stderr:
        raise Refusal(E_TEST, f"{root}: scripts/kernel-doc failed (status {done.returncode})")
    lines = sorted(set((done.stdout + done.stderr).splitlines()))
    batch = [line for line in lines if re.search(r"'\w*(?:_ptes|pte_batch\w*)'", line)]
    names = [line for line in batch if re.search(r"not described in|Excess function parameter", line)]
    returns = [line for line in batch if "return value" in line]
    return {
        "kernel-doc-names": verdict(names, summary(names)),
        "kernel-doc-returns": verdict(returns, summary(returns)),
    }


def summary(lines: list[str]) -> str:
    functions = sorted({word for line in lines for word in re.findall(r"in '(\w+)'|of '(\w+)'|value of '(\w+)'", line) for word in word if word})
    return f"{len(lines)} warnings" + (f" ({', '.join(functions)})" if functions else "")


def check_texts(root: Path) -> Verdicts:
    headers = [name for name in HEADERS if (root / name).is_file()]
    texts = [(root / name).read_text() for name in headers]
    return contract_contradiction(texts) | respect_write_undocumented(texts) | kernel_doc(root, headers)
