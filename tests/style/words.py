#!/usr/bin/env python3
"""usage: words.py PATH...

Fails where a source or document has one of the habits that engineers of the field stumble over.
"""

import pathlib
import re
import sys

HABITS = re.compile(
    r"//+ Of |\bbehind\b|\bso many\b|in\svain|\bon end\b|that (?:is|are) there\b|\bat hand\b|\bwhoever\b"
    r"|\bupkeep\b|\boutlook\b|lead\sbytes|k(?:Most|Least|Fewest)[A-Z]"
)
# At most ten: a file, a part of the line, and why it stays.
ALLOWED = []


def main():
    found = []
    for path in sys.argv[1:]:
        top = pathlib.Path(path)
        for file in sorted(top.rglob("*") if top.is_dir() else [top]):
            if not file.is_file() or file.as_posix().startswith("tests/fuzz/corpus/"):
                continue
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                if HABITS.search(line) and not any(
                    file.as_posix() == where and part in line for where, part, _ in ALLOWED
                ):
                    found.append(f"{file}:{number}: {line.strip()}")
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
