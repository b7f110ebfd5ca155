# SPDX-License-Identifier: GPL-2.0
"""Kernel builds: a clean environment, a log each, and the smallest configuration."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from . import util
from .util import E_TEST, E_TOOL, TOP, Refusal

SUITES = TOP / "kunit"
CONFIGS = SUITES / "configs"


def clean_env() -> dict[str, str]:
    """What the shell has set for other builds must not steer this one."""
    gone = ("ARCH", "CROSS_COMPILE", "KBUILD_OUTPUT", "SUBARCH", "KCFLAGS", "MAKEFLAGS", "MFLAGS")
    env = {key: value for key, value in os.environ.items() if key not in gone}
    env["LC_ALL"] = "C"
    return env


def run_logged(
    cmd: Sequence[str],
    cwd: Path,
    log: Path,
    what: str,
    limit: float | None = None,
    extra: dict[str, str] | None = None,
) -> int:
    """Run CMD in its own process group with its output in LOG; -1 if it took too long."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if util.VERBOSE:
        print("+ " + " ".join(cmd), flush=True)
    with log.open("wb") as out, util.alive(what, 30.0):
        try:
            child = subprocess.Popen(
                cmd, cwd=cwd, env=clean_env() | (extra or {}), stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
        except FileNotFoundError as err:
            raise Refusal(E_TOOL, f"{cmd[0]} not found; make deps installs it") from err
        try:
            return child.wait(limit)
        except subprocess.TimeoutExpired:
            return -1
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def small_config(
    tree: Path, build: Path, arch: str, cross: str, configs: Sequence[Path], log: Path, more: Iterable[str] = ()
) -> Path:
    """The suites, what ARCH needs for them, MORE, and all else off; returns the whole .config."""
    wish = "\n".join([*(path.read_text() for path in (SUITES / ".kunitconfig", *configs)), *more, ""])
    build.mkdir(parents=True, exist_ok=True)
    fragments = build / "fragments.config"
    # Where a tree has what others lack, an older option may depend on it.
    fragments.write_text(wish.replace("# Optional: ", ""))
    cmd = ["make", "-s", f"ARCH={arch}", f"CROSS_COMPILE={cross}", f"O={build}", "allnoconfig"]
    if run_logged(cmd, tree, log, f"configuring {arch}", extra={"KCONFIG_ALLCONFIG": str(fragments)}):
        raise Refusal(E_TEST, f"{arch}: the kernel was not configured: {log}")
    # Kconfig drops what cannot be had without a word.
    have = set((build / ".config").read_text().splitlines())
    lost = [line for line in wish.splitlines() if line.startswith("CONFIG_") and line not in have]
    if lost:
        raise Refusal(E_TEST, f"{arch}: this tree does not have {' '.join(lost)}")
    # Options that depend on others are not in .config, but kunit.py may want them.
    unset = [line for line in wish.splitlines() if line.endswith(" is not set")]
    whole = build / "small.config"
    whole.write_text("\n".join([*unset, (build / ".config").read_text()]))
    return whole
