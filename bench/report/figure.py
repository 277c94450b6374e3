"""One figure: a diagram that is legible at the width of a phone, so of one pair of axes. With what
all of them need to be drawn alike. Imports matplotlib when something is drawn: tables need no more
than python3."""

from dataclasses import dataclass
from typing import Callable

from bench.report import palette
from bench.report.labels import label_lines, label_points
from bench.report.turns import Spread

INCHES = (4.7, 2.9)  # about as wide as a phone, at which 10 points are 10 points
SPREAD_WIDTH, SPREAD_ALPHA = 2.4, 0.45  # of the bar that shows how far apart turns are

STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": palette.MUTED,
    "axes.labelcolor": palette.TEXT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": palette.TEXT,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "font.size": 10,
    "grid.color": palette.LINE,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "text.color": palette.TEXT,
    "text.parse_math": False,  # names may have dollars
    "xtick.color": palette.MUTED,
    "xtick.labelcolor": palette.TEXT,
    "xtick.minor.pad": 7,  # as far as those of major ticks, which have a length
    "xtick.minor.size": 0,
    "ytick.color": palette.MUTED,
    "ytick.labelcolor": palette.TEXT,
    "ytick.minor.pad": 7,
    "ytick.minor.size": 0,
}


@dataclass
class Figure:
    name: str  # of the file, if it is saved alone
    title: str
    alt: str  # what is seen, for who does not see it
    draw: Callable  # of the axes


def drawn(figure):
    """A matplotlib figure. The caller closes it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot  # after the choice of the backend

    with matplotlib.rc_context(STYLE):
        canvas, axes = pyplot.subplots(figsize=INCHES, layout="constrained")
        axes.grid(True)
        figure.draw(axes)
        name_all(axes)
    return canvas


def name_all(axes):
    """Labels what was drawn with a label: lines in the margin, single points next to them."""
    named = [each for each in axes.lines if len(each.get_xdata()) > 0 and not each.get_label().startswith("_")]
    points = [each for each in named if len(each.get_xdata()) == 1]
    label_lines(axes, [each for each in named if each not in points])
    label_points(axes, points)


def save_png(figure, path):
    canvas = drawn(figure)
    from matplotlib import pyplot  # after drawn() chose the backend

    canvas.text(0, 1.02, figure.title, va="bottom", fontsize=11)
    canvas.savefig(path, dpi=150, bbox_inches="tight", facecolor=palette.COLOURS["page"].light)
    pyplot.close(canvas)


def label(axes, x="", y=""):
    """What the axes are. That of y stands above them, where it can be read."""
    axes.set_xlabel(x)
    axes.set_title(y)


def line(axes, points, x, y, style, colour, title="_"):
    """Through `points`, of which `x` and `y` are two fields. Where y is a Spread, a bar shows it."""
    xs, ys = [each[x] for each in points], [each[y] for each in points]
    spreads = [(at, each) for at, each in zip(xs, ys) if isinstance(each, Spread)]
    axes.plot(xs, [middle(each) for each in ys], style, color=colour, label=title)
    axes.vlines(
        [at for at, _ in spreads],
        [each.low for _, each in spreads],
        [each.high for _, each in spreads],
        color=colour,
        linewidth=SPREAD_WIDTH,
        alpha=SPREAD_ALPHA,
    )


def middle(value):
    return value.median if isinstance(value, Spread) else value


def power_of_ten(value, _=None):
    digit, exponent = f"{value:.0e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digit == "1" else f"{digit}·{power}"


def plain(value, _=None):
    return f"{value:,.10g}"


def percent(value, _=None):
    return f"{100 * value:.10g} %"


def log_axis(axis, text=power_of_ten):
    """A logarithmic axis whose ticks are written as `text` says: powers of ten; and some between them
    where there would be too few otherwise."""
    from matplotlib import ticker

    # Texts are wider than high.
    between, most = ((3,), 60) if axis.axis_name == "x" else ((2, 5), 150)

    def minor_text(value, _):
        low, high = sorted(axis.get_view_interval())
        return text(value, None) if high < most * low else ""

    scale = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    scale("log")
    axis.set_major_locator(ticker.LogLocator(base=10, numticks=9))
    axis.set_minor_locator(ticker.LogLocator(base=10, subs=between, numticks=9))
    axis.set_major_formatter(text)
    axis.set_minor_formatter(minor_text)
