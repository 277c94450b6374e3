"""One figure: a diagram that is legible at the width of a phone, so of one pair of axes. With what
all of them need to be drawn alike. Imports matplotlib when something is drawn: tables need no more
than python3."""

from dataclasses import dataclass
from typing import Callable

from bench.report import palette

INCHES = (4.7, 3.4)  # about as wide as a phone, at which 10 points are 10 points
LEGEND_POINTS = 42  # from the axis to the legend: ticks, their texts and what the axis is

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
    "legend.frameon": False,
    "legend.labelcolor": palette.TEXT,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "text.color": palette.TEXT,
    "text.parse_math": False,  # names may have dollars
    "xtick.color": palette.MUTED,
    "xtick.labelcolor": palette.TEXT,
    "xtick.minor.size": 0,
    "ytick.color": palette.MUTED,
    "ytick.labelcolor": palette.TEXT,
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
    from matplotlib import pyplot, transforms  # after the choice of the backend

    with matplotlib.rc_context(STYLE):
        canvas, axes = pyplot.subplots(figsize=INCHES)
        axes.grid(True)
        figure.draw(axes)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            below_the_axis = transforms.ScaledTranslation(0, -LEGEND_POINTS / 72, canvas.dpi_scale_trans)
            axes.legend(
                handles,
                labels,
                loc="upper left",
                bbox_to_anchor=(0, 0),
                bbox_transform=axes.transAxes + below_the_axis,
                ncols=2 if max(map(len, labels)) <= 22 else 1,
                borderaxespad=0,
                columnspacing=1.2,
                handlelength=1.9,
            )
    return canvas


def save_png(figure, path):
    canvas = drawn(figure)
    from matplotlib import pyplot  # after drawn() chose the backend

    canvas.suptitle(figure.title, y=1.02, fontsize=11)
    canvas.savefig(path, dpi=150, bbox_inches="tight", facecolor=palette.COLOURS["page"].light)
    pyplot.close(canvas)


def label(axes, x="", y=""):
    """What the axes are. That of y stands above them, where it can be read."""
    axes.set_xlabel(x)
    axes.set_title(y)


def line(axes, points, x, y, style, colour, title=None):
    """Through `points`, of which `x` and `y` are the names of two fields."""
    axes.plot([each[x] for each in points], [each[y] for each in points], style, color=colour, label=title)


def power_of_ten(value, _=None):
    digit, exponent = f"{value:.0e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digit == "1" else f"{digit}·{power}"


def plain(value, _=None):
    return f"{value:,.10g}"


def percent(value, _=None):
    return f"{100 * value:.10g} %"


def log_axis(axis, text=power_of_ten):
    """A logarithmic axis whose ticks are written as `text` says: powers of ten; twice and five times
    those, too, where there would be too few otherwise."""
    from matplotlib import ticker

    def minor_text(value, _):
        low, high = sorted(axis.get_view_interval())
        return text(value, None) if high < 150 * low else ""

    scale = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    scale("log")
    axis.set_major_locator(ticker.LogLocator(base=10, numticks=9))
    axis.set_minor_locator(ticker.LogLocator(base=10, subs=(2, 5), numticks=9))
    axis.set_major_formatter(text)
    axis.set_minor_formatter(minor_text)


def bars(axes, names, series, text=plain, x=""):
    """Horizontal bars with their values, a group for each name above its bars; `series` is
    [(label, colour, values)]."""
    step = len(series) + 1.1
    for i, (series_label, colour, values) in enumerate(series):
        places = [group * step + i for group in range(len(names))]
        drawn_bars = axes.barh(places, values, 0.85, color=colour, label=series_label)
        axes.bar_label(drawn_bars, [text(value) for value in values], padding=3, fontsize=9)
    for group, name in enumerate(names):
        axes.text(0, group * step - 0.95, name, va="center", fontsize=9, transform=axes.get_yaxis_transform())
    axes.set_yticks([])
    axes.set_ylim(len(names) * step - 1, -1.6)
    axes.margins(x=0.22)  # for the values
    axes.grid(False, axis="y")
    label(axes, x=x)
    rows = len(names) * step
    axes.figure.set_size_inches(INCHES[0], max(1.4, 0.19 * rows + 0.8))
