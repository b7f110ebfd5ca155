# SPDX-License-Identifier: GPL-2.0
"""The cover letter: at most 60 lines, with the numbers that were measured here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .steps import message
from .util import E_TEST, OUT, Refusal

if TYPE_CHECKING:
    from .series import Made

MAX_LINES = 60
TEXT = Path(__file__).parent / "messages" / "cover.txt"
NOT_MEASURED = "  not measured here; run make bench"


# What a reader asks first: both directions of mprotect(), also where it costs
# more than before, and a store per page or per folio after a fork().
COSTS = [f"mprotect-{way}/{kind}" for kind in ("4K", "64K", "2M-pte", "mixed") for way in ("ro", "rw")]
COSTS += ["sparse/2M-pte"]
FAULTS = [f"fault/{kind}" for kind in ("4K", "64K", "1M", "2M-pte", "2M-pmd")]


def _row(name: str, before: float, after: float, form: str) -> str:
    ratio = f"{after / before:.3f}" if before else "-"
    return f"  {name:<38}{before:>10{form}}{after:>10{form}}{ratio:>8}"


def numbers(room: int) -> list[str]:
    """The rows of out/bench/bench.json that matter, as many as there is ROOM for."""
    path = OUT / "bench" / "bench.json"
    if not path.is_file():
        return [NOT_MEASURED]
    try:
        rows = json.loads(path.read_text())["rows"]
        lines = [f"  {'':<38}{'before':>10}{'after':>10}{'ratio':>8}"]
        for key in COSTS:
            row = rows[key]
            name = f"{key}, insns per {row['unit']}"
            lines.append(_row(name, row["insns_before"], row["insns_after"], ".1f"))
        for key in FAULTS:
            row = rows[key]
            lines.append(_row(f"{key}, faults", row["faults_before"], row["faults_after"], "d"))
    except (KeyError, TypeError, ValueError) as err:
        raise Refusal(E_TEST, f"{path}: not what make bench writes ({err})") from err
    return lines[:room]


def letter(made: Sequence[Made], total: str, version: str, author: tuple[str, str], when: int) -> str:
    """The mail that introduces the patches of MADE."""
    subject, _, text = TEXT.read_text().partition("\n")
    patches = [message(one.step)[0] for one in made if one.changed]
    name, mail = author
    head = [
        f"From {'0' * 40} Mon Sep 17 00:00:00 2001",
        f"From: {name} <{mail}>",
        f"Date: {format_datetime(datetime.fromtimestamp(when, timezone.utc))}",
        f"Subject: [PATCH {'0' * len(str(len(patches)))}/{len(patches)}] {subject}",
        "",
    ]
    body = text.strip("\n").replace("@VERSION@", version).split("\n")
    tail = ["", f"{name} ({len(patches)}):", *(f"  {patch}" for patch in patches), "", f" {total}"]
    room = MAX_LINES - len(head) - len(body) - len(tail) + 1
    at = body.index("@NUMBERS@")
    lines = [*head, *body[:at], *numbers(room), *body[at + 1 :], *tail]
    if len(lines) > MAX_LINES:
        raise Refusal(E_TEST, f"the cover letter has {len(lines)} lines, {MAX_LINES} is the limit")
    return "\n".join(lines) + "\n"
