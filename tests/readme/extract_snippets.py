#!/usr/bin/env python3
"""usage: extract_snippets.py MARKDOWN OUT_DIR

Makes a program of each ```cpp block and prints the names of the files, one a line, those of blocks
marked "runnable" preceded by "run ". Includes stay outside main(), the rest goes into it.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp *(runnable)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def program(markdown_path, code, line):
    """A program of `code`, whose first line is `line` of the document."""
    includes, rest = [], []
    for text in code.splitlines():
        (includes if text.startswith("#include") else rest).append(text)
        (rest if text.startswith("#include") else includes).append("")
    here = f'#line {line} "{markdown_path}"'
    return "\n".join([here, *includes, "int main() {", here, *rest, "}", ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    markdown_path, out_dir = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    markdown = markdown_path.read_text(encoding="utf-8")
    out_dir.mkdir(parents=True, exist_ok=True)
    for block in BLOCK.finditer(markdown):
        line = markdown.count("\n", 0, block.start(2)) + 1
        source = program(markdown_path, block.group(2), line)
        file = out_dir / f"line_{line}.cc"
        if not file.exists() or file.read_text(encoding="utf-8") != source:
            file.write_text(source, encoding="utf-8")
        print(("run " if block.group(1) else "") + str(file))


if __name__ == "__main__":
    main()
