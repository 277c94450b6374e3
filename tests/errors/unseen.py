#!/usr/bin/env python3
"""usage: unseen.py BUILD

Fails if the tests of BUILD, a tree of preset `coverage`, produce a text of ERRORS.txt nowhere, and
UNSEEN.txt has no reason for it. A text counts as produced if a line of it ran in whole: of
`if (...) return Error(...)` in one line, also the second part.
"""

import json
import pathlib
import subprocess
import sys

import errors

UNSEEN = pathlib.Path(__file__).with_name("UNSEEN.txt")


def lines_run(build):
    """By file and line: whether all of its blocks ran, except for those that handle exceptions."""
    run = {}
    for data in pathlib.Path(build).rglob("*.gcda"):
        command = ["gcov", "--json-format", "--stdout", data]
        reports = subprocess.run(command, capture_output=True, check=True).stdout.splitlines()
        for file in (file for report in reports for file in json.loads(report)["files"]):
            for line in file["lines"]:
                place = file["file"], line["line_number"]
                is_run = line["count"] > 0 and not line["unexecuted_block"]
                run[place] = run.get(place, False) or is_run
    return run


def main():
    run = lines_run(sys.argv[1])
    produced = {}
    for file, entry, first, last in errors.all_texts():
        places = ((str(file), line) for line in range(first, last + 1))
        found = [run[place] for place in places if place in run]
        produced[entry] = produced.get(entry, False) or any(found) or not found
    excused = {line.strip() for line in UNSEEN.read_text(encoding="utf-8").splitlines()}
    unseen = [entry for entry, is_seen in produced.items() if not is_seen and entry not in excused]
    print("\n".join(unseen) or "every error and warning is produced, or has a reason in UNSEEN.txt")
    sys.exit(1 if unseen else 0)


if __name__ == "__main__":
    main()
