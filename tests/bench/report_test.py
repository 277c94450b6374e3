"""The renderer of results (bench/report) on small results made here, and the declarations of all
benchmarks: what tables, texts, plots and the page say of rows."""

import html.parser
import importlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.report.__main__ import ROOMS
from bench.report.declare import Dots, Highlight, Lines, Section, Table, Target, Value, Words
from bench.report.rows import MISSING, NOISE, ReportError, Row
from bench.report.rows import bytes_text, read_results, seconds_text, significant
from bench.report.show import ShownSection
from bench.report.text import plain_text

try:
    from bench.report import page, plot, svg
except ImportError:  # the first python3 of PATH need not be Debian's, which has the packages
    if sys.executable == "/usr/bin/python3":
        raise
    sys.exit(subprocess.run(["/usr/bin/python3", "-B", *sys.argv]).returncode)

JOBS = ("read_amp", "levels", "filters", "frontier", "space", "skip", "ranges", "toylsm", "sieve",
        "scale")
MACHINE = {"cpu": "<b>CPU", "cores": 2, "memory_bytes": 2**33, "operating_system": "Linux",
           "rocksdb": "7.8.3", "kernel": "avx512", "compiler": "GNU", "build_type": "Release"}
HOSTILE = "<script>alert('x')</script> & \"quoted\" $x^2$"


def raw_row(name, metric, value, unit="ns", turns=0, spread=None, **parameters):
    row = {"name": name, "parameters": parameters, "metric": metric, "unit": unit, "value": value}
    return {**row, "turns": turns, **({"spread": spread} if spread else {})}


def row(*arguments, **parameters):
    return Row.read(raw_row(*arguments, **parameters))


def section(rows, facts=None, **declared):
    declared = Section(**{"title": "Title", "lead": "Lead.", **declared})
    return ShownSection("job", declared, facts or {}, rows)


def cells(rows, table, **declared):
    (table,) = section(rows, tables=(table,), **declared).tables
    return [[str(cell) for cell in line] for line in table.rows]


class Figures(unittest.TestCase):
    def test_digits_and_units(self):
        for form, value, text in (
            (significant, 0, "0"), (significant, 0.012345, "0.0123"), (significant, 1234.4, "1,234"),
            (bytes_text, 12, "12.0 B"), (bytes_text, 3.4e6, "3.40 MB"), (bytes_text, 5e12, "5.00 TB"),
            (seconds_text, 2, "2.00 s"), (seconds_text, 4.5e-9, "4.50 ns"),
        ):
            self.assertEqual(form(value), text)
        for unit, text in (("share", "12.3 %"), ("count", "0"), ("ns", "0.123"), ("x", "0.123")):
            self.assertEqual(row("a", "m", 0.1234, unit).figure(), text)

    def test_what_cannot_be_read_is_one_line_that_says_what_to_do(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "job.json")
            for text, message in (
                (None, "missing; bench/run job writes it"), ("{", "not JSON"),
                ("[]", "run it again"), ('{"rows": [{}]}', "run it again"),
            ):
                if text:
                    path.write_text(text)
                self.assertRaisesRegex(ReportError, message, read_results, path, "job")


class Tables(unittest.TestCase):
    def test_a_row_for_each_name_and_a_column_for_each_metric(self):
        rows = [row(name, metric, value, keys=1000) for name, metric, value in
                (("a", "size", 1), ("a", "time", 2), ("b", "size", 3), ("b", "time", 4))]
        self.assertEqual(cells(rows, Table("T", ("name", "keys"), ["time", "size"])),
                         [["a, 1,000", "2.00", "1.00"], ["b, 1,000", "4.00", "3.00"]])
        self.assertEqual(cells(rows, Table("T", ("metric",), across="name"), digits={"time": 1}),
                         [["size", "1.00", "3.00"], ["time", "2", "4"]])

    def test_what_is_missing_is_shown_as_missing(self):
        rows = [row("a", "size", 1), row("b", "time", None), row("b", "size", 0)]
        self.assertEqual(cells(rows, Table("T", ("name",), ["time", "size"])),
                         [["a", MISSING, "1.00"], ["b", MISSING, "0"]])

    def test_two_rows_for_one_cell_are_an_error(self):
        with self.assertRaises(ReportError):
            cells([row("a", "size", keys, keys=keys) for keys in (1, 2)], Table("T", ("name",)))

    def test_ratios_that_the_turns_do_not_tell_from_one_say_so(self):
        rows = [row("a", "r", 1.1, "x", 5, [0.9, 1.2]), row("b", "r", 2, "x", 5, [1.5, 3]),
                row("c", "r", 2, "x", 1)]
        texts = ["1.10 (0.900–1.20), within the noise", "2.00 (1.50–3.00)", "2.00, one turn"]
        self.assertEqual([line[1] for line in cells(rows, Table("T", ("name",)))], texts)

    def test_headings_have_units_and_share_what_is_before_a_colon(self):
        metrics = (("get: hit", "ns"), ("get: miss", "ns"), ("bits per key", "bits"))
        rows = [row("a", metric, 1, unit) for metric, unit in metrics]
        (table,) = section(rows, tables=(Table("T", ("name",), head="Filter"),)).tables
        self.assertEqual(table.headers, ["Filter", "get: hit, ns", "get: miss, ns", "bits per key"])
        groups = [("", ["Filter"]), ("get", ["hit, ns", "miss, ns"]), ("", ["bits per key"])]
        self.assertEqual(table.header_groups, groups)

    def test_one_for_each_value_of_a_field_in_the_words_of_its_label(self):
        rows = [row("a", "size", keys, keys=keys, kind="x") for keys in (10, 1000)]
        rows.append(row("b", "size", 3))
        tables = section(rows, tables=(Table("T of {keys}", ("name", "kind"), each="keys"),),
                         labels={"keys": "{:,} keys", "kind": {"x": "the x"}}).tables
        self.assertEqual([table.caption for table in tables], ["T of 10 keys", "T of 1,000 keys"])
        names = [[line[0] for line in table.rows] for table in tables]
        self.assertEqual(names, [["a, the x"], ["a, the x"]])

    def test_without_rows_there_is_none(self):
        tables = Table("T", ("name",)), Table("T", ("name",), each="keys")
        self.assertEqual(section([], tables=tables).tables, [])


class Texts(unittest.TestCase):
    ROWS = [row("a", "size", 3, "bytes", keys=5), row("b", "size", 1, "bytes", keys=6),
            row("b", "time", 2, "ns", 3, [1, 4])]

    def lead(self, template, **values):
        return section(self.ROWS, {"input": "rows", "n": 1000}, lead=template, values=values).lead

    def test_facts_and_values(self):
        picks = {pick: Value("size", pick=pick) for pick in ("first", "last", "min", "max", "sum")}
        self.assertEqual(self.lead("{first} {last} {min} {max} {sum}", **picks),
                         "3.00 B 1.00 B 1.00 B 3.00 B 4.00 B")
        values = {"t": Value("time"), "s": Value("size", {"name": "a"}), "no": Value("no")}
        self.assertEqual(self.lead("{n:,} {input}, {t} {t:short} {s[keys]}", **values),
                         "1,000 rows, 2.00 ns (1.00–4.00) 2.00 ns 5")
        self.assertEqual(self.lead("{no} {no[keys]}", **values), f"{MISSING} {MISSING}")
        self.assertRaisesRegex(ReportError, "neither a fact nor a value 'x'", self.lead, "{x}")
        with self.assertRaisesRegex(ReportError, "2 rows for one place"):
            self.lead("{s}", s=Value("size"))

    def test_no_gain_is_claimed_where_there_is_none(self):
        def shown(spec, *ratio):
            values = {"r": Value("r")}
            return section([row("a", "r", *ratio)], lead="{r%s}" % spec, values=values).lead

        self.assertEqual(shown("", 2, "x", 5, [1.5, 3]), "2.00× (1.50–3.00)")
        self.assertEqual(shown(":short", 1.1, "x", 5, [0.9, 1.2]), f"1×, {NOISE}")
        self.assertEqual(shown(":short", 2, "x", 1), "2.00×, one turn")
        self.assertEqual(shown(":gain", 12, "x"), "12.0×")
        self.assertEqual(shown(":gain", 0.9, "x"), "none")

    def test_a_highlight_needs_its_figure(self):
        declared = {"highlight": Highlight("{r}", "what", "{s}"),
                    "values": {"r": Value("r"), "s": Value("s")}}
        self.assertIsNone(section([row("a", "s", 1)], **declared).highlight)
        shown = section([row("a", "r", 1)], **declared).highlight
        self.assertEqual(shown, ("1.00 ns", "what", MISSING))

    def test_what_is_printed_needs_nothing_but_python(self):
        with tempfile.TemporaryDirectory() as directory:
            rows = [raw_row("ribbon", "memory to build", 14.8, "bytes per key", keys=1000)]
            other = pathlib.Path(directory, "rocksdb-9.9")
            other.mkdir()
            for path in (pathlib.Path(directory, "space.json"), other / "space.json"):
                path.write_text(json.dumps({"machine": MACHINE, "facts": {}, "rows": rows}))
            code = "import runpy, sys; sys.modules.update(jinja2=None, matplotlib=None); "
            code += "runpy.run_module('bench.report', run_name='__main__')"
            command = [sys.executable, "-B", "-c", code, "--table", "--results", directory]
            command += ["--other", str(other)]
            kept = {"cwd": ROOT, "capture_output": True, "text": True}
            done = subprocess.run([*command, "space"], **kept)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(len(re.findall(r"ribbon, 1,000 keys +14\.8\n", done.stdout)), 2)
            self.assertIn("not measured", done.stdout)
            done = subprocess.run([*command, "scale"], **kept)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))

    def test_columns_are_aligned_and_headings_stand_at_the_bottom(self):
        rows = [row("a", "size", 1), row("a long name", "a much longer metric", 1234)]
        text = plain_text(section(rows, tables=(Table("T", ("name",), head="Name"),)), "x.json")
        table = text[text.index("T\n\n") + 3 : text.index("\n\nDetails")].split("\n")
        self.assertEqual(len({len(line) for line in table[-3:]}), 1)
        self.assertTrue(table[1].startswith("Name "))


class Targets(unittest.TestCase):
    def verdicts(self, rows, *targets, **facts):
        fields = ("what", "limit", "measured", "is_met", "remark")
        verdicts = section(rows, facts, targets=targets).verdicts
        return [tuple(getattr(each, name) for name in fields) for each in verdicts]

    def test_either_direction_and_what_the_spread_leaves_of_it(self):
        rows = [row("a", "time", 2, "ns", 5, [1, 4]), row("b", "time", 5, "ns")]
        self.assertEqual(self.verdicts(rows, Target("T", "time", by=("name",), at_most=3)),
                         [("T: a", "≤ 3 ns", "2.00 ns (1.00–4.00)", True, NOISE),
                          ("T: b", "≤ 3 ns", "5.00 ns", False, "")])
        other_way = self.verdicts(rows, Target("T", "time", at_least=3))
        self.assertEqual([each[3] for each in other_way], [False, True])

    def test_what_was_not_measured_is_neither_met_nor_missed(self):
        rows = [row("a", "share", 0.5, "share", keys=1), row("a", "share", None, keys=2)]
        target = Target("T", "share", by=("keys",), at_most={1: 0.5, 2: 0.5, 3: 0.5})
        self.assertEqual(self.verdicts(rows, target), [
            ("T: 1", "≤ 50 %", "50.0 %", True, ""), ("T: 2", "≤ 0.5", MISSING, None, ""),
            ("T: 3", "≤ 0.5", MISSING, None, "")])

    def test_one_of_other_facts_does_not_apply(self):
        target = Target("T", "time", at_most=1, when={"stock": "native"})
        self.assertEqual(self.verdicts([row("a", "time", 1)], target, stock="portable"), [])
        self.assertEqual(len(self.verdicts([row("a", "time", 1)], target, stock="native")), 1)


class Page(html.parser.HTMLParser):
    """What is in a page. Raises AssertionError if its elements are not properly nested."""

    def __init__(self, *sections):
        super().__init__()
        self.text = page.render(list(sections), f"bench/run {HOSTILE}")
        self.elements, self.texts, self._open = [], [], []
        self.feed(self.text)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "br"):
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        open_tag = self._open.pop()
        assert open_tag == tag, f"</{tag}> closes <{open_tag}> at {self.getpos()}"

    def handle_data(self, data):
        self.texts.append(data.strip())

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    def count(self, tag):
        return sum(element == tag for element, _ in self.elements)


def full_section(name="job"):
    rows = [row(name, metric, value, "ns", 5, [0.9 * value, 1.3 * value], keys=keys)
            for name in (HOSTILE, "stock Bloom") for keys in (10, 1000)
            for metric, value in (("get: hit", 2), ("get: miss", 3))]
    shown = section(
        [*rows, row("new", "get: hit", None, keys=10)], {**MACHINE, "input": HOSTILE, "seconds": 12.3},
        lead="Of {input}.", highlight=Highlight("{hit}", "to hit", "{input}"),
        values={"hit": Value("get: hit", {"name": "stock Bloom"}, "last")},
        targets=(Target("hit", "get: hit", by=("name", "keys"), at_most=1),),
        tables=(Table("Times", ("name", "keys")),
                Words("Words", ("What", "Formula"), (("{input}", "n · log n " * 9),))),
        plots=(Lines("Times over keys", "What to see.", "keys", "get: hit", log="x"),
               Dots("Hits of {keys}", "What to see.", "get: hit", each="keys")))
    shown.name = name
    return shown


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = Page(full_section("sieve"), full_section("scale"))

    def test_no_script_and_nothing_from_elsewhere(self):
        for tag in ("script", "link", "img", "iframe", "object", "base"):
            self.assertEqual(self.page.count(tag), 0, tag)
        references = self.page.attributes("href") + self.page.attributes("xlink:href")
        references += re.findall(r"url\(([^)]*)", self.page.text)
        self.assertTrue(references)
        self.assertTrue(all(reference.startswith("#") for reference in references), references)
        self.assertEqual(self.page.attributes("src"), [])
        self.assertNotIn("@import", self.page.text)

    def test_no_input_becomes_markup(self):
        self.assertNotIn("<script", self.page.text)
        self.assertNotIn("<b>CPU", self.page.text)
        self.assertIn("<b>CPU, 2 cores", self.page.texts)
        self.assertTrue(any(HOSTILE in text for text in self.page.texts))

    def test_ids_are_unique_and_references_lead_somewhere(self):
        ids = self.page.attributes("id")
        self.assertEqual(len(ids), len(set(ids)))
        references = re.findall(r"(?:url\(|href=\")#([^)\"]*)", self.page.text)
        for attribute in ("aria-labelledby", "aria-describedby"):
            references += self.page.attributes(attribute)
        self.assertEqual(set(references) - set(ids), set())

    def test_every_colour_is_a_variable_that_both_themes_define(self):
        style, body = self.page.text.split("</style>", 1)
        themes = [line for line in style.split("\n") if "--text:" in line]
        light, dark = (set(re.findall(r"(--[\w-]+):", theme)) for theme in themes)
        self.assertEqual(light, dark)
        used = set(re.findall(r"var\((--[\w-]+)\)", self.page.text)) - {"--font"}
        self.assertEqual(used - light, set())
        self.assertEqual(re.findall(r"(?:fill|stroke|color): *#[0-9a-fA-F]{3,6}", body), [])

    def test_plots_say_what_is_seen_and_headings_what_they_head(self):
        drawings = [attributes for tag, attributes in self.page.elements if tag == "svg"]
        self.assertEqual(len(drawings), 6)
        for attributes in drawings:
            self.assertLessEqual({"aria-labelledby", "aria-describedby"}, set(attributes))
        scopes = {attributes.get("scope") for tag, attributes in self.page.elements if tag == "th"}
        self.assertEqual(scopes, {"row", "col", "colgroup"})
        self.assertTrue(all(self.page.attributes("data-label")))

    def test_it_begins_with_headline_figures_and_ends_with_the_machine(self):
        self.assertLess(self.page.text.index('class="highlights"'), self.page.text.index("<nav"))
        self.assertLess(self.page.text.index("</main>"), self.page.text.index('id="machine"'))
        self.assertIn("avx512", self.page.texts)
        self.assertIn("12 s", self.page.texts)
        self.assertIn("missing", self.page.texts)  # in the plot of dots
        self.assertIn(MISSING, self.page.texts)  # in the table


class Plots(unittest.TestCase):
    def drawn(self, rows, declared):
        """The lines that were drawn: label, x and y."""
        from matplotlib import pyplot

        (shown,) = plot.plots(section(rows, plots=(declared,)))
        figure, axes = pyplot.subplots()
        self.addCleanup(pyplot.close, figure)
        shown.draw(axes)
        places = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
        return [(line.get_label(), *place) for line, place in zip(axes.lines, places)]

    def test_a_line_for_each_series_by_ascending_x(self):
        rows = [row(name, metric, value, keys=keys) for name in ("a", "b") for keys in (5, 3)
                for metric, value in (("size", keys), ("time", 10 * keys))]
        a, b = ((name, [3, 5], [30, 50]) for name in ("a", "b"))
        self.assertEqual(self.drawn(rows, Lines("", "", "keys", "time")), [a, b])
        self.assertEqual(self.drawn(rows, Lines("", "", "size", "time", {"name": "a"})), [a])

    def test_what_is_missing_is_not_drawn(self):
        rows = [row(*each[:3], keys=each[3])
                for each in (("a", "time", None, 1), ("a", "time", 2, 2), ("b", "time", None, 1))]
        self.assertEqual(self.drawn(rows, Lines("", "", "keys", "time")), [("a", [2], [2])])
        for declared in (Lines("", "", "keys", "size"), Dots("", "", "size")):
            self.assertEqual(list(plot.plots(section(rows, plots=(declared,)))), [])

    def test_names_of_lines_do_not_overlap(self):
        places = svg.pushed_apart([5, 5.1, 4.9, 20], [2, 2, 2, 2])
        self.assertEqual(sorted(range(4), key=places.__getitem__), [2, 0, 1, 3])
        ordered = sorted(places)
        self.assertTrue(all(b - a >= 2 - 1e-6 for a, b in zip(ordered, ordered[1:])))

    def test_a_plot_is_saved_as_a_picture(self):
        with tempfile.TemporaryDirectory() as directory:
            for number, each in enumerate(plot.plots(full_section())):
                svg.save_png(each, pathlib.Path(directory, f"{number}.png"))
            self.assertEqual(len(list(pathlib.Path(directory).iterdir())), 3)


class Declarations(unittest.TestCase):
    """Of each benchmark: what it declares is what it writes."""

    def each(self):
        for job in JOBS:
            room = ROOMS.get(job, job)
            declared = importlib.import_module(f"bench.{room}.section").SECTION
            rooms = (ROOT / "bench" / name for name in (room, "support"))
            sources = [path for directory in rooms for path in directory.iterdir()]
            text = "".join(path.read_text() for path in sources if path.suffix in (".cc", ".h"))
            yield job, declared, text, set(re.findall(r"{([a-z]\w*)", repr(declared)))

    def test_facts_and_metrics_are_those_that_the_benchmark_writes(self):
        for job, declared, sources, names in self.each():
            metrics = {each.metric for each in (*declared.values.values(), *declared.targets)}
            shown = [*declared.tables, *declared.plots]
            for each in shown:
                if isinstance(each, Table) and each.across == "metric":
                    metrics |= set(each.columns or ())
                metrics |= {vars(each).get("metric"), vars(each).get("y")} - {None}
            for metric in metrics:
                self.assertTrue(f'{metric.rpartition(": ")[2]}"' in sources, f"{job}: {metric}")
            fields = {vars(each).get("each") for each in shown}
            for fact in names - set(declared.values) - fields:
                self.assertTrue(f'"{fact}"' in sources, f"{job}: {fact}")

    def test_without_results_all_is_missing_and_nothing_is_met(self):
        for job, declared, _, names in self.each():
            shown = ShownSection(job, declared, {name: 0 for name in names}, [])
            self.assertTrue(all(table.caption == "Formulas" for table in shown.tables))
            self.assertIsNone(shown.highlight)
            self.assertTrue(all(each.is_met is None for each in shown.verdicts))


if __name__ == "__main__":
    unittest.main()
