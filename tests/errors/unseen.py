#!/usr/bin/env python3
"""usage: unseen.py BUILD

Fails if the tests that ran in BUILD, a tree of preset `coverage`, did not produce a text of
ERRORS.txt, and UNSEEN.txt has no reason for it. A text counts as produced if one of its lines ran
completely: in a line `if (...) return Error(...)`, the second part, too.
"""

import json
import pathlib
import subprocess
import sys

import errors


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
    excused = errors.excused()
    unseen = [entry for entry, is_seen in produced.items() if not is_seen and entry not in excused]
    print("\n".join(unseen) or "every error and warning is produced, or has a reason in UNSEEN.txt")
    sys.exit(1 if unseen else 0)


if __name__ == "__main__":
    main()
