# SPDX-License-Identifier: GPL-2.0
"""The series on a git tree: a branch of its own by git am, or no trace."""

from __future__ import annotations

import os
from pathlib import Path

from .series import Series, identity
from .state import Manifest, State, deferred
from .steps import message
from .tree import Tree
from .util import E_TEST, E_TREE, Refusal, run, said, step, uninterrupted

BRANCH = "ptebatch"


def branch_name() -> str:
    """The branch that an apply makes; BRANCH= names another."""
    return os.environ.get("BRANCH") or BRANCH


def _git(tree: Tree, *words: str, may_fail: bool = False) -> str | None:
    """What git says, or None where it may fail and does."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_DIR")}
    env["LC_ALL"] = "C"
    name, mail = identity()
    if run(["git", "-C", tree.root, "config", "user.email"]).returncode:
        env.setdefault("GIT_COMMITTER_NAME", name)
        env.setdefault("GIT_COMMITTER_EMAIL", mail)
    result = run(["git", "-C", tree.root, *words], env=env)
    if result.returncode:
        if may_fail:
            return None
        raise Refusal(E_TEST, f"git {words[0]}: {said(result)}; the tree is as it was")
    return result.stdout.decode(errors="surrogateescape").strip()


def _rev(tree: Tree, name: str) -> str | None:
    return _git(tree, "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}", may_fail=True)


def _on(tree: Tree) -> str:
    """The branch that is checked out, or the commit where none is."""
    branch = _git(tree, "symbolic-ref", "--quiet", "--short", "HEAD", may_fail=True)
    return branch or _rev(tree, "HEAD") or ""


def check(tree: Tree) -> None:
    """Refuse a tree in which somebody is in the middle of something."""
    folder = Path(_git(tree, "rev-parse", "--absolute-git-dir") or "")
    for name in ("rebase-apply", "rebase-merge", "MERGE_HEAD", "CHERRY_PICK_HEAD", "index.lock"):
        if (folder / name).exists():
            raise Refusal(E_TREE, f"git tree in the middle of something ({name}): {tree.root}")
    if not _rev(tree, "HEAD"):
        raise Refusal(E_TREE, f"git tree without a commit: {tree.root}")
    dirty = _git(tree, "status", "--porcelain", "--untracked-files=no")
    if dirty:
        raise Refusal(E_TREE, f"dirty git tree: {dirty.splitlines()[0][2:].strip()}; commit or stash first")


def check_branch(tree: Tree) -> None:
    """The branch to make must be new, and a name that git takes."""
    name = branch_name()
    if _git(tree, "check-ref-format", "--branch", name, may_fail=True) is None:
        raise Refusal(E_TREE, f"BRANCH: git does not accept the name: {name}")
    if _rev(tree, f"refs/heads/{name}"):
        raise Refusal(E_TREE, f"branch {name} exists already; say BRANCH=another, or switch to it and unapply")


def _back_out(tree: Tree, series: Series, origin: str, branch: str) -> None:
    with uninterrupted():
        _git(tree, "am", "--abort", may_fail=True)
        _git(tree, "checkout", "--quiet", "--force", origin, may_fail=True)
        _git(tree, "branch", "--quiet", "-D", branch, may_fail=True)
        for name, data in series.before.items():
            if data is None:
                (tree.root / name).unlink(missing_ok=True)


def apply(tree: Tree, state: State, series: Series, written: Path) -> None:
    """A new branch with one commit per patch."""
    origin, base, branch = _on(tree), _rev(tree, "HEAD") or "", branch_name()
    patches = [written / name for name in series.patches if not name.startswith("0000-")]
    step("AM", f"{len(patches)} patches on branch {branch}")
    try:
        with deferred():
            _git(tree, "checkout", "--quiet", "-b", branch)
            _git(
                tree, "am", "--quiet", "--no-3way", "--no-scissors", "--no-keep-cr",
                "--whitespace=nowarn", *map(str, patches),
            )  # fmt: skip
            for name, data in series.after.items():
                if tree.read(name) != data:
                    raise Refusal(E_TEST, f"git am: {name} does not come out as in the series")
            tip = _rev(tree, "HEAD") or ""
            manifest = Manifest(str(tree.root), series.digest(), branch=branch, origin=origin, base=base, tip=tip)
            state.save(manifest, {})
    except BaseException:
        _back_out(tree, series, origin, branch)
        state.drop()
        raise


def _recall(tree: Tree) -> Manifest | None:
    """No record: the series is the commits on top whose subjects are ours."""
    branch = _git(tree, "symbolic-ref", "--quiet", "--short", "HEAD", may_fail=True)
    log = _git(tree, "log", "-n", "64", "--format=%H %P%x09%s", may_fail=True)
    if not branch or not log:
        return None
    from .steps import steps  # the table reads kunit/: only when it is needed

    ours = {message(one)[0] for one in steps()}
    base = ""
    for line in log.splitlines():
        commits, _, subject = line.partition("\t")
        if subject not in ours or len(commits.split()) != 2:
            break
        base = commits.split()[1]
    if not base:
        return None
    heads = (_git(tree, "for-each-ref", "--points-at", base, "--format=%(refname:short)", "refs/heads") or "").split()
    origin = heads[0] if heads else base
    return Manifest(str(tree.root), "", branch=branch, origin=origin, base=base, tip=_rev(tree, "HEAD") or "")


def unapply(tree: Tree, state: State, manifest: Manifest | None) -> None:
    """Back to the branch it was made from; ours goes, if nothing was added to it."""
    check(tree)
    known = manifest if manifest and _rev(tree, f"refs/heads/{manifest.branch}") else _recall(tree)
    if not known:
        state.drop()
        print(f"nothing to do: the series is not applied to {tree.root}")
        return
    if _rev(tree, f"refs/heads/{known.branch}") != known.tip:
        raise Refusal(E_TREE, f"branch {known.branch} has commits on top of the series; move them away first")
    origin = known.origin if _rev(tree, known.origin) else known.base
    if _on(tree) == known.branch:
        _git(tree, "checkout", "--quiet", origin)
    _git(tree, "branch", "--quiet", "-D", known.branch)
    state.drop()
    step("UNAPPLY", f"branch {known.branch} is gone, {tree.root} is on {_on(tree)}")
