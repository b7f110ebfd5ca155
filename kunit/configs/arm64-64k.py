# SPDX-License-Identifier: GPL-2.0
"""arm64 with 64K pages: one folio that fills a page table has 512 MiB."""

# Read by the tree's kunit.py, which has this module.
from qemu_config import QemuArchParams  # type: ignore

QEMU_ARCH = QemuArchParams(
    linux_arch='arm64',
    kconfig='',
    qemu_arch='aarch64',
    kernel_path='arch/arm64/boot/Image.gz',
    kernel_command_line='console=ttyAMA0',
    extra_qemu_params=['-M', 'virt', '-cpu', 'max,pauth-impdef=on', '-m', '3072'],
)
