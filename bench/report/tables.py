# SPDX-License-Identifier: Apache-2.0
"""The results of benchmarks (bench/support/results.h) as tables of texts."""

import json
import math
import textwrap
from dataclasses import dataclass, replace

HEADING_CHARACTERS = 14
MISSING, NOISE, ONE_TURN = "–", "within the noise", "single run"
SPREAD_MEANING = (
    "Times are medians, followed by the interquartile range of the runs or, for three or fewer "
    "runs, minimum and maximum. Within the noise: that range includes 1."
)

# Units that belong to a figure, not to its heading: sizes and names, the largest first.
SCALES = {
    "bytes": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "share": ((0.01, "%"),),
    "amount": ((1e6, "M"), (1e3, "k"), (1, "")),
}


class ReportError(Exception):
    """An error message for the user, in one line."""


def significant(value, digits):
    """`value` rounded to this many digits, never in exponent notation."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def figure(value, unit):
    if value is None:
        return MISSING
    if unit == "count":
        return f"{value:,.0f}"
    if unit not in SCALES:
        return significant(value, 4 if unit == "bits" else 3) + ("×" if unit == "x" else "")
    sizes = SCALES[unit]
    size, name = next((each for each in sizes if abs(value) >= each[0]), sizes[-1])
    return f"{significant(value / size, 3)} {name}"


@dataclass(frozen=True)
class Cell:
    text: str = MISSING
    spread: str = ""
    remark: str = ""
    tone: str = ""  # a verdict: "met" or "missed"

    def __str__(self):
        spread = f" ({self.spread})" if self.spread else ""
        return self.text + spread + (f", {self.remark}" if self.remark else "")


def cell(raw):
    value, unit, spread = raw["value"], raw["unit"], raw.get("spread", ())
    is_near = unit == "x" and spread and spread[0] <= 1 <= spread[1]
    remark = ONE_TURN if raw.get("turns") == 1 else NOISE if is_near else ""
    return Cell(figure(value, unit), "–".join(figure(end, unit) for end in spread), remark)


@dataclass
class Table:
    caption: str
    headers: list  # the first is for the names of lines
    rows: list  # of lists: a name and Cells
    note: str = ""


def table(raw):
    """A line for each name, a column for each name of a figure."""
    columns = {}  # from a name to its heading
    for each in (each for line in raw["lines"] for each in line["cells"]):
        name, unit = each["column"], each["unit"]
        is_said = unit in (name + raw["caption"]).lower()
        in_heading = not is_said and unit not in (*SCALES, "count", "x")
        columns.setdefault(name, f"{name}, {unit}" if in_heading else name)
    rows = []
    for line in raw["lines"]:
        cells = {each["column"]: cell(each) for each in line["cells"]}
        if len(cells) != len(line["cells"]):
            raise ReportError(f"two figures for one place of {raw['caption']}: {line['name']}")
        rows.append([line["name"], *(cells.get(name, Cell()) for name in columns)])
    return Table(raw["caption"], [raw["head"], *columns.values()], rows, raw["note"])


def aligned(table):
    """The first column is left-aligned, the others right-aligned."""
    headings = [textwrap.wrap(heading, HEADING_CHARACTERS, break_long_words=False)
                for heading in table.headers]
    height = max(map(len, headings))
    lines = [*zip(*([""] * (height - len(heading)) + heading for heading in headings))]
    lines += [[str(cell) for cell in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    texts = ["  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()
             for first, *others in lines]
    texts.insert(height, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(texts)


def targets(raw_tables):
    """A table of verdicts, missed targets first."""
    rows = []
    for raw in raw_tables:
        for name, each in ((line["name"], each) for line in raw["lines"] for each in line["cells"]):
            value, most, least = (each.get(key) for key in ("value", "at_most", "at_least"))
            limit = least if most is None else most
            if value is None or limit is None:
                continue
            verdict = "met" if (value >= limit if most is None else value <= limit) else "missed"
            wanted = f"{'≥' if most is None else '≤'} {figure(limit, each['unit'])}"
            rows.append([f"{raw['caption']}: {name}: {each['column']}", Cell(verdict, tone=verdict),
                         replace(cell(each), remark=""), Cell(wanted)])
    rows.sort(key=lambda row: row[1].text == "met")
    met = sum(row[1].text == "met" for row in rows)
    headers = ["Target", "Verdict", "Measured", "Limit"]
    return Table(f"Targets: {met} of {len(rows)} met", headers, rows)


def merged(runs):
    """The tables of runs, of (label, tables): lines of one name are next to each other."""
    for raw in runs[0][1]:
        lines = {}
        for label, tables in runs:
            for line in (line for each in tables if each["caption"] == raw["caption"]
                         for line in each["lines"]):
                lines.setdefault(line["name"], []).append({**line, "name": line["name"] + label})
        yield {**raw, "lines": [line for same in lines.values() for line in same]}


class Section:
    """A benchmark: one run of it, and others with other RocksDBs, whose figures are contestants of
    the same tables. Attributes are those of the first run; `directories` has the others by label."""

    def __init__(self, job, directory, others=None):
        self.job = job
        self.path = directory / f"{job}.json"
        runs = [("", self.read(self.path))]
        for label, other in (others or {}).items():
            if (other / f"{job}.json").exists():
                runs.append((f" | {label}", self.read(other / f"{job}.json")))
        first = runs[0][1]
        self.machine, self.title, self.seconds = first["machine"], first["title"], first["seconds"]
        self.paragraphs = first["lead"].splitlines()
        self.headlines = [run["headline"] + label for label, run in runs if run["headline"]]
        raw = list(merged([(label, run["tables"]) for label, run in runs]))
        verdicts = targets(raw if first.get("has_limits", True) else [])
        self.num_missed = sum(row[1].text == "missed" for row in verdicts.rows)
        self.raw = first["tables"]
        self.tables = [each for each in (*map(table, raw), verdicts) if each.rows]

    def read(self, path):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            for key in ("machine", "title", "lead", "headline", "seconds", "tables"):
                document[key]  # else KeyError
            return document
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"cannot read {path}, which bench/run {self.job} writes: {error!r}"
            raise ReportError(message) from error
