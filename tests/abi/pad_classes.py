"""usage: pad_classes.py SOURCE_TREE OUTPUT_TREE FILE...

Copies files of the source tree, with eight bytes of padding before the members of every class: an
unnamed bit-field, which initialisers, comparisons and structured bindings ignore. Unchanged files
keep their modification time.
"""

import pathlib
import re
import sys

# Classes whose layout RocksDB, the kernels or another version of the plug-in rely on.
FIXED = (
    "FilterBitsBuilder FilterBitsReader Registration RibbonRow Segment Slice".split()
)
CLASS = re.compile(
    r"(?<!enum )\b(?:class|struct)\b(?:\s+alignas\(\w+\))?(?:\s+(?P<name>\w+))?(?:<[^;{}()]*>)?"
    r"(?:\s+final)?(?:\s*:[^;{}()]*)?\s*\{"
)
COMMENT_OR_STRING = re.compile(r"(//[^\n]*|\"(?:\\.|[^\"\\\n])*\")")


def pad(match):
    return match[0] + ("" if match["name"] in FIXED else " unsigned long long : 64;")


tree, output = map(pathlib.Path, sys.argv[1:3])
for path in map(pathlib.Path, sys.argv[3:]):
    parts = COMMENT_OR_STRING.split(path.read_text())
    parts[::2] = [CLASS.sub(pad, part) for part in parts[::2]]
    copy = output / path.relative_to(tree)
    if not copy.exists() or copy.read_text() != "".join(parts):
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("".join(parts))
