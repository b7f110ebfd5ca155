# SPDX-License-Identifier: GPL-2.0
"""The same kernel under the hash MMU: POWER8 has no other."""

# Read by the tree's kunit.py, which has this module.
from qemu_config import QemuArchParams  # type: ignore

QEMU_ARCH = QemuArchParams(
    linux_arch='powerpc',
    kconfig='',
    qemu_arch='ppc64',
    kernel_path='vmlinux',
    kernel_command_line='console=hvc0',
    extra_qemu_params=['-M', 'pseries', '-cpu', 'power8'],
)
