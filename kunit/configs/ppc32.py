# SPDX-License-Identifier: GPL-2.0
"""32-bit Book3S, hash MMU of the 604."""

# Read by the tree's kunit.py, which has this module.
from qemu_config import QemuArchParams  # type: ignore

QEMU_ARCH = QemuArchParams(
    linux_arch='powerpc',
    kconfig='',
    qemu_arch='ppc',
    kernel_path='vmlinux',
    kernel_command_line='console=ttyS0',
    extra_qemu_params=['-M', 'g3beige', '-cpu', 'g3'],
)
