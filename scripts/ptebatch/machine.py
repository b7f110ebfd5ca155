# SPDX-License-Identifier: GPL-2.0
"""The machines that the suites run on: what to build, with what, and where it boots.

kunit/configs/NAME.config is what NAME needs on top of allnoconfig; for NAME-more
it comes on top of NAME.config.  kunit/configs/NAME.py is a machine for kunit.py;
where we have none, the tree's own is taken.  A name that is not in the table is
left to the tree's kunit.py as it is.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from . import kernel


@dataclass(frozen=True)
class Machine:
    """NAME boots what was built for BUILD; LINUX is what Kbuild calls the architecture."""

    name: str
    linux: str
    cross: str = ""
    build: str = ""
    theirs: str = ""
    cpus: int = 1

    @property
    def kernel(self) -> str:
        return self.build or self.name

    def configs(self) -> list[Path]:
        """The fragments of this machine's kernel, the general one first."""
        words = self.kernel.split("-")
        names = ["-".join(words[: n + 1]) for n in range(len(words))]
        return [path for name in names if (path := kernel.CONFIGS / f"{name}.config").is_file()]

    def qemu_config(self, root: Path) -> Path:
        """Ours where there is one, else the tree's."""
        for name in (self.name, self.kernel):
            if (path := kernel.CONFIGS / f"{name}.py").is_file():
                return path
        return root / "tools/testing/kunit/qemu_configs" / f"{self.theirs or self.linux}.py"

    def emulator(self, root: Path) -> str:
        """The program that has to be there."""
        path = self.qemu_config(root)
        found = re.search(r"qemu_arch='(\w+)'", path.read_text()) if path.is_file() else None
        return f"qemu-system-{found[1] if found else self.linux}"


ARM64, RISCV, S390 = "aarch64-linux-gnu-", "riscv64-linux-gnu-", "s390x-linux-gnu-"
PPC64LE, PPC64, PPC32 = "powerpc64le-linux-gnu-", "powerpc64-linux-gnu-", "powerpc-linux-gnu-"

# In the order in which check-arch runs them.  Debian's compilers; CROSS_COMPILE= says otherwise.
MACHINES = [
    Machine("um", "um"),
    Machine("x86_64", "x86_64", cpus=2),
    Machine("arm64", "arm64", ARM64, cpus=2),
    Machine("ppc64le", "powerpc", PPC64LE, cpus=2),
    Machine("ppc64le-hash", "powerpc", PPC64LE, build="ppc64le", cpus=2),
    Machine("i386", "i386"),
    Machine("i386-pae", "i386"),
    Machine("arm64-16k", "arm64", ARM64, cpus=2),
    Machine("arm64-64k", "arm64", ARM64, cpus=2),
    Machine("ppc64", "powerpc", PPC64),
    Machine("ppc32", "powerpc", PPC32),
    Machine("riscv64", "riscv", RISCV),
    Machine("s390x", "s390", S390),
]

# What kunit.py calls some of them.
ALIASES = {"powerpc": "ppc64", "powerpcle": "ppc64le", "powerpc32": "ppc32", "riscv": "riscv64", "s390": "s390x"}


def find(name: str) -> Machine:
    """The machine of that name, with the compiler that was asked for."""
    name = ALIASES.get(name, name)
    found = next((machine for machine in MACHINES if machine.name == name), None) or Machine(name, name)
    cross = os.environ.get("CROSS_COMPILE") or found.cross
    return Machine(found.name, found.linux, cross, found.build, found.theirs, found.cpus)
