"""Tests the renderer of results (bench/report): tables, texts, plots and the page, on small results
made here; and the declarations of all benchmarks."""

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
from bench.report.declare import Plot, Section, Table, Target, Value
from bench.report.rows import MISSING, NOISE, ReportError, Row, figure, read_results
from bench.report.show import ShownSection

try:
    from bench.report import page, plot
except ImportError:  # the first python3 of PATH need not be Debian's, which has the packages
    if sys.executable == "/usr/bin/python3":
        raise
    sys.exit(subprocess.run(["/usr/bin/python3", "-B", *sys.argv]).returncode)

JOBS = ("read_amp", "levels", "filters", "space", "skip", "ranges", "toylsm", "sieve", "scale")
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
        for value, unit, text in (
            (0, "ns", "0"), (0.012345, "ns", "0.0123"), (1234.4, "x", "1,234"),
            (12, "bytes", "12.0 B"), (3.4e6, "bytes", "3.40 MB"), (5e12, "bytes", "5.00 TB"),
            (2, "s", "2.00 s"), (4.5e-9, "s", "4.50 ns"), (0.1234, "share", "12.3 %"),
            (1234.4, "count", "1,234"), (None, "s", MISSING),
        ):
            self.assertEqual(figure(value, unit), text)

    def test_unreadable_results_give_a_one_line_error_that_names_the_job(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory)
            for text in (None, "{", "[]", '{"rows": [{}]}'):
                if text:
                    (path / "job.json").write_text(text)
                message = "cannot read .*job.json, which bench/run job writes"
                self.assertRaisesRegex(ReportError, message, read_results, path, "job")


class Tables(unittest.TestCase):
    def test_a_row_for_each_name_and_a_column_for_each_metric(self):
        rows = [row(name, metric, value, keys=1000) for name, metric, value in
                (("a", "size", 1), ("a", "time", 2), ("b", "size", 3), ("b", "time", 4))]
        self.assertEqual(cells(rows, Table("T", ("name", "keys"), ["time", "size"])),
                         [["a, 1,000", "2.00", "1.00"], ["b, 1,000", "4.00", "3.00"]])
        self.assertEqual(cells(rows, Table("T", ("metric",), across="name"), digits={"time": 1}),
                         [["size", "1.00", "3.00"], ["time", "2", "4"]])

    def test_missing_figures_are_shown_as_missing(self):
        rows = [row("a", "size", 1), row("b", "time", None), row("b", "size", 0)]
        self.assertEqual(cells(rows, Table("T", ("name",), ["time", "size"])),
                         [["a", MISSING, "1.00"], ["b", MISSING, "0"]])

    def test_two_rows_for_one_cell_are_an_error(self):
        with self.assertRaises(ReportError):
            cells([row("a", "size", keys, keys=keys) for keys in (1, 2)], Table("T", ("name",)))

    def test_ratios_within_the_noise_of_one_say_so(self):
        rows = [row("a", "r", 1.1, "x", 5, [0.9, 1.2]), row("b", "r", 2, "x", 5, [1.5, 3]),
                row("c", "r", 2, "x", 1)]
        texts = ["1.10 (0.900–1.20), within the noise", "2.00 (1.50–3.00)", "2.00, single run"]
        self.assertEqual([line[1] for line in cells(rows, Table("T", ("name",)))], texts)

    def test_a_table_for_each_value_of_a_field_with_its_label(self):
        rows = [row("a", "size", keys, keys=keys, kind="x") for keys in (10, 1000)]
        rows.append(row("b", "size", 3))
        tables = section(rows, tables=(Table("T of {keys}", ("name", "kind"), each="keys"),),
                         labels={"keys": "{:,} keys", "kind": {"x": "the x"}}).tables
        self.assertEqual([table.caption for table in tables], ["T of 10 keys", "T of 1,000 keys"])
        names = [[line[0] for line in table.rows] for table in tables]
        self.assertEqual(names, [["a, the x"], ["a, the x"]])


class Texts(unittest.TestCase):
    ROWS = [row("a", "size", 3, "bytes", keys=5), row("b", "size", 1, "bytes", keys=6),
            row("b", "time", 2, "ns", 3, [1, 4])]

    def paragraphs(self, template, **values):
        facts = {"input": "rows", "n": 1000}
        return section(self.ROWS, facts, lead=template, values=values).paragraphs

    def test_facts_and_values(self):
        values = {"t": Value("time"), "a": Value("size", {"name": "a"}), "last": Value("size"),
                  "no": Value("no")}
        self.assertEqual(self.paragraphs("{n:,} {input}, {t}\n{a} {a[keys]} {last}", **values),
                         ["1,000 rows, 2.00 ns", "3.00 B 5 1.00 B"])
        self.assertEqual(self.paragraphs("{no} {no[keys]}", **values), [f"{MISSING} {MISSING}"])
        self.assertRaisesRegex(ReportError, "neither a fact nor a value", self.paragraphs, "{x}")

    def test_no_gain_is_claimed_where_there_is_none(self):
        for ratio, text in (((2, "x", 5, [1.5, 3]), "2.00×"), ((2, "x", 1), "2.00× (single run)"),
                            ((1.1, "x", 5, [0.9, 1.2]), f"1× ({NOISE})")):
            shown = section([row("a", "r", *ratio)], lead="{r}", values={"r": Value("r")})
            self.assertEqual(shown.paragraphs, [text])

    def test_a_result_needs_its_figure(self):
        declared = {"result": ("{r}", "what", "{s}"), "values": {"r": Value("r"), "s": Value("s")}}
        self.assertIsNone(section([row("a", "s", 1)], **declared).result)
        shown = section([row("a", "r", 1)], **declared).result
        self.assertEqual(shown, ("1.00 ns", "what", MISSING))

    def test_printing_needs_only_python(self):
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
            done = subprocess.run([*command, "scale"], **kept)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))


class Targets(unittest.TestCase):
    def verdicts(self, rows, *targets, **facts):
        return [tuple(map(str, each)) for each in section(rows, facts, targets=targets).verdicts]

    def test_missed_targets_come_first_and_verdicts_mention_noise(self):
        rows = [row("a", "time", 2, "ns", 5, [1, 4]), row("b", "time", 5, "ns"),
                row("c", "time", None, "ns")]
        self.assertEqual(self.verdicts(rows, Target("time", by=("name",), at_most=3)),
                         [("time: b", "missed", "5.00 ns", "≤ 3.00 ns"),
                          ("time: a", f"met, {NOISE}", "2.00 ns (1.00–4.00)", "≤ 3.00 ns")])
        other_way = self.verdicts(rows, Target("time", {"name": "b"}, at_least=3))
        self.assertEqual(other_way, [("time", "met", "5.00 ns", "≥ 3.00 ns")])

    def test_a_target_for_other_facts_does_not_apply(self):
        target = Target("time", at_most=1, when={"stock": "native"})
        self.assertEqual(self.verdicts([row("a", "time", 1)], target, stock="portable"), [])
        self.assertEqual(len(self.verdicts([row("a", "time", 1)], target, stock="native")), 1)


def full_section(name="job"):
    rows = [row(name, metric, value, "ns", 5, [0.9 * value, 1.3 * value], keys=keys)
            for name in (HOSTILE, "stock Bloom") for keys in (10, 1000)
            for metric, value in (("get: hit", 2), ("get: miss", 3))]
    rows.append(row("new", "get: hit", None, keys=10))
    shown = section(
        rows, {**MACHINE, "input": HOSTILE, "seconds": 12.3},
        lead="Of {input}.", result=("{hit}", "to hit", "{input}"),
        values={"hit": Value("get: hit", {"name": "stock Bloom"})},
        targets=(Target("get: hit", by=("name", "keys"), at_most=1),),
        tables=(Table("Times", ("name", "keys")),),
        plots=(Plot("Times over keys", "What to see.", "get: hit", "keys", log="x"),
               Plot("Hits of {keys}", "What to see.", "get: hit", each="keys")))
    shown.name = name
    return shown


class Pages(unittest.TestCase):
    def test_the_page_has_every_section_and_no_input_becomes_markup(self):
        text = page.render([full_section("sieve"), full_section("scale")], f"bench/run {HOSTILE}")
        self.assertEqual(text.count("<img"), 6)
        for unwanted in ("<script", "<b>CPU", "url("):
            self.assertNotIn(unwanted, text)
        self.assertIn("&lt;b&gt;CPU, 2 cores", text)
        self.assertIn("&lt;script&gt;", text)

    def test_a_plot_has_a_line_for_each_series_without_missing_figures(self):
        from matplotlib import pyplot

        rows = [row(name, "time", None if keys == 9 else 10 * keys, keys=keys)
                for name in ("a", "b") for keys in (5, 9, 3)]
        (shown,) = plot.plots(section(rows, plots=(Plot("", "", "time", "keys"),)))
        figure, axes = pyplot.subplots()
        self.addCleanup(pyplot.close, figure)
        shown.draw(axes)
        places = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
        self.assertEqual(places, [([3, 5], [30, 50])] * 2)


class Declarations(unittest.TestCase):
    """Each benchmark declares the rows that it writes."""

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
                if isinstance(each, Plot):
                    metrics.add(each.y)
            for metric in metrics:
                self.assertTrue(f'{metric.rpartition(": ")[2]}"' in sources, f"{job}: {metric}")
            fields = {each.each for each in shown}
            for fact in names - set(declared.values) - fields:
                self.assertTrue(f'"{fact}"' in sources, f"{job}: {fact}")

    def test_without_results_nothing_is_shown(self):
        for job, declared, _, names in self.each():
            shown = ShownSection(job, declared, {name: 0 for name in names}, [])
            self.assertEqual((shown.tables, shown.result), ([], None))
            self.assertEqual(list(plot.plots(shown)), [])


if __name__ == "__main__":
    unittest.main()
