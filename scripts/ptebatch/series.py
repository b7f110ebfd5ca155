# SPDX-License-Identifier: GPL-2.0
"""Build the series for a tree: patches and cover letter, KDIR only read.

Everything happens on the few files that the steps touch, in a git repository
of their own in a temporary directory.  Fixed dates, identity and options make
the bytes depend on nothing but the tree and this checkout.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import cover, helpers
from .cocci import Outcome, options, rewrite, spatch_version
from .hooks import maintainers
from .steps import Step, message, source, steps
from .tree import Tree
from .util import E_SHAPE, E_TEST, E_TREE, E_USAGE, TOP, Refusal, alive, run, said, step

NOBODY = "ptebatch <ptebatch@localhost>"
EPOCH = 1767225600  # 2026-01-01: patches are dated alike wherever they are made
# The headers every converted file includes: seeing one without our files
# means that somebody left the tree half way.
OURS = re.compile(r"^#include <(?:asm|linux)/(?:folio_pte_batch|pgtable_batch)\.h>$", re.M)

SHORTSTAT = re.compile(r"^ (\d+ files? changed.*)$", re.M)


@dataclass
class Made:
    """One step of the series on this tree."""

    step: Step
    sites: list[str] = field(default_factory=list)
    skipped: str = ""
    changed: list[str] = field(default_factory=list)
    stat: str = ""


@dataclass
class Series:
    """Patches by file name, and what every touched file is before and after."""

    patches: dict[str, bytes]
    before: dict[str, bytes | None]
    after: dict[str, bytes]
    made: list[Made]

    def digest(self) -> str:
        """Names this series: the same patches on any tree have the same."""
        key = hashlib.sha256()
        for name, data in self.patches.items():
            if not name.startswith("0000-"):
                key.update(data)
        return key.hexdigest()


class Applied(Exception):
    """Every step is in the tree already."""


def identity() -> tuple[str, str]:
    """Who signs the patches off: AUTHOR='Name <mail>', as git has it."""
    author = os.environ.get("AUTHOR") or NOBODY
    found = re.fullmatch(r"\s*([^<>]+?)\s*<([^<>\s]+@[^<>\s]+)>\s*", author)
    if not found:
        raise Refusal(E_USAGE, f"AUTHOR: not of the form 'Name <mail@host>': {author}")
    return found[1], found[2]


class Repository:
    """The temporary repository: one commit per step, all written in one go."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.when = int(os.environ.get("SOURCE_DATE_EPOCH") or EPOCH)
        self.stream = bytearray()
        self.git("init", "--quiet", "--bare", "--initial-branch=series", ".")

    def git(self, *words: str, stdin: bytes = b"") -> bytes:
        """git with nobody's configuration, whatever the caller's environment says."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        env.update(
            HOME=str(self.root), GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull, LC_ALL="C", TZ="UTC"
        )
        result = run(["git", *words], cwd=self.root, env=env, stdin=stdin)
        if result.returncode:
            raise Refusal(E_TEST, f"git {words[0]}: {said(result)}")
        return result.stdout

    def commit(self, text: str, files: dict[str, tuple[bytes, int]]) -> None:
        """FILES with their content and mode, a minute after the commit before."""
        name, mail = identity()
        self.stream += f"commit refs/heads/series\ncommitter {name} <{mail}> {self.when} +0000\n".encode()
        self.stream += b"data %d\n%s\n" % (len(text.encode()), text.encode())
        for path, (data, mode) in files.items():
            git_mode = "100755" if mode & 0o100 else "100644"
            self.stream += f"M {git_mode} inline {json.dumps(path)}\n".encode()
            self.stream += b"data %d\n%s\n" % (len(data), data)
        self.when += 60

    def write(self) -> None:
        """Make the commits real."""
        self.git("fast-import", "--quiet", stdin=bytes(self.stream))


def _rewrites(tree: Tree, todo: tuple[Step, ...]) -> dict[str, list[Outcome]]:
    """Run all rules; those for one file after each other, files side by side."""
    by_file: dict[str, list[tuple[Step, int]]] = {}
    for one in todo:
        for number, rule in enumerate(one.rules):
            by_file.setdefault(rule.target, []).append((one, number))

    def work(target: str) -> list[tuple[str, Outcome]]:
        data = tree.read(target)
        outcomes = []
        text = (data or b"").decode("latin-1")
        for one, number in by_file[target]:
            rule = one.rules[number]
            if data is None:
                raise Refusal(E_SHAPE, f"unknown shape: {rule.path}: no {target} in this tree")
            outcome = rewrite(rule, text)
            outcomes.append((one.name, outcome))
            text = outcome.text or text
        return outcomes

    found: dict[str, list[Outcome]] = {}
    pool = ThreadPoolExecutor(max_workers=2)
    try:
        with alive("spatch"):
            for target, outcomes in zip(by_file, pool.map(work, by_file)):
                count = sum(len(outcome.sites) for _, outcome in outcomes if outcome.text)
                step("COCCI", f"{target}: {count} site{'' if count == 1 else 's'} to rewrite")
                for name, outcome in outcomes:
                    found.setdefault(name, []).append(outcome)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return found


def _edit(
    tree: Tree, one: Step, outcomes: list[Outcome], files: dict[str, bytes | None], contact: str
) -> Made:
    """Do a step on FILES, the touched files as the steps before have left them."""
    made = Made(one)
    old = dict(files)
    for rule, outcome in zip(one.rules, outcomes):
        made.sites += outcome.sites
        if outcome.text is None:
            made.skipped = "already batched"
        else:
            files[rule.target] = outcome.text.encode("latin-1")
    for name, hook in one.hooks.items():
        data = files[name]
        if data is None:
            raise Refusal(E_SHAPE, f"unknown shape: no {name} in this tree")
        files[name] = hook(data.decode("latin-1")).encode("latin-1")
    for name, here in one.copies.items():
        files[name] = _content(tree, here)
    listed = files.get("MAINTAINERS")
    if one.copies and listed is not None:
        hook = maintainers(one.copies, contact)
        files["MAINTAINERS"] = hook(listed.decode("latin-1")).encode("latin-1")
    made.changed = sorted(name for name, data in files.items() if data != old[name])
    return made


def _content(tree: Tree, here: str) -> bytes:
    """A file of ours as it goes into TREE: one of them lists what the tree has."""
    data = source(here)
    return helpers.compat(tree) if here == helpers.COMPAT else data


def _touched(tree: Tree, todo: tuple[Step, ...]) -> dict[str, bytes | None]:
    names = {"MAINTAINERS"}
    for one in todo:
        names.update(one.copies, one.hooks, (rule.target for rule in one.rules))
    return {name: tree.read(name) for name in sorted(names)}


def _ours(tree: Tree, todo: tuple[Step, ...], before: dict[str, bytes | None]) -> bool:
    """Are our own files in the tree: none of them, or all, as they are here?"""
    new = {name: here for one in todo for name, here in one.copies.items()}
    there = [name for name in new if before[name] is not None]
    if not there:
        for name, data in before.items():
            if data is not None and OURS.search(data.decode("latin-1")):
                raise Refusal(E_TREE, f"half-applied tree: {name} has our #include, our headers are missing")
        return False
    other = [name for name in there if before[name] != _content(tree, new[name])]
    missing = sorted(set(new) - set(there))
    if missing:
        raise Refusal(E_TREE, f"half-applied tree: {there[0]} is there, {missing[0]} is not")
    if other:
        raise Refusal(E_TREE, f"another version of the series is applied: {other[0]} differs; unapply that first")
    return True


def _body(one: Made, number_of_rules: int) -> str:
    """Commit message: the template, how the rule was run, and the sign-off."""
    subject, text = message(one.step)
    parts = [subject, text]
    for rule in one.step.rules[:number_of_rules]:
        parts.append(
            f"Made by {rule.path}\nwith {spatch_version()}:\n\n"
            f"  spatch {' '.join(options(TOP / rule.path))} --in-place -D patch \\\n"
            f"         --sp-file {rule.path} \\\n"
            f"         {rule.target}"
        )
    name, mail = identity()
    parts.append(f"Signed-off-by: {name} <{mail}>")
    return "\n\n".join(parts) + "\n"


def _mail(repo: Repository, count: int) -> dict[str, bytes]:
    """git am-able patches, free of whatever differs between two runs or machines."""
    repo.git(
        "format-patch", "--quiet", "--numbered", "--zero-commit", "--no-signature",
        "--no-renames", "--abbrev=12", "--stat=72", "--output-directory=.mail", f"-{count}", "series",
    )  # fmt: skip
    return {path.name: path.read_bytes() for path in sorted((repo.root / ".mail").iterdir())}


def build(tree: Tree) -> Series:
    """The series for TREE; raises Applied where there is nothing left to do."""
    spatch_version()
    name, mail = identity()
    contact = "" if f"{name} <{mail}>" == NOBODY else f"{name} <{mail}>"
    everything = steps()
    todo = tuple(one for one in everything if not one.needs or (tree.root / one.needs).is_dir())
    before = _touched(tree, todo)
    files = dict(before)
    ours = _ours(tree, todo, before)
    outcomes = _rewrites(tree, todo)
    made = []
    commits: list[tuple[str, dict[str, tuple[bytes, int]]]] = []
    modes = {path: (tree.root / path).stat().st_mode for path, data in before.items() if data is not None}
    for one in everything:
        if one not in todo:
            made.append(Made(one, skipped=f"no {one.needs} in this tree"))
            continue
        done = _edit(tree, one, outcomes.get(one.name, []), files, contact)
        made.append(done)
        if done.changed:
            done.skipped = ""
            new = {path: (files[path] or b"", modes.get(path, 0o644)) for path in done.changed}
            commits.append((_body(done, len(one.rules)), new))
        else:
            done.skipped = done.skipped or "already there"
    if not commits:
        raise Applied
    if ours:
        left = next(path for one in made for path in one.changed)
        raise Refusal(E_TREE, f"half-applied tree: our files are there, {left} is not changed")
    with tempfile.TemporaryDirectory(prefix="ptebatch-") as tmp:
        repo = Repository(Path(tmp))
        base = {path: (data, modes[path]) for path, data in before.items() if data is not None}
        repo.commit("baseline\n", base)
        for text, new in commits:
            repo.commit(text, new)
        repo.write()
        patches = _mail(repo, len(commits))
        total = repo.git("diff", "--shortstat", f"series~{len(commits)}", "series").decode().strip()
    for done, patch in zip((one for one in made if one.changed), list(patches)):
        done.stat = SHORTSTAT.findall(patches[patch].decode("latin-1"))[0]
        step("PATCH", patch)
    letter = cover.letter(made, total, tree.version, identity(), repo.when)
    patches = {"0000-cover-letter.patch": letter.encode(), **patches}
    after = {path: data for path, data in files.items() if data is not None and data != before[path]}
    return Series(patches, {path: before[path] for path in after}, after, made)
