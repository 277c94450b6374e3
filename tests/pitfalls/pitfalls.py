#!/usr/bin/env python3
"""Checks PITFALLS.md: rows are numbered from 1, and have existing tests or a reason."""

import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).parent.parent


def existing_tests():
    found = set()
    for source in TESTS.rglob("*.cc"):
        text = source.read_text()
        found.update(
            f"{suite}.{name}"
            for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", text, re.M)
        )
    found.update(f"cli.{script.stem[:-5]}" for script in TESTS.glob("cli/*_test.py"))
    return found


def problems(markdown, tests):
    tables = re.split(r"^## ", markdown, flags=re.M)[1:]
    if len(tables) != 2:
        yield f"{len(tables)} tables; expected: 2"
    for table in tables:
        title = table.splitlines()[0]
        rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+) \|$", table, re.M)
        numbers = [int(number) for number, _, _ in rows]
        if not numbers or numbers != list(range(1, len(numbers) + 1)):
            yield f"{title}: numbers are {numbers}; expected: 1, 2, ..."
        for number, _, answer in rows:
            named = re.findall(r"`(\w+\.\w+)`", answer)
            reason = re.sub(r"`\w+\.\w+`|[ ,;]", "", answer)
            if not named and len(reason) < 20:
                yield f"{title} {number}: neither a test nor a reason"
            for test in named:
                if test not in tests:
                    yield f"{title} {number}: there is no test {test}"


def main():
    found = list(problems((TESTS / "PITFALLS.md").read_text(), existing_tests()))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
