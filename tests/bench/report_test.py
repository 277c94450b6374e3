"""Tests the renderer of results (bench/report): tables, texts and the page, on small results."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.report.page import render
from bench.report.tables import MISSING, NOISE, ReportError, Section, figure

HOSTILE = "<script>alert('x')</script> & \"quoted\""
MACHINE = {"cpu": HOSTILE, "cores": 2, "memory_bytes": 2**33, "operating_system": "Linux",
           "rocksdb": "7.8.3", "kernel": "avx512", "compiler": "GNU", "build_type": "Release"}


def cell(column, value, unit="ns", turns=0, spread=None, **limits):
    raw = {"column": column, "unit": unit, "value": value, **limits}
    return {**raw, **({"turns": turns} if turns else {}), **({"spread": spread} if spread else {})}


def document(*lines, caption="Times", headline="1× as fast"):
    """Of one table; lines are names with lists of cells."""
    table = {"caption": caption, "head": "Filter", "note": "",
             "lines": [{"name": name, "cells": cells} for name, cells in lines]}
    return {"machine": MACHINE, "title": "Title", "lead": "Lead.\nMore.", "headline": headline,
            "seconds": 1.5, "tables": [table]}


class ReportTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def write(self, content, folder=""):
        (self.dir / folder).mkdir(exist_ok=True)
        (self.dir / folder / "job.json").write_text(json.dumps(content))

    def section(self, *lines, **options):
        self.write(document(*lines, **options))
        return Section("job", self.dir)

    def texts(self, *lines):
        return [[str(each) for each in row] for row in self.section(*lines).tables[0].rows]


class TableTest(ReportTest):
    def test_digits_and_units(self):
        for value, unit, text in (
            (0, "ns", "0"), (0.012345, "ns", "0.0123"), (1234.4, "x", "1,234×"),
            (12, "bytes", "12.0 B"), (3.4e6, "bytes", "3.40 MB"), (5e12, "bytes", "5.00 TB"),
            (2, "s", "2.00 s"), (4.5e-9, "s", "4.50 ns"), (0.1234, "share", "12.3 %"),
            (1234.4, "count", "1,234"), (9.94123, "bits", "9.941"), (None, "s", MISSING),
        ):
            self.assertEqual(figure(value, unit), text)

    def test_a_row_for_each_line_and_a_column_for_each_name(self):
        lines = (("a", [cell("size", 1)]), ("b", [cell("time", None), cell("size", 0)]))
        (table,) = self.section(*lines).tables
        self.assertEqual(table.headers, ["Filter", "size, ns", "time, ns"])
        self.assertEqual(self.texts(*lines), [["a", "1.00", MISSING], ["b", "0", MISSING]])

    def test_ratios_within_the_noise_of_one_say_so(self):
        for ratio, text in (((1.1, "x", 5, [0.9, 1.2]), f"1.10× (0.900×–1.20×), {NOISE}"),
                            ((2, "x", 5, [1.5, 3]), "2.00× (1.50×–3.00×)"),
                            ((2, "x", 1), "2.00×, single run")):
            self.assertEqual(self.texts(("a", [cell("r", *ratio)])), [["a", text]])

    def test_missed_targets_come_first(self):
        lines = (("a", [cell("time", 2, at_most=3)]), ("b", [cell("time", 5, at_most=3)]),
                 ("c", [cell("time", None, at_most=3)]), ("d", [cell("time", 5, at_least=3)]))
        section = self.section(*lines)
        self.assertEqual(section.num_missed, 1)
        self.assertEqual(section.tables[1].caption, "Targets: 2 of 3 met")
        rows = [[str(each) for each in row] for row in section.tables[1].rows]
        self.assertEqual(rows[:2], [["Times: b: time", "missed", "5.00", "≤ 3.00"],
                                    ["Times: a: time", "met", "2.00", "≤ 3.00"]])

    def test_another_rocksdb_is_a_contestant_of_the_same_table(self):
        lines = [(name, [cell("time", 2)]) for name in ("a", "b")]
        self.write(document(*lines))
        self.write(document(*lines, ("c", [cell("time", 2)])), "other")
        section = Section("job", self.dir, {"RocksDB 9": self.dir / "other"})
        names = [row[0] for row in section.tables[0].rows]
        self.assertEqual(names, ["a", "a | RocksDB 9", "b", "b | RocksDB 9", "c | RocksDB 9"])

    def test_unreadable_results_give_a_one_line_error_that_names_the_job(self):
        for text in (None, "{", "[]", '{"tables": []}'):
            if text:
                (self.dir / "job.json").write_text(text)
            with self.assertRaisesRegex(ReportError, "cannot read .*job.json, which bench/run job"):
                Section("job", self.dir)


class CommandTest(ReportTest):
    def test_prints_tables_and_the_headline(self):
        self.write(document(("ribbon", [cell("time", 14.8)]), headline="fast"))
        command = [sys.executable, "-B", "-m", "bench.report", "--results", self.dir, "job"]
        text = subprocess.check_output(command, cwd=ROOT, text=True)
        self.assertTrue(re.search(r"ribbon +14\.8\n", text))
        self.assertTrue(text.endswith("\n\nfast\n"))

    def test_the_page_has_every_section_and_no_input_becomes_markup(self):
        section = self.section((HOSTILE, [cell("time", 5, at_most=1)]), headline=HOSTILE)
        text = render([section, section], f"bench/run {HOSTILE}")
        self.assertEqual(text.count("<section"), 2)
        self.assertEqual(text.count("1 missed"), 2)
        self.assertNotIn("<script", text)
        self.assertIn("&lt;script&gt;", text)


if __name__ == "__main__":
    unittest.main()
