# SPDX-License-Identifier: GPL-2.0
"""series, apply and unapply: nothing is ever lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import gitam
from .series import Applied, Series, build
from .state import Image, Manifest, State, checksum, directories, image, install, settle
from .steps import message
from .tree import Tree, open_tree
from .util import CACHE, E_IO, E_TEST, E_TREE, OUT, TOP, Refusal, alive, run, said, step, uninterrupted, without_arguments

NOTHING = "nothing to do: the series is applied already"


def write(series: Series, version: str) -> Path:
    """Put the series into out/VERSION in one move."""
    target = OUT / version
    OUT.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=OUT))
    try:
        fresh.chmod(0o755)
        for name, data in series.patches.items():
            (fresh / name).write_bytes(data)
        if target.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=OUT))
            target.replace(old / "old")
            fresh.replace(target)
            shutil.rmtree(old)
        else:
            fresh.replace(target)
    except BaseException:
        with uninterrupted():
            shutil.rmtree(fresh, ignore_errors=True)
        raise
    step("SERIES", f"{target} ({len(series.patches) - 1} patches)")
    return target


def _shown(path: Path) -> str:
    """A path as the user would type it from here."""
    try:
        return str(path.relative_to(TOP))
    except ValueError:
        return str(path)


def summary(series: Series) -> None:
    """Per patch: what was matched and what changed."""
    print()
    number = 0
    for one in series.made:
        subject = message(one.step)[0]
        if not one.changed:
            print(f"  ----  {subject}: skipped, {one.skipped}")
            continue
        number += 1
        print(f"  {number:04}  {subject}")
        for site in one.sites:
            print(f"        {site}")
        print(f"        {one.stat}")


def _writable(tree: Tree, names: list[str]) -> None:
    """Say it before anything is tried: root may write where nobody can."""
    for name in names:
        path = tree.root / name
        while not path.exists():
            path = path.parent
        for place in (path, path if path.is_dir() else path.parent):
            if os.statvfs(place).f_flag & os.ST_RDONLY or not os.access(place, os.W_OK):
                raise Refusal(E_TREE, f"read-only tree: {place} cannot be written")


def dry_run(series: Series) -> None:
    """The written patches, by patch(1), on copies of the files: it must come out right."""
    with tempfile.TemporaryDirectory(prefix="ptebatch-") as tmp:
        root = Path(tmp)
        for name, data in series.before.items():
            if data is not None:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(data)
        for name, data in series.patches.items():
            if name.startswith("0000-"):
                continue
            result = run(["patch", "-p1", "--batch", "--fuzz=0"], cwd=root, stdin=data)
            if result.returncode:
                raise Refusal(E_TEST, f"dry run: {name}: {said(result)}")
        for name, data in series.after.items():
            if (root / name).read_bytes() != data:
                raise Refusal(E_TEST, f"dry run: {name} does not come out as in the series")


def _manifest(tree: Tree, origin: Path, series: Series) -> Manifest:
    """What unapply has to know; ORIGIN is where the unchanged files are."""
    manifest = Manifest(str(tree.root), series.digest())
    for name, data in series.after.items():
        old = image(origin / name)
        manifest.files[name] = {
            "before": checksum(series.before[name]),
            "after": checksum(data),
            "mode": old.mode,
            "mtime_ns": old.mtime_ns,
        }
    manifest.directories = directories(origin, series.after)
    return manifest


def _images(tree: Tree, series: Series) -> dict[str, Image]:
    """The files as they are to be, with the permissions that they have."""
    return {name: Image(data, image(tree.root / name).mode) for name, data in series.after.items()}


def plain(tree: Tree, state: State, series: Series) -> None:
    """All of the series or nothing, on a tree without git."""
    _writable(tree, list(series.after))
    step("DRYRUN", "the series, by patch, on copies")
    dry_run(series)
    state.save(_manifest(tree, tree.root, series), series.before)
    step("APPLY", f"{len(series.after)} files in {tree.root}")
    try:
        install(tree.root, _images(tree, series))
    except BaseException:
        with uninterrupted():
            state.drop()
        raise


def _parents(command: str, *words: str) -> str:
    """Run another script of ours; its last line is the answer."""
    process = subprocess.Popen(
        [TOP / "scripts" / command, *words], stdout=subprocess.PIPE, text=True
    )
    last = ""
    assert process.stdout
    with process:
        for line in process.stdout:
            last = line.rstrip("\n")
            if line.startswith(" "):
                print(line, end="", flush=True)
    if process.returncode:
        raise Refusal(process.returncode, f"{command} failed, see above")
    return last


@contextmanager
def _copying(origin: Path, copy: Path) -> Iterator[None]:
    """Have COPY, a copy of ORIGIN, by the time the body is done."""
    if copy.is_dir():
        yield
        return
    fresh = copy.with_name(copy.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    step("COPY", _shown(copy))
    with subprocess.Popen(
        ["cp", "-a", "--reflink=auto", origin, fresh], stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            yield
            with alive("copying the tree"):
                _, error = process.communicate()
            if process.returncode:
                raise Refusal(E_IO, error.decode().splitlines()[0])
            fresh.replace(copy)
        except BaseException:
            process.kill()
            process.wait()
            with uninterrupted():
                shutil.rmtree(fresh, ignore_errors=True)
            raise


def own_copy() -> None:
    """No KDIR: Debian's tree, our own copy of it, and the series on that."""
    version = os.environ.get("KVER") or "6.12"
    if os.environ.get("DEPS") != "0":
        _parents("deps", "apply")
    origin = open_tree(_parents("fetch", version))
    copy = CACHE / "trees" / f"linux-{version}-batched"
    CACHE.mkdir(parents=True, exist_ok=True)
    state = State(copy.resolve())
    with state.locked(copy):
        with _copying(origin.root, copy):
            series = build(origin)
            written = write(series, origin.version)
        tree = open_tree(str(copy))
        known = state.load()
        wanted = _images(tree, series)
        # What an older series brought and this one does not, goes back.
        for name in known.files if known else {}:
            if name not in wanted:
                wanted[name] = image(origin.root / name)
        wanted = {name: new for name, new in wanted.items() if tree.read(name) != new.data}
        if wanted:
            dry_run(series)
            step("APPLY", f"{len(wanted)} files in {_shown(copy)}")
            install(tree.root, wanted)
        state.save(_manifest(tree, origin.root, series), series.before)
    summary(series)
    print(f"\n{'applied' if wanted else NOTHING}: {_shown(copy)}, series in {_shown(written)}")
    print("next: make kunit (the suites under UML), make bench (boots it before and after),")
    print(f"      git am --empty=drop {_shown(written)}/*.patch (in a git tree of yours)")


def apply() -> None:
    """Entry point of scripts/apply."""
    without_arguments()
    kdir = os.environ.get("KDIR", "")
    if not kdir:
        own_copy()
        return
    tree = open_tree(kdir)
    state = State(tree.root)
    with state.locked(tree.root):
        try:
            if tree.git:
                gitam.check(tree)
            series = build(tree)
        except Applied:
            print(f"{NOTHING} to {kdir}")
            return
        if tree.git:
            gitam.check_branch(tree)
            _writable(tree, list(series.after))
        written = write(series, tree.version)
        if tree.git:
            gitam.apply(tree, state, series, written)
        else:
            plain(tree, state, series)
    summary(series)
    print(f"\napplied to {kdir}, series in {_shown(written)}")
    print(f"next: make kunit KDIR={kdir}; make unapply KDIR={kdir} takes it back")


def only_series() -> None:
    """Entry point of scripts/series: KDIR is read, never written."""
    without_arguments()
    tree = open_tree(os.environ.get("KDIR", ""))
    state = State(tree.root)
    with state.locked(tree.root):
        try:
            series = build(tree)
        except Applied:
            print(f"{NOTHING} to {tree.root}")
            return
        written = write(series, tree.version)
    summary(series)
    print(f"\nseries in {_shown(written)}; {tree.root} was only read")


def _take_back(tree: Tree, state: State, manifest: Manifest) -> None:
    """Put the originals back, unless that would lose somebody's work."""
    images: dict[str, Image] = {}
    for name, was in manifest.files.items():
        now = checksum(tree.read(name))
        if now not in (was["before"], was["after"]):
            raise Refusal(E_TREE, f"{name} was changed after the apply; take that change out first")
        if now != was["before"]:
            data = None if was["before"] is None else state.original(name)
            mtime = was["mtime_ns"]
            images[name] = Image(data, int(was["mode"] or 0o644), None if mtime is None else int(mtime))
    _writable(tree, list(images))
    install(tree.root, images)
    with uninterrupted():
        settle(tree.root, manifest.directories)
        state.drop()
    step("UNAPPLY", f"{len(images)} files in {tree.root} are as they were")


def _pristine(tree: Tree) -> Series | None:
    """The series again, from an untouched tree of the same version, if there is one here."""
    for candidate in sorted((CACHE / "trees").glob(f"linux-source-{tree.version}*")):
        try:
            return build(open_tree(str(candidate)))
        except (Refusal, Applied):
            continue
    return None


def _reversed(tree: Tree, patches: dict[str, bytes]) -> dict[str, Image] | None:
    """The tree's files with PATCHES taken out, or None where that does not fit."""
    names = {
        line[6:].strip().decode()
        for data in patches.values()
        for line in data.split(b"\n")
        if line.startswith((b"+++ b/", b"--- a/"))
    }
    with tempfile.TemporaryDirectory(prefix="ptebatch-") as tmp:
        root = Path(tmp)
        for name in names:
            data = tree.read(name)
            if data is not None:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(data)
        for patch in sorted(patches, reverse=True):
            if patch.startswith("0000-"):
                continue
            command = ["patch", "-p1", "-R", "--batch", "--fuzz=0"]
            if run(command, cwd=root, stdin=patches[patch]).returncode:
                return None
        return {name: Image(image(root / name).data, image(tree.root / name).mode) for name in sorted(names)}


def _without_state(tree: Tree) -> None:
    """Applied, but we do not remember: reverse patches, if they fit exactly."""
    written = OUT / tree.version
    tries = [{path.name: path.read_bytes() for path in written.glob("*.patch")}]
    series = _pristine(tree)
    if series:
        tries.append(series.patches)
    for patches in tries:
        images = _reversed(tree, patches) if patches else None
        if images:
            times = directories(tree.root, images)
            _writable(tree, list(images))
            install(tree.root, images)
            settle(tree.root, {name: None for name in times})
            step("UNAPPLY", f"{len(images)} files in {tree.root}, by reverse patches")
            return
    raise Refusal(E_TREE, f"no record of an apply to {tree.root}, and no series that can be taken out of it")


def unapply() -> None:
    """Entry point of scripts/unapply."""
    without_arguments()
    tree = open_tree(os.environ.get("KDIR", ""))
    state = State(tree.root)
    with state.locked(tree.root):
        manifest = state.load()
        if tree.git:
            gitam.unapply(tree, state, manifest)
        elif manifest:
            _take_back(tree, state, manifest)
        elif (tree.root / "include/linux/pgtable_batch.h").exists():
            _without_state(tree)
        else:
            print(f"nothing to do: the series is not applied to {tree.root}")
