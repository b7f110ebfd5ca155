# SPDX-License-Identifier: GPL-2.0
"""What every front-door command shares: places, statuses, progress, commands."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

TOP = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("CACHE") or TOP / ".cache")
OUT = Path(os.environ.get("OUT") or TOP / "out")
VERBOSE = os.environ.get("V", "0") not in ("", "0")

# Exit statuses, as listed in the README.
E_TEST, E_USAGE, E_TOOL, E_TREE, E_SHAPE, E_PARSE, E_IO, E_BUSY = range(1, 9)
E_INTERRUPTED = 130

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Refusal(Exception):
    """One clear line for the user, and the documented exit status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def step(tag: str, text: str) -> None:
    """One line of progress in Kbuild's two columns."""
    print(f"  {tag:<8}{text}", flush=True)


@contextmanager
def alive(name: str, every: float = 10.0) -> Iterator[None]:
    """While the body runs, say now and then how long it has been running."""
    done = threading.Event()
    start = time.monotonic()

    def tick() -> None:
        while not done.wait(every):
            step("...", f"{name}, {time.monotonic() - start:.0f} s so far")

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


def run(
    cmd: Sequence[str | Path],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Run CMD quietly; the caller looks at the status and at what it said."""
    words = [str(word) for word in cmd]
    if VERBOSE:
        print("+ " + shlex.join(words), flush=True)
    try:
        # A group of its own: Ctrl-C is for us, and we decide what to undo.
        return subprocess.run(
            words,
            cwd=cwd,
            env=env,
            input=stdin,
            capture_output=True,
            check=False,
            start_new_session=True,
        )
    except FileNotFoundError as err:
        raise Refusal(E_TOOL, f"{words[0]} not found; make deps installs it") from err


def said(result: subprocess.CompletedProcess[bytes]) -> str:
    """The last line a failed command left: what to show the user."""
    text = (result.stderr + b"\n" + result.stdout).decode(errors="replace").strip()
    if "No space left on device" in text or "Disk quota exceeded" in text:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0] if lines else f"status {result.returncode}"


def write_atomic(path: Path, data: bytes, mode: int = 0o644) -> None:
    """PATH holds either what it held before, or all of DATA."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".ptebatch-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    # Once is enough: what is undone now is not to be interrupted again.
    for sig in SIGNALS:
        signal.signal(sig, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Undoing must run to its end, however often Ctrl-C is pressed."""
    before = {sig: signal.signal(sig, signal.SIG_IGN) for sig in SIGNALS}
    try:
        yield
    finally:
        for sig, handler in before.items():
            signal.signal(sig, handler)


def _asked_for_help() -> bool:
    """--help prints what the script says of itself, and nothing else happens."""
    if not {"-h", "--help"} & set(sys.argv[1:]):
        return False
    print((sys.modules["__main__"].__doc__ or "").strip())
    return True


def without_arguments() -> None:
    """Everything is said by variables; an argument is a mistake."""
    if len(sys.argv) > 1:
        raise Refusal(E_USAGE, f"not an argument here: {sys.argv[1]} (scripts/{Path(sys.argv[0]).name} --help)")


def main(command: Callable[[], None]) -> None:
    """Run COMMAND; every way it can end becomes a line and a status."""
    for sig in SIGNALS:
        signal.signal(sig, _interrupt)
    status = 0
    text = ""
    try:
        if not _asked_for_help():
            command()
        sys.stdout.flush()
    except Refusal as refusal:
        status, text = refusal.status, str(refusal)
    except KeyboardInterrupt:
        status, text = E_INTERRUPTED, "interrupted; nothing was changed"
    except BrokenPipeError:
        # Whoever read us has gone, and with it what is still to be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status, text = E_IO, "nobody reads the output any more: stopped"
    except OSError as err:
        what = f"{err.strerror}: {err.filename}" if err.filename else f"{err.strerror}"
        if err.errno in FULL:
            status, text = E_IO, f"{what}; nothing was changed"
        elif err.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            status, text = E_TREE, f"{what}; nothing was changed"
        else:
            raise
    if text:
        print(f"ptebatch: {text}", file=sys.stderr)
    sys.exit(status)
