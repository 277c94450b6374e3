"""The rows of a benchmark, and the format of their figures."""

import json
import math
from dataclasses import dataclass

MISSING = "–"
NOISE, ONE_TURN = "within the noise", "single run"
SPREAD_MEANING = (
    "Times are medians, followed by the interquartile range of the runs or, for three or fewer "
    "runs, minimum and maximum. Within the noise: that range includes the compared value."
)

# Units that belong to a figure, not to its heading: sizes and names, the largest first.
SCALES = {
    "bytes": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "share": ((0.01, "%"),),
}


class ReportError(Exception):
    """An error message for the user, in one line."""


def significant(value, digits=3):
    """`value` rounded to this many digits, never in exponent notation."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def figure(value, unit, digits=3):
    if value is None:
        return MISSING
    if unit == "count":
        return f"{value:,.0f}"
    if unit not in SCALES:
        return significant(value, digits)
    sizes = SCALES[unit]
    size, name = next((each for each in sizes if abs(value) >= each[0]), sizes[-1])
    return f"{significant(value / size, digits)} {name}"


def in_heading(unit):
    return "" if unit in SCALES or unit in ("count", "x") else unit


def with_unit(text, unit):
    return f"{text}×" if unit == "x" else f"{text} {in_heading(unit)}".rstrip()


def heading(name, unit):
    """The name with its unit, unless the name has it."""
    unit = in_heading(unit)
    return f"{name}, {unit}" if unit and unit not in name else name


@dataclass(frozen=True)
class Row:
    fields: dict  # name, metric and parameters
    unit: str
    value: float  # None: missing
    spread: tuple  # low and high; empty without a spread
    turns: int  # 0: a count, so without noise

    @classmethod
    def read(cls, raw):
        fields = {"name": raw["name"], **raw["parameters"], "metric": raw["metric"]}
        spread = tuple(raw.get("spread", ()))
        return cls(fields, raw["unit"], raw["value"], spread, raw.get("turns", 0))

    def figure(self, digits=3):
        return figure(self.value, self.unit, digits)

    def spread_text(self, digits=3):
        return "–".join(figure(end, self.unit, digits) for end in self.spread)

    def doubt(self, same=None):
        """Why the figure may not differ from `same`, for a ratio from 1, or an empty text."""
        if self.turns == 1:
            return ONE_TURN
        same = 1 if same is None and self.unit == "x" else same
        is_close = same is not None and self.spread and self.spread[0] <= same <= self.spread[1]
        return NOISE if is_close else ""


def matches(fields, where):
    def is_meant(value, wanted):
        return value in wanted if isinstance(wanted, tuple) else value == wanted

    return all(name in fields and is_meant(fields[name], wanted) for name, wanted in where.items())


def select(rows, where, **more):
    return [row for row in rows if matches(row.fields, where) and matches(row.fields, more)]


def in_order(values):
    """Distinct values, in their order."""
    return list(dict.fromkeys(values))


def read_results(directory, job):
    """(facts, rows) of a benchmark. Facts include the machine and the path of the file."""
    path = directory / f"{job}.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        facts = {**document["machine"], **document["facts"], "path": path}
        return facts, [Row.read(raw) for raw in document["rows"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"cannot read {path}, which bench/run {job} writes: {error!r}"
        raise ReportError(message) from error
