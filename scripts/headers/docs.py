#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""docs.py -r | HEADER...: what kernel-doc does not ask for in a description.

Each documented function says in which context it may be called, what it
returns, and (one that takes a count) what may differ between the entries.  A
header that declares helpers describes each.  With -r alone, standard input is
what `kernel-doc -rst` made of headers, and has to be proper reStructuredText.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAYS_BITS = "PTE bits that may differ inside the range:"
DOC = re.compile(r"^/\*\*\n \* (\w+)\(\) - (.*?)\*/\n(.*?)(?=[;{])", re.M | re.S)
PROTOTYPE = re.compile(r"^(?!static\b)[a-z][\w\s*]*?\b(\w+)\([^;{}()]*\);", re.M)


def spoken(header: Path) -> Iterator[str]:
    """Complaints about the descriptions in HEADER."""
    text = header.read_text()
    described = set()
    for doc in DOC.finditer(text):
        name, body = doc[1], doc[2]
        code = " ".join(doc[3].split())
        described.add(name)
        line = text.count("\n", 0, doc.start()) + 1
        where = f"{header}:{line}: {name}():"
        if "\n * Context:" not in body:
            yield f"{where} no Context:"
        returns_value = not re.match(rf"(?:[a-z_]+ )*void {name}\(", code)
        if returns_value != ("\n * Return:" in body):
            yield f"{where} {'no' if returns_value else 'needless'} Return:"
        if re.search(r"\bnr\b", code) and SAYS_BITS not in re.sub(r"\s+\*?\s*", " ", body):
            yield f"{where} does not say which bits may differ"
    for prototype in PROTOTYPE.finditer(text):
        if prototype[1] not in described:
            line = text.count("\n", 0, prototype.start()) + 1
            yield f"{header}:{line}: {prototype[1]}(): no description"


def proper(rst: str) -> Iterator[str]:
    """Complaints of docutils about RST, Sphinx's own directives left aside."""
    rst_module = importlib.import_module("docutils.parsers.rst")
    nodes = importlib.import_module("docutils.nodes")
    frontend = importlib.import_module("docutils.frontend")
    utils = importlib.import_module("docutils.utils")

    def run(self: Any) -> list[Any]:
        box = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]

    # Stands in for Sphinx's c:function and its kind.
    described = type(
        "Described",
        (rst_module.Directive,),
        {"has_content": True, "optional_arguments": 1, "final_argument_whitespace": True, "run": run},
    )
    for name in ("c:function", "c:type", "c:struct", "c:enum", "c:macro"):
        rst_module.directives.register_directive(name, described)
    for name in ("c:func", "c:type", "c:struct"):
        rst_module.roles.register_generic_role(name, nodes.literal)
    rst = re.sub(r"^\.\. LINENO \d+\n", "", rst, flags=re.M)
    settings = frontend.get_default_settings(rst_module.Parser)
    settings.report_level, settings.halt_level, settings.warning_stream = 2, 5, False
    document = utils.new_document("kernel-doc", settings)
    rst_module.Parser().parse(rst, document)
    for message in document.findall(nodes.system_message):
        yield f"reST: {message.astext()}"


def main() -> int:
    """Print the complaints; their number decides."""
    words = sys.argv[1:]
    complaints: list[str] = []
    if words and words[0] == "-r":
        complaints += proper(sys.stdin.read())
    else:
        for word in words:
            complaints += spoken(Path(word))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
