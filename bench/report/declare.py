"""How a benchmark says what to show of its results.

A benchmark in C++ writes rows (bench/support/results.h) into <job>.json, and has beside it a file
section.py with a constant SECTION: data, not a program. This is all that a declaration can say:

* A row is found by its fields: "name", "metric" and its parameters. `where` is a dictionary from a
  field to the value that it must have, or to a tuple of such values.
* Texts are templates. "{cache}" is a fact of the benchmark; "{reads}" a figure that the section has
  in `values`; "{reads[keys]}" a parameter of its row.
* A table, a plot or a target that has no rows is left out: a missing row is "–", never 0.
* Units say how figures are written: "bytes", "s", "share" (as per cent), "count", "x" (a ratio,
  which is compared with 1); all others, such as "ns", follow the figure. Significant digits are
  three, or as many as `digits` says of a metric.
* A parameter is written as `labels` says: a template such as "{:,} keys", or a dictionary.

What must be computed, such as ratios, is computed in C++, where the turns are.
"""

from dataclasses import dataclass, field

Where = dict  # from a field to a value or a tuple of values


@dataclass(frozen=True)
class Value:
    """A figure for texts: of the last row that is found, such as that of the most keys."""

    metric: str
    where: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """A limit for each row that is found; those that `where` leaves out have none."""

    metric: str
    where: Where = field(default_factory=dict)
    by: tuple = ()  # fields that tell the rows apart
    at_most: float = None
    at_least: float = None
    when: Where = field(default_factory=dict)  # of facts: otherwise it does not apply


@dataclass(frozen=True)
class Table:
    caption: str
    rows: tuple  # fields that name a row
    columns: object = None  # values of `across`, or a dictionary to headings; all, if None
    where: Where = field(default_factory=dict)
    across: str = "metric"  # the field whose values are columns
    head: str = ""  # the heading of the names of rows
    each: str = ""  # a table for each value of this field, which the caption may name
    note: str = ""


@dataclass(frozen=True)
class Plot:
    """A line of `y` over `x` for each of `series`. Without `x`, a dot for each, on lines of their
    own with a heading for each of `group`: what bars show, and true on logarithmic scales, too."""

    title: str
    see: str  # one sentence of what to see
    y: str  # a metric
    x: str = ""  # a parameter or a metric
    where: Where = field(default_factory=dict)
    series: tuple = ("name",)
    group: tuple = ()
    each: str = ""  # a plot for each value of this field, which the title may name
    log: str = ""  # "x", "y" or "xy"; figures of dots are along x
    styles: dict = field(default_factory=dict)  # from a value of a field to such as "blue o--"


@dataclass(frozen=True)
class Section:
    title: str
    lead: str  # what was measured and how to read it, a line for each paragraph
    result: tuple = ()  # templates: the main figure, what it measures, and its inputs
    values: dict = field(default_factory=dict)  # of Values, by the names that texts have for them
    targets: tuple = ()
    tables: tuple = ()
    plots: tuple = ()
    digits: dict = field(default_factory=dict)  # by metric
    labels: dict = field(default_factory=dict)  # by parameter
