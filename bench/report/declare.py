"""How a benchmark declares the presentation of its results.

A benchmark in C++ writes rows (bench/support/results.h) to <job>.json. The file section.py beside it
has a constant SECTION, which is data, not a program:

* A row is selected by its fields: "name", "metric" and its parameters. `where` is a dictionary from
  a field to its value, or to a tuple of values.
* Texts are templates. "{cache}" is a fact of the benchmark; "{reads}" a figure in the section's
  `values`; "{reads[keys]}" a parameter of its row.
* A table, plot or target without rows is omitted. A missing figure is "–", never 0.
* The unit determines the format of a figure: "bytes", "s", "share" (per cent), "count", "x" (a ratio,
  which is compared with 1); all others, such as "ns", follow the figure. Figures have three
  significant digits, or the number in `digits` for their metric.
* `labels` has the format of a parameter: a template such as "{:,} keys", or a dictionary.

Ratios and the like are computed in C++, which has the single turns.
"""

from dataclasses import dataclass, field

Where = dict  # from a field to a value or a tuple of values


@dataclass(frozen=True)
class Value:
    """A figure for texts: from the last selected row, such as the one with the most keys."""

    metric: str
    where: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """A limit for each selected row."""

    metric: str
    where: Where = field(default_factory=dict)
    by: tuple = ()  # fields that distinguish the rows
    at_most: float = None
    at_least: float = None
    when: Where = field(default_factory=dict)  # facts under which the target applies


@dataclass(frozen=True)
class Table:
    caption: str
    rows: tuple  # fields that name a row
    columns: tuple = ()  # values of `across`; empty: all
    where: Where = field(default_factory=dict)
    across: str = "metric"  # the field whose values are columns
    head: str = ""  # the heading of the names of rows
    each: str = ""  # a table for each value of this field; the caption may name it
    note: str = ""


@dataclass(frozen=True)
class Plot:
    """A line of `y` by `x` for each value of `series`. Without `x`, a dot for each, under a heading
    for each of `group`, as in a bar chart but correct on logarithmic scales, too."""

    title: str
    see: str  # one sentence that explains it
    y: str  # a metric
    x: str = ""  # a parameter
    where: Where = field(default_factory=dict)
    series: str = "name"
    group: tuple = ()
    each: str = ""  # a plot for each value of this field; the title may name it
    log: str = ""  # logarithmic axes: "x", "y" or "xy"; figures of dots are along x
    styles: dict = field(default_factory=dict)  # from a value of a field to "blue" or "blue s--"


@dataclass(frozen=True)
class Section:
    title: str
    lead: str  # what was measured and the terms of the tables, a line for each paragraph
    result: tuple = ()  # templates: the main figure, its meaning, and its inputs
    values: dict = field(default_factory=dict)  # from a name in texts to a Value
    targets: tuple = ()
    tables: tuple = ()
    plots: tuple = ()
    digits: dict = field(default_factory=dict)  # by metric
    labels: dict = field(default_factory=dict)  # by parameter
