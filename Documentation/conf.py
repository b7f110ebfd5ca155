# SPDX-License-Identifier: GPL-2.0
"""Sphinx settings: plain reST, no extension, warnings are errors."""

project = "ptebatch"
extensions: list[str] = []
exclude_patterns = ["series"]
html_theme = "alabaster"
