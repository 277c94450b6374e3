#!/usr/bin/env python3
"""The check of PITFALLS.md finds what it is there for."""

import unittest

import pitfalls

TESTS = {"Suite.Name", "cli.scan"}


def markdown(first, second):
    head = "| number | trap | tests |\n| --- | --- | --- |\n"
    return f"# Title\n\n## Needs\n\n{head}{first}\n## Failures\n\n{head}{second}\n"


GOOD = "| 1 | a trap | `Suite.Name`, `cli.scan` |\n"


class PitfallsTest(unittest.TestCase):
    def found(self, first, second=GOOD):
        return list(pitfalls.problems(markdown(first, second), TESTS))

    def test_whole_tables_are_fine(self):
        self.assertEqual(self.found(GOOD), [])
        self.assertEqual(self.found(GOOD + "| 2 | x | cannot occur, for want of such a thing |\n"), [])

    def test_a_missing_number_is_found(self):
        self.assertEqual(len(self.found(GOOD + GOOD.replace("1", "3", 1))), 1)
        self.assertEqual(len(self.found(GOOD + GOOD)), 1)
        self.assertEqual(len(self.found("")), 1)

    def test_a_missing_test_is_found(self):
        self.assertEqual(
            self.found(GOOD.replace("Name", "Nome")), ["Needs 1: there is no test Suite.Nome"]
        )

    def test_a_missing_reason_is_found(self):
        self.assertEqual(
            self.found(GOOD, "| 1 | a trap | never |\n"),
            ["Failures 1: neither a test nor a reason"],
        )

    def test_the_tests_of_this_project_are_found(self):
        existing = pitfalls.existing_tests()
        for test in ("BitsBuilder.EveryEntryIsFoundAndCountsOnce", "RandomOperations.AgreeWithAMap", "cli.scan"):
            self.assertIn(test, existing)


if __name__ == "__main__":
    unittest.main()
