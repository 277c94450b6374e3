# SPDX-License-Identifier: Apache-2.0
"""Tests the renderer of results (bench/report): tables, texts and the page, on small results."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.report.chart import Axis, chart
from bench.report.charts import charts
from bench.report.page import render
from bench.report.tables import Section

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
        self.write({**document(("ribbon", [cell("time", 5, at_most=1)])), "has_limits": False})
        self.assertEqual(Section("job", self.dir).num_missed, 0)

    def test_charts_say_their_figures(self):
        tables = document((HOSTILE, [cell("no filter", 8.0, ""), cell("blocksieve, ranges", 0.098, "")]),
                          ("b", [cell("no filter", 0, "")]),
                          caption="Data blocks per seek")["tables"]
        drawn, = charts("ranges", tables)
        text = ElementTree.fromstring(drawn).get("aria-label")  # nothing became markup
        self.assertEqual(text, f"Data blocks per seek. no filter: 8.00 for {HOSTILE}; 0 for b. "
                               f"blocksieve, ranges: 0.0980 for {HOSTILE}.")
        self.assertEqual(charts("ranges", document(caption="Data blocks per seek")["tables"]), [""])

    def test_long_lines_say_every_few_points(self):
        points = [(x, 2 * x) for x in range(1, 101)]
        for is_log in (False, True):
            _, text = chart("Growth", Axis("x", "count", is_log), Axis("y", "bytes", is_log), [("", []), ("line", points)])
            self.assertRegex(text, r"^Growth: y by x. line: 2.00 B at 1; .*; 200 B at 100.$")
            self.assertEqual(text.count(" at "), 10)


if __name__ == "__main__":
    unittest.main()
