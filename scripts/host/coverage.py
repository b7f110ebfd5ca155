#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""coverage.py DIR PERCENT: which lines of include/ and arch/ the tests have run.

DIR holds objects built with --coverage, and their counts.  A line that is
compiled in several backends was run if any of them ran it.  One line for each
header and one for all; below PERCENT is a failure, and so is a header that no
backend has compiled.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PARTS = ("include/", "arch/")


def counts(where: Path) -> dict[str, dict[int, int]]:
    """For each of our headers, how often each line was run."""
    lines: dict[str, dict[int, int]] = {}
    for notes in sorted(where.glob("backend-*.gcno")):
        subprocess.run(["gcov", "-j", notes.name], cwd=where, check=True, stdout=subprocess.DEVNULL)
        # gcov names its output after the source, which all backends share.
        (output,) = where.glob("*.gcov.json.gz")
        data = json.loads(gzip.decompress(output.read_bytes()))
        output.unlink()
        base = Path(data["current_working_directory"])
        for file in data["files"]:
            path = (base / file["file"]).resolve()
            name = str(path.relative_to(TOP)) if path.is_relative_to(TOP) else ""
            if not name.startswith(PARTS):
                continue
            seen = lines.setdefault(name, {})
            for line in file["lines"]:
                number = line["line_number"]
                seen[number] = seen.get(number, 0) + line["count"]
    return lines


def has_code(path: Path) -> bool:
    """Does the header define a function at all?"""
    return any(line.startswith("{") for line in path.read_text().splitlines())


def main() -> None:
    """See the top."""
    where, least = Path(sys.argv[1]), float(sys.argv[2])
    lines = counts(where)
    run = total = 0
    for path in sorted(TOP.glob("include/**/*.h")) + sorted(TOP.glob("arch/**/*.h")):
        name = str(path.relative_to(TOP))
        if name not in lines:
            if has_code(path):
                sys.exit(f"{name} was not compiled by any backend")
            continue
        never = sorted(number for number, count in lines[name].items() if not count)
        run += len(lines[name]) - len(never)
        total += len(lines[name])
        percent = 100 * (1 - len(never) / len(lines[name]))
        text = f", not run: {' '.join(map(str, never))}" if never else ""
        print(f"  COVER   {name}: {percent:.1f} % of {len(lines[name])} lines{text}")
    if not total:
        sys.exit("no line of include/ or arch/ was compiled")
    percent = 100 * run / total
    print(f"{percent:.1f} % of {total} lines of include/ and arch/")
    sys.exit(percent < least)


main()
