"""What a job says of its results, once for the terminal (plain.py) and for the page."""

from dataclasses import dataclass, field

from bench.report.figure import Figure


@dataclass
class Table:
    caption: str
    headers: list  # of texts, the first of the rows' names; lines are separated by "\n"
    rows: list  # of lists of texts
    note: str = ""

    @classmethod
    def of(cls, caption, items, columns, note=""):
        """A row for each of `items`; `columns` are pairs of a header and a function: an item's text."""
        rows = [[text(item) for _, text in columns] for item in items]
        return cls(caption, [header for header, _ in columns], rows, note)


@dataclass
class Target:
    what: str
    limit: str
    figure: str
    met: bool  # a figure that is not a number meets nothing


def at_most(what, figure, limit, unit=""):
    return Target(what, f"≤ {limit:g}{unit}", f"{figure:.4g}{unit}", figure <= limit)


def at_least(what, figure, limit, unit=""):
    return Target(what, f"≥ {limit:g}{unit}", f"{figure:.4g}{unit}", figure >= limit)


def at_most_one_in(what, figure, parts):
    return Target(what, f"≤ 1/{parts:g}", f"1/{1 / figure:.0f}" if figure else "0", figure <= 1 / parts)


@dataclass
class Formula:
    """A computed figure: how, and from what."""

    what: str
    formula: str
    constants: str


@dataclass
class Section:
    name: str  # of the anchor, and of bench/run's subcommand
    title: str
    lead: str  # what was measured, and how to read it
    headline: str = ""  # the result in a sentence
    facts: list = field(default_factory=list)  # of sentences: input and circumstances
    targets: list = field(default_factory=list)
    formulas: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def num_met(self):
        return sum(target.met for target in self.targets)
