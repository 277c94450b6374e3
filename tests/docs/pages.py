#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: pages.py SOURCE_DIR

Fails if a page has a long line of prose or a long table cell, or a link that leads nowhere, if a page is
missing in the map, if code names a page that does not exist, or if OPERATING.md quotes a line of LOG
that no code writes."""

import math
import pathlib
import re
import sys

MAX_LINE, MAX_WORDS = 140, 25
SPECIFICATION = "lib/FORMAT.md"  # lines and cells of formulas
MAP = "integration/rocksdb/README.md"
MAX_LINES = {MAP: 60, "README.md": 150}
LINK = re.compile(r'\]\(([^)\s]+)\)|(?:srcset|src)="([^"]+)"')


def anchors(text):
    """The anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def prose_problems(path, text):
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        if line.startswith("|"):
            cells = re.sub(r"`[^`]*`|\]\([^)]*\)", "", line).split("|")
            if max(len(re.findall(r"\w[\w'.-]*", cell)) for cell in cells) > MAX_WORDS:
                yield f"{path}:{number}: a table cell has more than {MAX_WORDS} words"
        elif not is_code and len(line) > MAX_LINE and "<img" not in line:
            yield f"{path}:{number}: more than {MAX_LINE} characters"


def link_problems(root, path, text):
    for link in map("".join, LINK.findall(text)):
        file, _, anchor = link.partition("#")
        target = (root / path).parent / file if file else root / path
        if ":" in file:
            continue
        if not target.exists() or anchor and anchor not in anchors(target.read_text("utf-8")):
            yield f"{path}: {link} leads nowhere"


def problems(root):
    tops = (".github", "bench", "include", "integration", "lib", "tests")
    files = [root / "README.md", *(file for top in tops for file in (root / top).rglob("*") if file.is_file())]
    pages = {file.relative_to(root).as_posix(): file.read_text("utf-8") for file in files if file.suffix == ".md"}
    linked = {((root / MAP).parent / link).resolve() for link, _ in LINK.findall(pages[MAP])}
    for path, text in pages.items():
        yield from link_problems(root, path, text)
        yield from prose_problems(path, text) if path != SPECIFICATION else ()
        if text.count("\n") > MAX_LINES.get(path, math.inf):
            yield f"{path}: more than {MAX_LINES[path]} lines"
        if root / path not in linked and path != MAP and "TEMPLATE" not in path:
            yield f"{MAP} has no link to {path}"
    literals = ""
    for file in files:
        if file.suffix not in (".cc", ".h", ".py", ".sh", ".txt", ".cmake") or "corpus" in file.parts:
            continue
        code = file.read_text("utf-8")
        literals += "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', code)) if file.suffix == ".cc" else ""
        yield from (f"{file}: {name} is no page" for name in re.findall(r"[\w/.-]*\w\.md\b", code)
                    if not any(path.endswith(name.lstrip("./")) for path in pages))
    log = pages["integration/rocksdb/OPERATING.md"].split("## What LOG says")[1].split("\n## ")[0]
    yield from (f"OPERATING.md: no code writes {line!r}"
                for line in re.findall(r"^\| `(.*?)`", log, re.MULTILINE) if line not in literals)


found = [*problems(pathlib.Path(sys.argv[1]).resolve())]
print("\n".join(found) or "no problem found")
sys.exit(1 if found else 0)
