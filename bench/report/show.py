"""What is shown of a benchmark: its declaration (declare.py), filled in with its rows."""

import itertools
import re
from dataclasses import dataclass, field

from bench.report import declare
from bench.report.rows import MISSING, NOISE, ONE_TURN, WRITTEN, ReportError, Row
from bench.report.rows import figure, heading, in_order, matches, only, select, with_unit

SENTENCE = 40  # characters
# Facts that all benchmarks may have.
MACHINE = {"rocksdb": "RocksDB {}.", "kernel": "blocksieve's kernel: {}.", "seconds": "{:.0f} s."}


@dataclass(frozen=True)
class Cell:
    value: str
    spread: str = ""
    remark: str = ""
    tone: str = ""  # of a verdict: "met", "missed" or "muted"

    def __str__(self):
        spread = f" ({self.spread})" if self.spread else ""
        return self.value + spread + (f", {self.remark}" if self.remark else "")


@dataclass(frozen=True)
class ShownTable:
    caption: str
    headers: list  # of texts, the first of the rows' names
    rows: list  # of lists, of a text and of Cells
    note: str = ""

    @property
    def has_sentences(self):
        return any(len(cell.value) > SENTENCE for row in self.rows for cell in row[1:])

    @property
    def header_groups(self):
        """[(what they have in common, headings)]: what two in a row have before a colon."""
        groups = []
        prefixes = itertools.groupby(self.headers, key=lambda each: each.rpartition(": ")[0])
        for common, run in prefixes:
            run = list(run)
            if common and len(run) > 1:
                groups.append((common, [heading.rpartition(": ")[2] for heading in run]))
            else:
                groups += [("", [heading]) for heading in run]
        return groups


@dataclass(frozen=True)
class Verdict:
    what: str
    limit: str
    measured: str
    is_met: bool  # None: not measured
    remark: str

    @property
    def cell(self):
        text, tone = {
            None: ("not measured", "muted"),
            True: ("met", "met"),
            False: ("not met", "missed"),
        }[self.is_met]
        return Cell(text, "", self.remark, tone)


@dataclass(frozen=True)
class Shown:
    """A figure in a template; see declare.py."""

    row: object
    section: object

    def __format__(self, spec):
        if self.row is None:
            return MISSING
        if spec == "gain" and self.row.value <= 1:
            return "none"
        digits = self.section.digits(self.row)
        text = with_unit(self.row.figure(digits), self.row.unit)
        if self.row.unit == "x" and self.row.doubt(1):
            return f"1×, {NOISE}" if self.row.doubt(1) == NOISE else f"{text}, {ONE_TURN}"
        spread = self.row.spread_text(digits) if not spec else ""
        return text + (f" ({spread})" if spread else "")

    def __getitem__(self, parameter):
        return self.section.label(parameter, self.row.fields[parameter]) if self.row else MISSING


@dataclass
class ShownSection:
    """`rows` and `facts` are what its benchmark wrote."""

    name: str  # of the anchor, and of bench/run's subcommand
    declared: declare.Section
    facts: dict
    rows: list
    suffix: str = ""  # of the title, if there are results of two
    texts: dict = field(init=False)

    def __post_init__(self):
        values = {name: self.value(each) for name, each in self.declared.values.items()}
        self.texts = {**self.facts, **values}

    def text(self, template, **more):
        try:
            return template.format_map({**self.texts, **more})
        except KeyError as error:
            message = f"{self.name}: there is neither a fact nor a value {error} for “{template}”"
            raise ReportError(message) from None

    def value(self, value):
        rows = select(self.rows, value.where, metric=value.metric)
        rows = [row for row in rows if row.value is not None]
        if not rows or not value.pick:
            return Shown(only(rows, value), self)
        by_value = sorted(rows, key=lambda row: row.value)
        total = Row(rows[0].fields, rows[0].unit, sum(row.value for row in rows), None, 0)
        picks = {"first": rows[0], "last": rows[-1], "min": by_value[0], "max": by_value[-1]}
        return Shown({**picks, "sum": total}[value.pick], self)

    def digits(self, row):
        return self.declared.digits.get(row.fields["metric"], 3)

    def label(self, parameter, value):
        form = self.declared.labels.get(parameter)
        if isinstance(form, dict):
            return form.get(value, str(value))
        if form and "{" in form:
            return form.format(value)
        if isinstance(value, str):
            return value
        return limit_text(value, form)

    def labels(self, fields, names):
        texts = [self.label(name, fields[name]) for name in names if name in fields]
        return ", ".join(text for text in texts if text)

    def each(self, declared):
        """[(more of `where`, texts for its title)]: once for each value of the field `each`."""
        if not declared.each:
            return [({}, {})]
        each = declared.each
        rows = [row for row in select(self.rows, declared.where) if each in row.fields]
        found = in_order(row.fields[each] for row in rows)
        return [({each: value}, {each: self.label(each, value)}) for value in found]

    @property
    def title(self):
        return self.text(self.declared.title) + self.suffix

    @property
    def lead(self):
        return self.text(self.declared.lead)

    @property
    def headline(self):
        return self.text(self.declared.headline)

    @property
    def sentences(self):
        return [self.text(fact) for fact in self.declared.facts]

    @property
    def machine(self):
        """What it ran on, of the facts that all benchmarks may have."""
        known = [name for name in MACHINE if name in self.facts]
        return " ".join(MACHINE[name].format(self.facts[name]) for name in known)

    @property
    def highlight(self):
        """(figure, what, against), or None if there is no such figure."""
        declared = self.declared.highlight
        names = re.findall(r"{(\w+)", declared.figure) if declared else ()
        if declared is None or any(self.texts[name].row is None for name in names):
            return None
        return tuple(self.text(each) for each in (declared.figure, declared.what, declared.against))

    @property
    def has_spreads(self):
        return any(row.spread for row in self.rows)

    @property
    def tables(self):
        found = [table for each in self.declared.tables for table in self.shown(each)]
        return [table for table in found if table.rows]

    def shown(self, declared):
        if isinstance(declared, declare.Words):
            texts = [[self.text(text) for text in row] for row in declared.rows]
            rows = [[name, *map(Cell, cells)] for name, *cells in texts]
            return [ShownTable(self.text(declared.caption), list(declared.headers), rows)]
        return [self.pivoted(declared, where, texts) for where, texts in self.each(declared)]

    def pivoted(self, declared, where, texts):
        across = declared.across
        rows = [row for row in select(self.rows, declared.where, **where) if across in row.fields]
        columns = declared.columns or in_order(row.fields[across] for row in rows)
        if not isinstance(columns, dict):
            columns = {column: self.label(across, column) for column in columns}
        rows = [row for row in rows if row.fields[across] in columns]
        places = {}  # name of the row -> column -> rows
        for row in rows:
            name = self.labels(row.fields, declared.rows)
            places.setdefault(name, {}).setdefault(row.fields[across], []).append(row)
        units = {row.fields["metric"]: row.unit for row in rows}
        headings = [heading(text, units.get(column, "")) for column, text in columns.items()]
        lines = [
            [name, *(self.cell(only(found.get(each, []), declared.caption)) for each in columns)]
            for name, found in places.items()
        ]
        caption = self.text(declared.caption, **texts)
        note = self.text(declared.note, **texts)
        return ShownTable(caption, [declared.head, *headings], lines, note)

    def cell(self, row):
        if row is None or row.value is None:
            return Cell(MISSING)
        digits = self.digits(row)
        doubt = row.doubt(1 if row.unit == "x" else None)
        return Cell(row.figure(digits), row.spread_text(digits), doubt)

    @property
    def verdicts(self):
        applying = [target for target in self.declared.targets if matches(self.facts, target.when)]
        return [verdict for target in applying for verdict in self.judged(target)]

    def judged(self, target):
        limits = target.at_least if target.at_most is None else target.at_most
        if isinstance(limits, dict):
            for values, limit in limits.items():
                values = values if isinstance(values, tuple) else (values,)
                values = dict(zip(target.by, values, strict=True))
                rows = select(self.rows, target.where, metric=target.metric, **values)
                yield self.verdict(target, limit, only(rows, target.what), values)
        else:
            for row in select(self.rows, target.where, metric=target.metric):
                yield self.verdict(target, limits, row, row.fields)

    def verdict(self, target, limit, row, fields):
        what = ": ".join(filter(None, (self.text(target.what), self.labels(fields, target.by))))
        sign = "≥" if target.at_most is None else "≤"
        if row is None or row.value is None:
            return Verdict(what, f"{sign} {limit_text(limit, '')}", MISSING, None, "")
        wanted = f"{sign} {with_unit(limit_text(limit, row.unit), row.unit)}"
        is_met = row.value >= limit if target.at_most is None else row.value <= limit
        digits = max(self.digits(row), 3)
        measured = with_unit(row.figure(digits), row.unit)
        spread = row.spread_text(digits)
        measured += f" ({spread})" if spread else ""
        return Verdict(what, wanted, measured, is_met, row.doubt(limit))


def limit_text(value, unit):
    """Of a figure that was chosen, not measured: exact."""
    if unit == "share":
        return f"{100 * value:.3g} %"
    return figure(value, unit) if unit in WRITTEN else f"{value:,.10g}"


def verdict_counts(verdicts):
    """In words."""
    judged = [each for each in verdicts if each.is_met is not None]
    text = f"{sum(each.is_met for each in judged)} of {len(judged)} met"
    others = len(verdicts) - len(judged)
    return text + (f", {others} not measured" if others else "")
