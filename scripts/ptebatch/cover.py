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


def numbers(room: int) -> list[str]:
    """Rows of out/bench/*.json, as many as there is ROOM for."""
    rows = []
    for path in sorted((OUT / "bench").glob("*.json")):
        try:
            data = json.loads(path.read_text())
            for row in data["rows"]:
                before, after = float(row["before"]), float(row["after"])
                ratio = f"{after / before:5.2f}x" if before else "     -"
                rows.append(f"  {str(row['case'])[:34]:<34} {before:>11.1f} {after:>11.1f} {ratio}")
        except (KeyError, TypeError, ValueError):
            continue
    if not rows:
        return [NOT_MEASURED]
    head = f"  {'':<34} {'before':>11} {'after':>11} ratio"
    return [head, *rows][:room]


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
