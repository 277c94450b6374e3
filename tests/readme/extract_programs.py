#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: extract_programs.py ROOT OUT_DIR MARKDOWN...

Writes a program for each ```cpp block of these documents, whose names are relative to ROOT, and
prints the file names, one per line. A block without main() becomes the body of one, below its
includes. Blocks that call Open(options, path) get a function of that name: the pointer type of
rocksdb::DB::Open depends on the version of RocksDB.
"""

import pathlib
import re
import sys
import textwrap

BLOCK = re.compile(r"^ *```cpp\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)

OPEN = """#include <rocksdb/db.h>
#include <rocksdb/version.h>
static std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const char* path) {
  std::conditional_t<ROCKSDB_MAJOR < 11, rocksdb::DB*, std::unique_ptr<rocksdb::DB>> db{};
  if (!rocksdb::DB::Open(options, path, &db).ok()) std::abort();
  return std::unique_ptr<rocksdb::DB>(std::move(db));
}
"""


def program(markdown_path, code, line):
    """A program from `code`, which begins at `line` of the document."""
    includes, rest = [], []
    for text in textwrap.dedent(code).splitlines():
        is_include = text.startswith("#include") or "int main(" in code
        includes.append(text if is_include else "")
        rest.append("" if is_include else text)
    here = f'#line {line} "{markdown_path}"\n'
    source = here + "\n".join(includes) + "\n"
    if re.search(r"(?<!:)\bOpen\(", code):
        source += OPEN
    if "int main(" not in code:
        source += "int main() {\n" + here + "\n".join(rest) + "\n}\n"
    return source


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    root, out_dir = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out_dir.mkdir(parents=True, exist_ok=True)
    for name in sorted(sys.argv[3:]):
        markdown = (root / name).read_text(encoding="utf-8")
        for block in BLOCK.finditer(markdown):
            line = markdown.count("\n", 0, block.start(1)) + 1
            source = program(root / name, block.group(1), line)
            file = out_dir / f"{name.removesuffix('.md').replace('/', '_')}_{line}.cc"
            if not file.exists() or file.read_text(encoding="utf-8") != source:
                file.write_text(source, encoding="utf-8")
            print(file)


if __name__ == "__main__":
    main()
