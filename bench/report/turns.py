"""Figures that were measured in turns: how far apart the turns are, and what of a difference is left
of that. No difference is claimed that the turns do not show."""

import statistics
from dataclasses import dataclass

FEW = 3  # turns, or fewer: quartiles say nothing of them
MEANING = (
    f"Beside a median stands the middle half of the turns; of {FEW} or fewer, least and most. Within the noise: these "
    "reach to the other side of what is compared with."
)


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float
    turns: int

    def is_beyond(self, limit):
        """Whether the turns tell it from `limit`. One turn tells nothing."""
        return self.turns > 1 and not self.low <= limit <= self.high

    def scaled(self, factor):
        return Spread(self.median * factor, self.low * factor, self.high * factor, self.turns)

    def inverse(self, factor=1):
        """`factor` per this."""
        return Spread(factor / self.median, factor / self.high, factor / self.low, self.turns)


def spread(turns):
    """Of a list of numbers, one for each turn."""
    if len(turns) <= FEW:
        low, high = min(turns), max(turns)
    else:
        low, _, high = statistics.quantiles(turns, n=4, method="inclusive")
    return Spread(statistics.median(turns), low, high, len(turns))


def paired(mine, theirs):
    """Ratio of what took turns, side by side: what slows both down is not in it."""
    return spread([a / b for a, b in zip(mine, theirs, strict=True)])


def quotient(mine, theirs):
    """Ratio of what was measured at different times, so that both spreads are in it."""
    a, b = spread(mine), spread(theirs)
    return Spread(a.median / b.median, a.low / b.high, a.high / b.low, min(a.turns, b.turns))
