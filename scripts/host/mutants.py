#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mutants.py OUT [NAME-GLOB...]: plant known faults in copies of the headers.

lib/mutants/ holds the faults, one file each: what is replaced by what in which
file, and which host test has to fail then.  One line for each fault, and the
count last; a fault that nobody sees, or that no longer fits the headers, is a
failure.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FAULTS = TOP / "lib" / "mutants"
# One case in so many: a fault shows early or never, unless it says otherwise.
STRIDE = "23"
# The headers as they are.
CONTROL = "none"
# What depends on when threads run may need another go.
SEEDS = range(1, 6)


@dataclass(frozen=True)
class Fault:
    """One fault: OLD becomes NEW in FILE, and a test that begins with KILL fails."""

    name: str
    title: str
    file: str
    kill: str
    stride: str
    old: str
    new: str


def parse(path: Path) -> Fault:
    """Head lines `key: value`, then the two texts between `---` lines."""
    match = re.fullmatch(
        r"# SPDX-License-Identifier: GPL-2\.0\n# ([^\n]+)\nfile: (\S+)\nkill: (\S+)\n(?:stride: (\d+)\n)?"
        r"--- old\n(.+?)--- new\n(.*?)--- end\n",
        path.read_text(),
        re.S,
    )
    if not match:
        sys.exit(f"{path}: not a fault's definition")
    title, file, kill, stride, old, new = match.groups()
    return Fault(path.name, title, file, kill, stride or STRIDE, old.removesuffix("\n"), new.removesuffix("\n"))


def plant(fault: Fault, headers: Path) -> str:
    """A copy of all headers with the fault in it; what speaks against it."""
    shutil.rmtree(headers, ignore_errors=True)
    for part in ("include", "arch"):
        shutil.copytree(TOP / part, headers / part)
    path = headers / fault.file
    text = path.read_text()
    if text.count(fault.old) != 1:
        return f"does not apply: {text.count(fault.old)} matches in {fault.file}"
    path.write_text(text.replace(fault.old, fault.new))
    return ""


def share(out: Path, name: str) -> None:
    """What includes no header of ours is built once, with the control."""
    directory = out / name / "mutant"
    directory.mkdir(parents=True, exist_ok=True)
    for part in ("main.o", "mmu.o"):
        shutil.copy2(out / CONTROL / "mutant" / part, directory / part)


def build(out: Path, name: str, headers: Path, backends: str, log: Path) -> bool:
    """The host tests of some backends, with these headers."""
    cmd = [
        "make", "-s", "-C", str(TOP / "lib"), "VARIANT=mutant", f"OUT={out / name}",
        f"HEADERS={headers}", f"BACKENDS={backends}",
    ]
    with log.open("w") as file:
        return subprocess.run(cmd, stdout=file, stderr=file, check=False).returncode == 0


def run(
    out: Path, name: str, kill: list[str], log: Path, seed: int = 1, stride: str = STRIDE
) -> tuple[list[str], int]:
    """The tests that failed, and how many passed."""
    cmd = [str(out / name / "mutant" / "host-test"), "-s", stride, "-r", str(seed), *kill]
    with log.open("a") as file:
        subprocess.run(cmd, stdout=file, stderr=file, check=False, timeout=120)
    text = log.read_text()
    return re.findall(r"^  FAIL    (\S+)", text, re.M), len(re.findall(r"^  PASS ", text, re.M))


def judge(fault: Fault, out: Path) -> tuple[bool, str]:
    """Was it caught, and the line to print."""
    log = out / f"{fault.name}.log"
    headers = out / fault.name / "headers"
    problem = plant(fault, headers)
    if problem:
        return False, problem
    share(out, fault.name)
    if not build(out, fault.name, headers, fault.kill.split(".")[0], log):
        return False, f"{fault.title}: does not compile; see {log}"
    try:
        for seed in SEEDS:
            failed, passed = run(out, fault.name, [fault.kill], log, seed, fault.stride)
            if failed:
                break
    except subprocess.TimeoutExpired:
        return False, f"{fault.title}: the test came to no end"
    if failed:
        return True, f"{fault.title}: killed by {', '.join(failed[:2])}"
    return False, f"{fault.title}: SURVIVED {passed} tests of {fault.kill}"


def control(faults: list[Fault], out: Path) -> tuple[bool, str]:
    """Without a fault the same tests pass, or a failure would mean nothing."""
    failed, passed = run(out, CONTROL, sorted({fault.kill for fault in faults}), out / "none.log")
    if failed or not passed:
        return False, f"without a fault: {', '.join(failed) or 'no test'}"
    return True, f"{passed} tests pass without a fault"


def main() -> None:
    """See the top."""
    out, globs = Path(sys.argv[1]).resolve(), sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    paths = sorted(path for path in FAULTS.iterdir() if re.match(r"\d\d-[\w-]+$", path.name))
    faults = [parse(p) for p in paths if not globs or any(fnmatch.fnmatchcase(p.name, g) for g in globs)]
    if not faults:
        sys.exit("no such fault")
    backends = " ".join(sorted({fault.kill.split(".")[0] for fault in faults}))
    if not build(out, CONTROL, TOP, backends, out / "none.log"):
        sys.exit(f"the tests do not build: {out / 'none.log'}")
    with ThreadPoolExecutor(int(os.environ.get("J") or len(os.sched_getaffinity(0)))) as pool:
        jobs = [(CONTROL, pool.submit(control, faults, out))]
        jobs += [(fault.name, pool.submit(judge, fault, out)) for fault in faults]
        verdicts = [(name, *job.result()) for name, job in jobs]
    for name, good, text in verdicts:
        print(f"  {'PASS' if good else 'FAIL'}    {name}: {text}")
    passed = sum(good for _, good, _ in verdicts)
    print(f"{passed} passed, {len(verdicts) - passed} failed, 0 skipped")
    sys.exit(passed != len(verdicts))


main()
