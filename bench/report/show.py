"""The presentation of a benchmark: its declaration (declare.py), filled in with its rows."""

import collections
import functools
from dataclasses import dataclass

from bench.report import declare
from bench.report.rows import MISSING, NOISE, ReportError
from bench.report.rows import figure, heading, in_order, matches, select, with_unit


@dataclass(frozen=True)
class Cell:
    value: str
    spread: str = ""
    remark: str = ""
    tone: str = ""  # a verdict: "met" or "missed"

    def __str__(self):
        spread = f" ({self.spread})" if self.spread else ""
        return self.value + spread + (f", {self.remark}" if self.remark else "")


# `rows` are lists of a name and Cells; the first of `headers` is for the names.
ShownTable = collections.namedtuple("ShownTable", "caption headers rows note")


@dataclass(frozen=True)
class Shown:
    """A figure in a template; see declare.py."""

    row: object
    section: object

    def __str__(self):
        if self.row is None:
            return MISSING
        doubt = self.row.doubt() if self.row.unit == "x" else ""
        text = "1×" if doubt == NOISE else self.section.measured(self.row)
        return f"{text} ({doubt})" if doubt else text

    def __getitem__(self, parameter):
        return self.section.label(parameter, self.row.fields[parameter]) if self.row else MISSING


@dataclass
class ShownSection:
    """A section. `rows` and `facts` are from the benchmark."""

    name: str  # the anchor and the subcommand of bench/run
    declared: declare.Section
    facts: dict
    rows: list
    suffix: str = ""  # of the title, if there are results with two RocksDBs

    @functools.cached_property
    def texts(self):
        values = {name: self.value(each) for name, each in self.declared.values.items()}
        return {**self.facts, **values}

    def value(self, value):
        rows = select(self.rows, value.where, metric=value.metric)
        return Shown(next((row for row in rows[::-1] if row.value is not None), None), self)

    def text(self, template, **more):
        try:
            return template.format_map({**self.texts, **more})
        except KeyError as error:
            message = f"{self.name}: there is neither a fact nor a value {error} for “{template}”"
            raise ReportError(message) from None

    def digits(self, row):
        return self.declared.digits.get(row.fields["metric"], 3)

    def measured(self, row):
        return with_unit(row.figure(self.digits(row)), row.unit)

    def label(self, parameter, value):
        form = self.declared.labels.get(parameter, {})
        if not isinstance(form, dict):
            return form.format(value)
        return form.get(value, value if isinstance(value, str) else f"{value:,.10g}")

    def labels(self, fields, names):
        texts = [self.label(name, fields[name]) for name in names if name in fields]
        return ", ".join(text for text in texts if text)

    def each(self, declared):
        """[(rows, texts for the title)], for each value of the field `each`."""
        rows = select(self.rows, declared.where)
        if not declared.each:
            return [(rows, {})]
        name = declared.each
        values = in_order(row.fields[name] for row in rows if name in row.fields)
        return [(select(rows, {name: each}), {name: self.label(name, each)}) for each in values]

    @property
    def title(self):
        return self.declared.title + self.suffix

    @property
    def paragraphs(self):
        return self.text(self.declared.lead).split("\n")

    @property
    def result(self):
        """(main figure, its meaning, its inputs), or None if it was not measured."""
        texts = tuple(self.text(each) for each in self.declared.result)
        return texts if texts and MISSING not in texts[0] else None

    @property
    def tables(self):
        tables = [
            self.pivoted(declared, rows, texts)
            for declared in self.declared.tables
            for rows, texts in self.each(declared)
        ]
        verdicts = self.verdicts
        met = sum(verdict.tone == "met" for _, verdict, *_ in verdicts)
        headers = ["Target", "Verdict", "Measured", "Limit"]
        tables.append(ShownTable(f"Targets: {met} of {len(verdicts)} met", headers, verdicts, ""))
        return [table for table in tables if table.rows]

    def pivoted(self, declared, rows, texts):
        across = declared.across
        rows = [row for row in rows if across in row.fields]
        columns = declared.columns or in_order(row.fields[across] for row in rows)
        units = {row.fields["metric"]: row.unit for row in rows}
        headings = [heading(self.label(across, each), units.get(each, "")) for each in columns]
        caption, note = (self.text(each, **texts) for each in (declared.caption, declared.note))
        lines = {}  # by name: the name, and a cell for each column
        for row in rows:
            if row.fields[across] in columns:
                name = self.labels(row.fields, declared.rows)
                line = lines.setdefault(name, [name, *[Cell(MISSING)] * len(columns)])
                place = 1 + columns.index(row.fields[across])
                if line[place] != Cell(MISSING):
                    raise ReportError(f"two rows for one place of {caption}, as {row.fields}")
                digits = self.digits(row)
                line[place] = Cell(row.figure(digits), row.spread_text(digits), row.doubt())
        return ShownTable(caption, [declared.head, *headings], list(lines.values()), note)

    @property
    def verdicts(self):
        """Rows of a table, missed targets first."""
        verdicts = [
            self.verdict(target, row)
            for target in self.declared.targets
            if matches(self.facts, target.when)
            for row in select(self.rows, target.where, metric=target.metric)
            if row.value is not None
        ]
        return sorted(verdicts, key=lambda verdict: verdict[1].tone == "met")

    def verdict(self, target, row):
        is_upper = target.at_most is not None
        limit = target.at_most if is_upper else target.at_least
        is_met = row.value <= limit if is_upper else row.value >= limit
        tone = "met" if is_met else "missed"
        what = ": ".join(filter(None, (target.metric, self.labels(row.fields, target.by))))
        wanted = f"{'≤' if is_upper else '≥'} {with_unit(figure(limit, row.unit), row.unit)}"
        measured = Cell(self.measured(row), row.spread_text(self.digits(row)))
        return [what, Cell(tone, "", row.doubt(limit), tone), measured, Cell(wanted)]
