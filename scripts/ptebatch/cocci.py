# SPDX-License-Identifier: GPL-2.0
"""Run one semantic patch on one file, and believe nothing that spatch only implies.

spatch exits with 0 whether it matched or not, and leaves out a function that it
cannot parse without a word.  So: a copy of the file, outside any git tree;
which functions were parsed; a report before, the patch, the patch again, a report
after; and every answer is counted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .util import CACHE, E_PARSE, E_SHAPE, E_TEST, E_TOOL, TOP, Refusal, run, said, write_atomic

OLDEST = (1, 1, 1)
FUNCTIONS = Path(__file__).with_name("functions.cocci")
LINE = re.compile(r"^(?P<where>\S+?:\d+)(?::[\d-]+)*: (?P<kind>opportunity|note|already): (?P<text>.*)$")


@dataclass(frozen=True)
class Rule:
    """A semantic patch, the file it is for, and the functions that it must see."""

    path: str
    target: str
    functions: tuple[str, ...]
    optional: bool = False  # a tree without the function has nothing to mend
    extra: bool = False  # where the shape is another, the tree does without it


@dataclass
class Report:
    """What a rule says in report mode, by kind; each entry is `file:line: text`."""

    opportunity: list[str] = field(default_factory=list)
    note: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """The rewritten file, or None where it was batched already."""

    text: str | None
    sites: list[str]


_version: list[str] = []


def spatch_version() -> str:
    """The version of a spatch that can do the work; refuse to go on with another."""
    if _version:
        return _version[0]
    if not shutil.which("spatch"):
        raise Refusal(E_TOOL, "spatch not found: install coccinelle (make deps does)")
    result = run(["spatch", "--version"])
    text = result.stdout.decode(errors="replace")
    found = re.search(r"spatch version (\d+)\.(\d+)(?:\.(\d+))?", text)
    if not found:
        raise Refusal(E_TOOL, f"spatch does not run: {said(result)}")
    if tuple(int(part or 0) for part in found.groups()) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise Refusal(E_TOOL, f"{found[0]} is too old: {wanted} or newer is needed")
    _version.append(found[0])
    return found[0]


def options(rule: Path) -> list[str]:
    """The options a rule asks for in its head; only coccicheck reads them by itself."""
    if not rule.is_file():
        raise Refusal(E_TEST, f"{rule} is missing: this checkout is not complete")
    words: list[str] = []
    for line in rule.read_text().splitlines():
        found = re.match(r"//\s*Options:\s*(.*)", line)
        if found:
            words += found[1].split()
    return words


def _spatch(rule: Path, target: str, cwd: Path, *extra: str) -> str:
    env = dict(os.environ, HOME=str(cwd), LC_ALL="C")
    command = ["spatch", "--very-quiet", "--no-show-diff", "--timeout", "120"]
    command += [*extra, *options(rule), "--sp-file", str(rule), target]
    result = run(command, cwd=cwd, env=env)
    if b"unable to find the Python library" in result.stderr:
        raise Refusal(E_TOOL, "spatch finds no libpython3.*.so: install libpython3-dev (make deps does)")
    if result.returncode:
        raise Refusal(E_TEST, f"{rule.name} on {target}: spatch failed: {said(result)}")
    return result.stdout.decode(errors="replace")


def _report(rule: Path, target: str, cwd: Path) -> Report:
    report = Report()
    for line in _spatch(rule, target, cwd, "-D", "report").splitlines():
        found = LINE.match(line)
        if found:
            entry = f"{found['where']}: {found['text']}"
            kind: list[str] = getattr(report, found["kind"])
            if entry not in kind:
                kind.append(entry)
    return report


def definitions(text: str, name: str) -> list[tuple[int, int]]:
    """First and last line of each definition of function NAME, as kernel style has it."""
    pattern = rf"^(?!#)[A-Za-z_][^\n;={{}}]*?\b{re.escape(name)}\([^;{{}}]*?\)[^;{{}}()]*\n?\{{.*?^\}}"
    spans = []
    for found in re.finditer(pattern, text, re.M | re.S):
        first = text.count("\n", 0, found.start()) + 1
        spans.append((first, first + found[0].count("\n")))
    return spans


def unparsed(text: str, target: str, functions: tuple[str, ...], cwd: Path) -> list[str]:
    """Those definitions of FUNCTIONS that spatch left out, as `file:line: name`."""
    seen: dict[str, list[int]] = {}
    for line in _spatch(FUNCTIONS, target, cwd, "--no-includes", "--include-headers").splitlines():
        found = re.match(r"parsed: (\S+) (\d+)$", line)
        if found:
            seen.setdefault(found[1], []).append(int(found[2]))
    missing = []
    for name in functions:
        for first, last in definitions(text, name):
            if not any(first <= line <= last for line in seen.get(name, [])):
                missing.append(f"{target}:{first}: {name}()")
    return missing


@dataclass(frozen=True)
class Look:
    """What a rule makes of a file, before anything is rewritten."""

    report: Report
    absent: list[str]
    unparsed: list[str]


def _look(rule: Rule, text: str, cwd: Path) -> Look:
    absent = [name for name in rule.functions if not definitions(text, name)]
    return Look(
        _report(TOP / rule.path, rule.target, cwd),
        absent,
        unparsed(text, rule.target, rule.functions, cwd),
    )


def _place(rule: Rule, text: str, cwd: Path) -> Path:
    path = cwd / rule.target
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    return path


def look(rule: Rule, text: str) -> Look:
    """Report only: for the probe."""
    spatch_version()
    with tempfile.TemporaryDirectory(prefix="ptebatch-") as tmp:
        cwd = Path(tmp)
        _place(rule, text, cwd)
        return _look(rule, text, cwd)


def _refuse_shape(rule: Rule, text: str, seen: Look) -> None:
    """Nothing was found to do, and nothing that is done: say where and why."""
    if seen.absent:
        where, why = rule.target, f"no function {seen.absent[0]}()"
    elif seen.report.note:
        where, why = "", "; ".join(seen.report.note)
    else:
        name = rule.functions[0]
        where = f"{rule.target}:{definitions(text, name)[0][0]}"
        why = f"{name}() has neither the loop this rule knows nor a batched one"
    prefix = f"{where}: " if where else ""
    raise Refusal(E_SHAPE, f"unknown shape: {rule.path}: {prefix}{why}")


def _rewrite(rule: Rule, text: str) -> Outcome:
    path = TOP / rule.path
    with tempfile.TemporaryDirectory(prefix="ptebatch-") as tmp:
        cwd = Path(tmp)
        work = _place(rule, text, cwd)
        before = _look(rule, text, cwd)
        if before.unparsed:
            raise Refusal(E_PARSE, f"{before.unparsed[0]} could not be parsed by spatch ({rule.path})")
        if rule.optional and before.absent:
            return Outcome(None, [f"{rule.target}: no function {before.absent[0]}()"])
        if not before.report.opportunity:
            if before.report.already and not before.absent:
                return Outcome(None, before.report.already)
            if rule.extra:
                return Outcome(None, [f"{rule.target}: not for this tree: {rule.path}"])
            _refuse_shape(rule, text, before)
        _spatch(path, rule.target, cwd, "-D", "patch", "--in-place")
        once = work.read_bytes().decode("latin-1")
        if once == text:
            raise Refusal(E_SHAPE, f"{rule.path}: {before.report.opportunity[0]}: reported, not rewritten")
        _spatch(path, rule.target, cwd, "-D", "patch", "--in-place")
        if work.read_bytes().decode("latin-1") != once:
            raise Refusal(E_TEST, f"{rule.path}: a second run changes {rule.target} again")
        after = _report(path, rule.target, cwd)
        if after.opportunity:
            raise Refusal(E_SHAPE, f"{rule.path}: left over after the rewrite: {after.opportunity[0]}")
        return Outcome(once, before.report.opportunity)


def rewrite(rule: Rule, text: str) -> Outcome:
    """Rewrite TEXT by RULE, or refuse.  The same question gets the stored answer."""
    version = spatch_version()
    options(TOP / rule.path)
    key = hashlib.sha256()
    for part in (version, str(rule), (TOP / rule.path).read_text(), Path(__file__).read_text(), text):
        key.update(part.encode() + b"\0")
    store = CACHE / "cocci" / f"{key.hexdigest()[:32]}.json"
    cached = os.environ.get("COCCI_CACHE", "1") != "0"
    if cached and store.is_file():
        return Outcome(**json.loads(store.read_text()))
    outcome = _rewrite(rule, text)
    if cached:
        write_atomic(store, json.dumps(asdict(outcome)).encode())
    return outcome
