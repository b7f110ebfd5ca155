# SPDX-License-Identifier: GPL-2.0
"""From a kernel tree to the series that batches it, and onto the tree."""
