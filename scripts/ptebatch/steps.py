# SPDX-License-Identifier: GPL-2.0
"""THE table: the patches of the series, in their order, and what makes each.

A step's commit message is messages/<step>.txt: subject, empty line, text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from . import hooks
from .cocci import Rule
from .hooks import Hook
from .util import E_TEST, TOP, Refusal


@dataclass(frozen=True)
class Step:
    """One patch: files that are new, lines that files get, rules that rewrite."""

    name: str
    copies: dict[str, str] = field(default_factory=dict)  # in the tree: here
    hooks: dict[str, Hook] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    needs: str = ""  # a directory: no such directory, no such patch


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def _tests() -> dict[str, str]:
    """What of kunit/ belongs into a kernel tree: sources, and how they are built."""
    wanted = ("*.c", "*.h", "Kbuild", "Makefile", "Kconfig", ".kunitconfig")
    found = sorted(path for glob in wanted for path in (TOP / "kunit").glob(glob))
    if not found:
        raise Refusal(E_TEST, "kunit/ is empty: this checkout is not complete")
    return {f"mm/tests/ptebatch/{path.name}": f"kunit/{path.name}" for path in found}


def _arch(name: str) -> Step:
    return Step(
        name,
        copies=_same(f"arch/{name}/include/asm/pgtable_batch.h"),
        needs=f"arch/{name}/include/asm",
    )


def steps() -> tuple[Step, ...]:
    """The series, first patch first."""
    return (
        Step(
            "um-set-ptes",
            rules=(
                Rule("coccinelle/um/set_ptes.cocci", "arch/um/include/asm/pgtable.h", ("set_ptes",), True),
            ),
            needs="arch/um/include/asm",
        ),
        Step(
            "contract",
            copies=_same(
                "include/asm-generic/pgtable_batch.h",
                "include/linux/pgtable_batch.h",
                "include/linux/pgtable_batch_compat.h",
                "include/linux/pgtable_batch_types.h",
            ),
            hooks={
                "include/asm-generic/Kbuild": hooks.asm_generic_kbuild,
                "include/linux/pgtable.h": hooks.pgtable_h,
            },
        ),
        _arch("x86"),
        _arch("arm64"),
        _arch("powerpc"),
        _arch("um"),
        Step("detector", copies=_same("include/linux/folio_pte_batch.h")),
        Step(
            "mprotect",
            rules=(
                Rule("coccinelle/mprotect/change_pte_range.cocci", "mm/mprotect.c", ("change_pte_range",)),
            ),
        ),
        # Trees that batch already, but by folio.
        Step(
            "mprotect-folio",
            rules=(
                Rule("coccinelle/mprotect/folio_runs.cocci", "mm/mprotect.c", ("change_pte_range",), extra=True),
            ),
        ),
        Step(
            "mprotect-none",
            rules=(
                Rule("coccinelle/mprotect/none_runs.cocci", "mm/mprotect.c", ("change_pte_range",), extra=True),
            ),
        ),
        Step(
            "do-wp-page",
            rules=(Rule("coccinelle/fault/do_wp_page.cocci", "mm/memory.c", ("do_wp_page",)),),
        ),
        Step(
            "numa-rebuild",
            rules=(
                Rule("coccinelle/fault/numa_rebuild.cocci", "mm/memory.c", ("numa_rebuild_large_mapping",)),
            ),
        ),
        Step(
            "kunit",
            copies=_tests(),
            hooks={"mm/Kconfig": hooks.mm_kconfig, "mm/Makefile": hooks.mm_makefile},
        ),
    )


def source(name: str) -> bytes:
    """A file of this checkout that goes into the tree as it is."""
    path = TOP / name
    if not path.is_file():
        raise Refusal(E_TEST, f"{name} is missing: this checkout is not complete")
    return path.read_bytes()


def message(step: Step) -> tuple[str, str]:
    """Subject and text of a step's commit message."""
    path = Path(__file__).parent / "messages" / f"{step.name}.txt"
    subject, _, text = path.read_text().partition("\n")
    return subject, text.strip("\n")
