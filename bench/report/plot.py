"""Plots, as declared (declare.py), drawn by matplotlib as PNG or as SVG for the page."""

import base64
import functools
import io
import re
from dataclasses import dataclass
from typing import Callable

import matplotlib

matplotlib.use("Agg")  # before pyplot
from matplotlib import pyplot, ticker  # noqa: E402

from bench.report.rows import SCALES, figure, heading, in_order, only  # noqa: E402

INCHES = (4.7, 2.9)  # about as wide as a phone, at which 10 points are 10 points
LINE_INCHES = 0.2  # height of a dot, or of a name in a legend
NARROW = 24  # the longest name, in characters, that shares a line of the legend
SPREAD = {"linewidth": 2.4, "alpha": 0.45}  # the bar that shows the spread of turns

# Dark enough to be read on white; the page inverts them where it is dark.
COLOURS = {"blue": "#1264b3", "orange": "#b84f08", "green": "#127a5e", "purple": "#7a45b8",
           "pink": "#a8326e", "grey": "#6b7480", "black": "#1c2430"}
# Contestants have the same style in all plots.
CONTESTANTS = {"no filter": "grey o-", "stock Bloom": "orange s-", "stock Ribbon": "pink s-",
               "blocksieve bloom": "green o-", "blocksieve ribbon": "blue o-", "limit": "black --"}
STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "grid.color": "#d5dae2",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.markersize": 5,
    "svg.fonttype": "none",
    "text.parse_math": False,  # names may have dollars
}


@dataclass(frozen=True)
class Plot:
    name: str  # of the file, if saved alone
    title: str
    see: str
    draw: Callable  # of the axes


def plots(section):
    """All plots that have data."""
    for declared in section.declared.plots if not section.suffix else ():
        draw, content = (draw_lines, lines_of) if declared.x else (draw_dots, dots_of)
        for rows, texts in section.each(declared):
            found = content(section, declared, rows)
            if found:
                title = section.text(declared.title, **texts)
                name = re.sub(r"\W+", "-", f"{section.name} {title}".lower())
                units = {row.fields["metric"]: row.unit for row in rows}
                action = functools.partial(draw, section, declared, found, units)
                yield Plot(name, title, section.text(declared.see, **texts), action)


def style(declared, fields, number):
    """(colour, matplotlib's format) of a series: declared for its values, or the next one."""
    styles = {**CONTESTANTS, **declared.styles}
    words = ["o-", *" ".join(styles.get(value, "") for value in fields.values()).split()]
    left = list(COLOURS)[number % len(COLOURS)]
    colour = next((word for word in words if word in COLOURS), left)
    return COLOURS[colour], next(word for word in reversed(words) if word not in COLOURS)


def lines_of(_, declared, rows):
    """Points of each series, (x, row of y), by ascending x."""
    things = {}  # (name, parameters) -> rows by metric
    for row in rows:
        identity = tuple(item for item in row.fields.items() if item[0] != "metric")
        things.setdefault(identity, {})[row.fields["metric"]] = row
    series = {}
    for identity, metrics in things.items():
        fields = dict(identity)
        x = metrics[declared.x].value if declared.x in metrics else fields.get(declared.x)
        y = metrics.get(declared.y)
        if x is not None and y and y.value is not None:
            key = tuple(fields.get(name) for name in declared.series)
            series.setdefault(key, []).append((x, y))
    return {key: sorted(points, key=lambda point: point[0]) for key, points in series.items()}


def draw_lines(section, declared, series, units, axes):
    names = in_order(key[0] for key in series)
    lines = {}  # name in the legend -> points
    for key, points in series.items():
        fields = points[0][1].fields
        colour, form = style(declared, fields, names.index(key[0]))
        xs, ys = zip(*((x, row.value) for x, row in points))
        (line,) = axes.plot(xs, ys, form, color=colour)
        lines.setdefault(section.labels(fields, declared.series), line)
        for x, row in points:
            axes.vlines(x, *(row.spread or (row.value, row.value)), color=colour, **SPREAD)
    scale(axes, axes.xaxis, "x" in declared.log, units.get(declared.x))
    scale(axes, axes.yaxis, "y" in declared.log, units[declared.y])
    axes.set_xlabel(heading(declared.x, units.get(declared.x, "")))
    axes.set_title(heading(declared.y, units[declared.y]))  # above, where it is legible
    columns = 2 if max(map(len, lines)) <= NARROW else 1
    axes.figure.set_figheight(INCHES[1] + LINE_INCHES * len(lines) / columns)
    below = {"loc": "upper left", "bbox_to_anchor": (-0.1, 0), "borderaxespad": 3.8}
    axes.legend(lines.values(), lines, ncols=columns, **below)


def dots_of(section, declared, rows):
    """The row of each series by group; empty if all are missing."""
    rows = [row for row in rows if row.fields["metric"] == declared.y]
    groups = {}
    for row in rows:
        group = groups.setdefault(section.labels(row.fields, declared.group), {})
        group.setdefault(section.labels(row.fields, declared.series), []).append(row)
    return groups if any(row.value is not None for row in rows) else {}


def draw_dots(section, declared, groups, units, axes):
    places = []  # their names, top to bottom
    margin = {"transform": axes.get_yaxis_transform(), "va": "center"}
    names = in_order(name for group in groups.values() for name in group)
    for group, dots in groups.items():
        if group:
            axes.text(0, len(places), group, weight="bold", **margin)
            places.append("")
        for name, rows in dots.items():
            row = only(rows, declared.title)
            colour, _ = style(declared, row.fields, names.index(name))
            if row.value is not None:
                axes.plot(row.value, len(places), "o", color=colour, clip_on=False)
                axes.hlines(len(places), *(row.spread or (row.value,) * 2), color=colour, **SPREAD)
            axes.text(1.03, len(places), row.figure(section.digits(row)), **margin)
            places.append(name)
    axes.set_yticks(range(len(places)), places)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(places) - 0.4, -0.6)
    scale(axes, axes.xaxis, declared.log, units[declared.y])
    if not declared.log:
        axes.set_xlim(left=0)
    axes.set_xlabel(heading(declared.y, units[declared.y]))
    axes.figure.set_figheight(LINE_INCHES * len(places) + 0.6)


def tick_text(value, unit):
    if unit in SCALES:
        return figure(value, unit, 1)
    return ticker.EngFormatter()(value) if abs(value) >= 10_000 else f"{value:,.10g}"


def scale(axes, axis, is_log, unit):
    """Sets ticks; a narrow logarithmic axis has more than the powers of ten."""
    name = axis.axis_name
    low, high = axis.get_data_interval()
    if is_log:
        axes.set(**{f"{name}scale": "log"})
        subs = (1, 2, 5) if high < 30 * low else (1, 3) if high < 300 * low else (1,)
        axis.set_major_locator(ticker.LogLocator(subs=subs, numticks=9))
        axis.set_minor_locator(ticker.NullLocator())
    else:
        axis.set_major_locator(ticker.MaxNLocator(4 if name == "x" else 6))
        if low >= 0 and name == "y":
            axes.set_ylim(bottom=0)
    axis.set_major_formatter(lambda value, _: tick_text(value, unit))


def save(plot, file, title="", **options):
    with matplotlib.rc_context(STYLE):
        canvas, axes = pyplot.subplots(figsize=INCHES, layout="constrained")
        plot.draw(axes)
        canvas.suptitle(title, x=0, ha="left", fontsize=11)
        canvas.savefig(file, **options)
        pyplot.close(canvas)


def data_uri(plot):
    """An SVG without background, with texts as text."""
    file = io.BytesIO()
    save(plot, file, format="svg", transparent=True, metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()
