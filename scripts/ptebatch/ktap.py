# SPDX-License-Identifier: GPL-2.0
"""What a kernel reported: the results in its KTAP log, counted without kunit.py."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass
class Level:
    """Results at one indentation, not yet claimed by their parent."""

    results: int = 0
    failed: int = 0


Counts = dict[str, int]


def no_counts() -> Counts:
    return {"passed": 0, "failed": 0, "skipped": 0}


class Ktap:
    """Counts a KTAP log: only results without results below them are tests."""

    line = re.compile(r"^(?:\[ *\d+\.\d+\] ?)?( *)(.*?)\s*$")
    result = re.compile(r"^(ok|not ok) \d+ ?(?:- )?(.*)$")
    noise = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")

    def __init__(self) -> None:
        self.counts = no_counts()
        self.suites: dict[str, Counts] = {}
        self.results: dict[str, str] = {}
        self.failures: list[tuple[str, list[str]]] = []
        self.names: list[tuple[int, str]] = []
        self.levels: dict[int, Level] = {}
        self.said: list[str] = []
        self.planned = -1
        self.ended = 0
        self.started = False

    def feed(self, text: str) -> None:
        for raw in text.splitlines():
            # Firmware speaks in control codes before the kernel does.
            match = self.line.match(self.noise.sub("", raw).expandtabs(4))
            if match:
                self._line(len(match[1]), match[2])

    def _line(self, indent: int, words: str) -> None:
        if re.match(r"K?TAP version", words):
            self.started = True
        if not self.started:
            return
        if words.startswith("# Subtest: "):
            self._leave(indent - 1)
            self.names.append((indent, words.removeprefix("# Subtest: ")))
        elif plan := re.match(r"^1\.\.(\d+)$", words):
            if not indent and self.planned < 0:
                self.planned = int(plan[1])
        elif result := self.result.match(words):
            self._result(indent, result[1] == "ok", result[2])
        elif words:
            self.said.append(words)

    def _leave(self, indent: int) -> None:
        """What is indented deeper than this has ended."""
        self.names = [(at, name) for at, name in self.names if at <= indent]

    def _result(self, indent: int, good: bool, rest: str) -> None:
        name, _, directive = rest.partition("# ")
        self._leave(indent)
        deeper = [level for at, level in self.levels.items() if at > indent]
        here = self.levels.setdefault(indent, Level())
        # A parent speaks for itself only if its children do not explain it.
        if not sum(level.results for level in deeper) or (
            not good and not sum(level.failed for level in deeper)
        ):
            skipped = directive.upper().startswith("SKIP")
            what = "failed" if not good else "skipped" if skipped else "passed"
            path = [parent for _, parent in self.names] + [name.strip()]
            self._count(path, what)
        here.results += 1
        here.failed += not good
        self.said = []
        self.levels = {at: level for at, level in self.levels.items() if at <= indent}
        self.ended += not indent

    def _count(self, path: list[str], what: str) -> None:
        self.counts[what] += 1
        self.results[".".join(path)] = what
        self.suites.setdefault(path[0], no_counts())[what] += 1
        if what == "failed":
            first = next((n for n, line in enumerate(self.said) if " FAILED at " in line), 0)
            self.failures.append((".".join(path), self.said[first : first + 40]))

    def finish(self) -> None:
        """A kernel that died took its remaining results with it."""
        if self.started and self.ended < max(self.planned, 1):
            where = ".".join(name for _, name in self.names) or "its first suite"
            self.said = self.said[-20:]
            self._count([f"(the kernel stopped in {where})"], "failed")


def differences(one: Ktap, other: Ktap, but: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
    """The names of all cases but those that start with BUT, and the odd ones among them."""
    names = [name for name in {**one.results, **other.results} if not name.startswith(but)]
    return names, [name for name in names if one.results.get(name) != other.results.get(name)]
