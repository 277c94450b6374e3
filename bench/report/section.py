"""What a job contributes to the page."""

from dataclasses import dataclass, field

from bench.report.figure import Figure


@dataclass
class Table:
    caption: str
    headers: list  # of texts, the first of the rows' names
    rows: list  # of lists of texts
    note: str = ""


@dataclass
class Target:
    what: str
    limit: str
    figure: str
    met: bool


@dataclass
class Formula:
    """A figure that is computed, how, and from what."""

    what: str
    formula: str
    constants: str


@dataclass
class Section:
    name: str  # of the anchor, and of bench/run's subcommand
    title: str
    lead: str  # what was measured, in a sentence or two
    facts: list = field(default_factory=list)  # of sentences
    targets: list = field(default_factory=list)
    formulas: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def num_met(self):
        return sum(target.met for target in self.targets)


def targets_of(run):
    """The targets as jobs write them."""
    return [
        Target(
            target["what"],
            target["limit_text"].replace("<=", "≤").replace(">=", "≥"),
            target["figure_text"],
            target["met"],
        )
        for target in run["targets"]
    ]
