"""What a job says of its results, once for the terminal (plain.py) and for the page."""

from dataclasses import dataclass, field

from bench.report.figure import Figure
from bench.report.table import Cell, compared
from bench.report.turns import Spread


@dataclass
class Target:
    what: str
    limit: str
    figure: str
    met: bool  # a figure that is not a number meets nothing
    remark: str = ""  # of the verdict: what the figure's spread leaves of it


def judged(what, sign, figure, limit, unit, is_met):
    """`figure` may be a number or a Spread, whose median is judged."""

    def text(value):
        return f"{value:.4g}"

    if isinstance(figure, Spread):
        cell = compared(figure, text, same=limit)
        shown = cell.value + unit + (f" ({cell.spread})" if cell.spread else "")
        return Target(what, f"{sign} {limit:g}{unit}", shown, is_met(figure.median), cell.remark)
    return Target(what, f"{sign} {limit:g}{unit}", text(figure) + unit, is_met(figure))


def at_most(what, figure, limit, unit=""):
    return judged(what, "≤", figure, limit, unit, lambda value: value <= limit)


def at_least(what, figure, limit, unit=""):
    return judged(what, "≥", figure, limit, unit, lambda value: value >= limit)


def at_most_one_in(what, figure, parts):
    return Target(what, f"≤ 1/{parts:g}", f"1/{1 / figure:.0f}" if figure else "0", figure <= 1 / parts)


@dataclass
class Formula:
    """A computed figure: how, and from what."""

    what: str
    formula: str
    constants: str


@dataclass
class Highlight:
    """The figure of a job that one would tell a colleague."""

    figure: str
    what: str
    against: str  # what it is compared with: the figures behind it


@dataclass
class Section:
    name: str  # of the anchor, and of bench/run's subcommand
    title: str
    lead: str  # what was measured, and how to read it
    headline: str = ""  # the result in a sentence
    highlight: Highlight = None
    facts: list = field(default_factory=list)  # of sentences: input and circumstances
    machine: list = field(default_factory=list)  # of sentences: what it ran on, and for how long
    targets: list = field(default_factory=list)
    formulas: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def has_spreads(self):
        return any(isinstance(cell, Cell) for table in self.tables for row in table.rows for cell in row)

    @property
    def num_met(self):
        return sum(target.met for target in self.targets)
