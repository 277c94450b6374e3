"""Dots on lines of their own, each with its name to the left and its figure to the right: what bars
show, and what is true on logarithmic scales, too, where the length of a bar means nothing."""

from bench.report import palette
from bench.report.figure import INCHES, SPREAD_ALPHA, SPREAD_WIDTH, label, middle, plain
from bench.report.turns import Spread

LINE_INCHES = 0.2  # of a dot


def dots(axes, groups, series, text=plain, x=""):
    """A heading for each of `groups`, and below it a dot for each of `series`, [(name, colour,
    values)], of which the values are numbers or Spreads, in the order of `groups`. Without names of
    groups there is but one."""
    place = 0
    for number, group in enumerate(groups):
        if group:
            heading = axes.text(0, place, group, va="center", weight="bold", transform=axes.get_yaxis_transform())
            heading.set_in_layout(False)  # it may be wider than the names of dots
            place += 1
        for name, colour, values in series:
            dot(axes, place, name, colour, values[number], text)
            place += 1
        place += 0.4
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(place - 0.9, -0.7)
    axes.grid(False, axis="y")
    label(axes, x=x)
    axes.figure.set_size_inches(INCHES[0], LINE_INCHES * place + 0.55)


def dot(axes, place, name, colour, value, text):
    shown = text(middle(value))
    axes.axhline(place, color=palette.LINE, linewidth=0.6, zorder=0)
    axes.plot([middle(value)], [place], "o", color=colour, markersize=6)
    if isinstance(value, Spread) and value.turns > 1:
        axes.hlines(place, value.low, value.high, color=colour, linewidth=SPREAD_WIDTH, alpha=SPREAD_ALPHA)
        shown += f" ({text(value.low)}–{text(value.high)})"
    beside(axes, place, 0, name, ha="right", xytext=(-8, 0))
    beside(axes, place, 1, shown, ha="left", xytext=(8, 0))


def beside(axes, place, side, text, **style):
    """In the margin; `side` is 0 for the left, 1 for the right."""
    axes.annotate(
        text, xy=(side, place), xycoords=axes.get_yaxis_transform(), textcoords="offset points", va="center", **style
    )
