# SPDX-License-Identifier: GPL-2.0
"""What was done to a tree and how to take it back; kept here, not in the tree."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from .util import E_BUSY, OUT, SIGNALS, Refusal, uninterrupted, write_atomic

SUFFIX = ".ptebatch-new"


@dataclass(frozen=True)
class Image:
    """A file as it is to be: DATA is None where there is to be none."""

    data: bytes | None
    mode: int = 0o644
    mtime_ns: int | None = None


@dataclass
class Manifest:
    """A plain tree's files before and after, or a git tree's branches."""

    root: str
    digest: str
    files: dict[str, dict[str, str | int | None]] = field(default_factory=dict)
    directories: dict[str, int | None] = field(default_factory=dict)  # mtimes before
    branch: str = ""
    origin: str = ""
    base: str = ""
    tip: str = ""


def checksum(data: bytes | None) -> str | None:
    """Short name of a file's content."""
    return None if data is None else hashlib.sha256(data).hexdigest()


class State:
    """The folder under out/state/ that belongs to one tree."""

    def __init__(self, root: Path) -> None:
        name = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        self.folder = OUT / "state" / name
        self.file = self.folder / "manifest.json"
        self.lock_file = OUT / "state" / f"{name}.lock"

    @contextmanager
    def locked(self, root: Path) -> Iterator[None]:
        """One run at a time for one tree."""
        self.lock_file.parent.mkdir(parents=True, exist_ok=True)
        with open(self.lock_file, "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as err:
                raise Refusal(E_BUSY, f"another run is at work on {root}") from err
            yield

    def load(self) -> Manifest | None:
        """What was done, or None."""
        if not self.file.is_file():
            return None
        return Manifest(**json.loads(self.file.read_text()))

    def save(self, manifest: Manifest, originals: Mapping[str, bytes | None]) -> None:
        """Originals first: whoever finds the manifest finds them too."""
        self.drop()
        for name, data in originals.items():
            if data is not None:
                write_atomic(self.folder / "orig" / name, data)
        write_atomic(self.file, json.dumps(asdict(manifest), indent=1).encode())

    def original(self, name: str) -> bytes:
        """A file as it was before the apply."""
        return (self.folder / "orig" / name).read_bytes()

    def drop(self) -> None:
        """Forget: the manifest first, so that no manifest is without originals."""
        self.file.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def deferred() -> Iterator[None]:
    """A signal waits until the body is done; then it interrupts."""
    came: list[int] = []

    def note(signum: int, frame: FrameType | None) -> None:
        came.append(signum)

    before = {sig: signal.signal(sig, note) for sig in SIGNALS}
    try:
        yield
    finally:
        for sig, handler in before.items():
            signal.signal(sig, handler)
    if came:
        raise KeyboardInterrupt


def image(path: Path) -> Image:
    """The file at PATH as it is now."""
    try:
        stat = path.stat()
        return Image(path.read_bytes(), stat.st_mode & 0o7777, stat.st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return Image(None)


def directories(root: Path, names: Mapping[str, object]) -> dict[str, int | None]:
    """Modification times of the directories of NAMES; None for those to be made."""
    found: dict[str, int | None] = {}
    for name in names:
        for parent in Path(name).parents:
            path = root / parent
            found[str(parent)] = path.stat().st_mtime_ns if path.is_dir() else None
    return found


def settle(root: Path, times: Mapping[str, int | None]) -> None:
    """Remove directories that were made and give the others their times back."""
    for name in sorted(times, key=len, reverse=True):
        path, when = root / name, times[name]
        if not path.is_dir():
            continue
        if when is None:
            if not any(path.iterdir()):
                path.rmdir()
        else:
            os.utime(path, ns=(path.stat().st_atime_ns, when))


def _stage(path: Path, new: Image) -> Path:
    """Write NEW beside PATH, with PATH's owner."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + SUFFIX)
    assert new.data is not None
    with open(temporary, "wb") as out:
        out.write(new.data)
        out.flush()
        os.fsync(out.fileno())
    temporary.chmod(new.mode)
    if os.geteuid() == 0:
        owner = (path if path.exists() else path.parent).stat()
        os.chown(temporary, owner.st_uid, owner.st_gid)
    if new.mtime_ns is not None:
        os.utime(temporary, ns=(new.mtime_ns, new.mtime_ns))
    return temporary


def _install(root: Path, images: Mapping[str, Image]) -> None:
    staged: dict[str, Path] = {}
    try:
        for name, new in images.items():
            if new.data is not None:
                staged[name] = root / (name + SUFFIX)
                _stage(root / name, new)
        with deferred():
            for name, new in images.items():
                if new.data is None:
                    (root / name).unlink(missing_ok=True)
                else:
                    staged[name].replace(root / name)
    finally:
        with uninterrupted():
            for path in staged.values():
                path.unlink(missing_ok=True)


def install(root: Path, images: Mapping[str, Image]) -> None:
    """All of IMAGES, or a tree that is as it was, times included."""
    old = {name: image(root / name) for name in images}
    times = directories(root, images)
    try:
        _install(root, images)
    except BaseException:
        with uninterrupted():
            changed = {name: was for name, was in old.items() if image(root / name) != was}
            if changed:
                _install(root, changed)
            settle(root, times)
        raise
