"""The pictures of the report, drawn from recorded results: whether everything in them can be read. What
is where comes from the drawn artists themselves (draw_figures.py)."""

import functools
import itertools
import json
import pathlib
import subprocess
import unittest

from report_support import JOBS, PYTHON, section_of
from bench.report import palette  # after the path to it

DRAW = pathlib.Path(__file__).resolve().parent / "draw_figures.py"
TIMES = ("ns per", "microseconds", "per second", "analysis for one value")  # of what axes say
TOUCHING = 0.5  # pixels


@functools.cache
def figures():
    done = subprocess.run([PYTHON, "-B", str(DRAW)], capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def overlap(a, b):
    return (
        min(a[2], b[2]) - max(a[0], b[0]) > TOUCHING and min(a[3], b[3]) - max(a[1], b[1]) > TOUCHING
    )


def crosses(line, box):
    """Whether a line through points has a part within a box."""
    return any(is_cut(begin, end, box) for begin, end in itertools.pairwise(line))


def is_cut(begin, end, box):
    """Liang and Barsky: the part of the segment that is within the box on every side."""
    enters, leaves = 0.0, 1.0
    for axis in (0, 1):
        way = end[axis] - begin[axis]
        low, high = box[axis] + TOUCHING - begin[axis], box[axis + 2] - TOUCHING - begin[axis]
        if way == 0:
            if low > 0 or high < 0:
                return False
            continue
        first, last = sorted((low / way, high / way))
        enters, leaves = max(enters, first), min(leaves, last)
    return enters < leaves


class Figures(unittest.TestCase):
    def test_all_are_looked_at(self):
        names = [figure.name for job in JOBS for figure in section_of(job).figures]
        self.assertEqual([figure["name"] for figure in figures()], names)

    def test_no_text_is_over_a_mark_or_a_line(self):
        for figure in figures():
            for text in figure["texts"]:
                for mark in figure["marks"]:
                    self.assertFalse(overlap(text["box"], mark), (figure["name"], text, mark))
                for line in figure["lines"]:
                    self.assertFalse(crosses(line, text["box"]), (figure["name"], text))

    def test_no_text_is_over_another(self):
        for figure in figures():
            for a, b in itertools.combinations(figure["texts"], 2):
                self.assertFalse(overlap(a["box"], b["box"]), (figure["name"], a, b))

    def test_all_are_as_wide_as_a_phone_at_most(self):
        for figure in figures():
            left, _, right, _ = figure["canvas"]
            for text in figure["texts"]:
                self.assertGreaterEqual(text["box"][0], left - 1, (figure["name"], text))
                self.assertLessEqual(text["box"][2], right + 1, (figure["name"], text))

    def test_names_stand_by_what_they_name_and_there_is_no_legend(self):
        for figure in figures():
            self.assertEqual(figure["legends"], 0, figure["name"])

    def test_no_axis_has_bars(self):
        for figure in figures():
            self.assertEqual(figure["bars"], 0, figure["name"])

    def test_every_time_has_a_spread(self):
        of_times = []
        for figure in figures():
            if any(words in text["text"] for text in figure["texts"] for words in TIMES):
                of_times.append(figure["name"])
                self.assertGreaterEqual(len(figure["spreads"]), figure["dots"], figure["name"])
                self.assertTrue(any(max(x1 - x0, y1 - y0) > 0 for x0, y0, x1, y1 in figure["spreads"]), figure["name"])
        self.assertIn("filters-absent", of_times)
        self.assertIn("ranges-workloads", of_times)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


class Colours(unittest.TestCase):
    def test_text_of_every_colour_can_be_read_in_both_themes(self):
        """A contrast of 4.5, as WCAG 2 wants it for text: labels have the colours of lines."""
        for theme in ("light", "dark"):
            page = luminance(getattr(palette.COLOURS["page"], theme))
            for name, colour in palette.COLOURS.items():
                if name in ("page", "surface", "line"):
                    continue
                with self.subTest(f"{name}, {theme}"):
                    lighter, darker = sorted((luminance(getattr(colour, theme)), page), reverse=True)
                    self.assertGreaterEqual((lighter + 0.05) / (darker + 0.05), 4.5)


class Geometry(unittest.TestCase):
    """Of the tests themselves."""

    def test_a_line_crosses_a_box_or_passes_it(self):
        box = [10, 10, 20, 20]
        self.assertTrue(crosses([[0, 0], [30, 30]], box))
        self.assertTrue(crosses([[0, 15], [30, 15]], box))
        self.assertTrue(crosses([[15, 30], [15, 15]], box))
        self.assertFalse(crosses([[0, 21], [30, 21]], box))
        self.assertFalse(crosses([[0, 15], [9, 15]], box))
        self.assertFalse(crosses([[0, 25], [25, 0], [30, 30]], [0, 0, 8, 8]))


if __name__ == "__main__":
    unittest.main()
