# SPDX-License-Identifier: GPL-2.0
"""64-bit, four-level tables."""

# Read by the tree's kunit.py, which has this module.
from qemu_config import QemuArchParams  # type: ignore

QEMU_ARCH = QemuArchParams(
    linux_arch='riscv',
    kconfig='',
    qemu_arch='riscv64',
    kernel_path='arch/riscv/boot/Image',
    kernel_command_line='console=ttyS0',
    extra_qemu_params=['-machine', 'virt', '-cpu', 'rv64'],
)
