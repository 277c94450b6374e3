"""How a benchmark says what to show of its results.

A benchmark in C++ writes rows (bench/support/results.h) into <job>.json, and has beside it a file
section.py with a constant SECTION: data, not a program. This is all that a declaration can say:

* A row is found by its fields: "name", "metric" and its parameters. `where` is a dictionary from a
  field to the value that it must have, or to a tuple of such values.
* Texts are templates. "{cache}" is a fact of the benchmark; "{reads}" a figure that the section has
  in `values`, with its unit and spread; "{reads:short}" the same without the spread; "{reads[keys]}"
  a parameter of its row.
* A table, a plot or a target that has no rows is shown without them: a missing row is "–", never 0.
* Units say how figures are written: "bytes", "s", "share" (as per cent), "count", "x" (a ratio,
  which is compared with 1); all others, such as "ns", follow the figure. Significant digits are
  three, or as many as `digits` says of a metric.
* A parameter is written as `labels` says: a unit, a template such as "{:,} keys", or a dictionary.

What must be computed, such as ratios, is computed in C++, where the turns are.
"""

from dataclasses import dataclass, field

Where = dict  # from a field to a value or a tuple of values


@dataclass(frozen=True)
class Value:
    """A figure for texts: of the only row, or of the one that `pick` says."""

    metric: str
    where: Where = field(default_factory=dict)
    pick: str = ""  # "first", "last", "min", "max", or "sum" of all


@dataclass(frozen=True)
class Highlight:
    """The figure of a benchmark that one would tell a colleague. All three are templates; without
    the value that `figure` names there is none."""

    figure: str
    what: str
    against: str  # the figures that it compares


@dataclass(frozen=True)
class Target:
    """One for each row that is found; if the limit is a dictionary, one for each of its keys, which
    are values of `by`, or tuples of them."""

    what: str
    metric: str
    where: Where = field(default_factory=dict)
    by: tuple = ()  # fields that tell the rows apart
    at_most: object = None
    at_least: object = None
    when: Where = field(default_factory=dict)  # of facts: otherwise it does not apply


@dataclass(frozen=True)
class Table:
    caption: str
    rows: tuple  # fields that name a row
    columns: object = None  # values of `across`, or a dictionary to headings; all, if None
    where: Where = field(default_factory=dict)
    across: str = "metric"  # the field whose values are columns; "a: b", "a: c" share a heading "a"
    head: str = ""  # the heading of the names of rows
    each: str = ""  # a table for each value of this field, which the caption may name
    note: str = ""


@dataclass(frozen=True)
class Words:
    """A table of texts, each a template."""

    caption: str
    headers: tuple
    rows: tuple


@dataclass(frozen=True)
class Lines:
    """A line for each of `series`. `x` and `y` are parameters or metrics."""

    title: str
    see: str  # one sentence of what to see
    x: str
    y: str
    where: Where = field(default_factory=dict)
    series: tuple = ("name",)
    each: str = ""  # a plot for each value of this field, which the title may name
    log: str = ""  # "x", "y" or "xy"
    x_label: str = ""  # what x is; "" is its name
    y_label: str = ""
    styles: dict = field(default_factory=dict)  # from a value of a series to such as "blue o--"


@dataclass(frozen=True)
class Dots:
    """A dot on a line of its own for each of `series`, under a heading for each of `group`: what
    bars show, and what is true on logarithmic scales, too."""

    title: str
    see: str
    metric: str
    where: Where = field(default_factory=dict)
    series: tuple = ("name",)
    group: tuple = ()
    each: str = ""
    log: str = ""  # "x" or ""
    x_label: str = ""
    styles: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    title: str
    lead: str  # what was measured, and how to read it
    headline: str = ""  # the result in a sentence
    highlight: Highlight = None
    facts: tuple = ()  # of sentences: input and circumstances
    values: dict = field(default_factory=dict)  # of Values, by the names that texts have for them
    targets: tuple = ()
    tables: tuple = ()  # of Tables and Words
    plots: tuple = ()  # of Lines and Dots
    digits: dict = field(default_factory=dict)  # by metric
    labels: dict = field(default_factory=dict)  # by parameter
