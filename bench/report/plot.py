"""Plots, as declared (declare.py), drawn by matplotlib as PNG or as SVG for the page."""

import base64
import collections
import functools
import io
import re

import matplotlib

matplotlib.use("Agg")  # before pyplot
from matplotlib import pyplot, ticker  # noqa: E402

from bench.report.rows import SCALES, figure, heading, in_order, select  # noqa: E402

INCHES = (4.7, 2.9)  # about as wide as a phone, at which 10 points are 10 points
LINE_INCHES = 0.2  # height of a dot, or of a name in a legend
NARROW = 24  # the longest name, in characters, that shares a line of the legend

# Dark enough to be read on white; the page inverts them where it is dark.
COLOURS = {"blue": "#1264b3", "orange": "#b84f08", "green": "#127a5e", "purple": "#7a45b8",
           "pink": "#a8326e", "grey": "#6b7480", "black": "#1c2430"}
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


# `name` is that of the file of a plot that is saved alone. draw(axes) draws it.
Plot = collections.namedtuple("Plot", "name title see draw")


def plots(section):
    """All plots that have data."""
    for declared in section.declared.plots if not section.suffix else ():
        for rows, texts in section.each(declared):
            rows = select(rows, {}, metric=declared.y)
            if declared.x:
                rows = [row for row in rows if declared.x in row.fields and row.value is not None]
            if any(row.value is not None for row in rows):
                title = section.text(declared.title, **texts)
                name = re.sub(r"\W+", "-", f"{section.name} {title}".lower())
                action = functools.partial(draw_lines if declared.x else draw_dots, section)
                draw = functools.partial(action, declared, rows)
                yield Plot(name, title, section.text(declared.see, **texts), draw)


def style(declared, fields, number):
    """(colour, matplotlib's format) of a series: declared for its values, or the next one."""
    styles = [declared.styles[value] for value in fields.values() if value in declared.styles]
    colour, _, form = (*styles, list(COLOURS)[number % len(COLOURS)])[0].partition(" ")
    return {"color": COLOURS[colour]}, form or "o-"


def draw_spread(lines, place, row, colour):
    lines(place, *(row.spread or (row.value,) * 2), linewidth=2.4, alpha=0.45, **colour)


def draw_lines(section, declared, rows, axes):
    """A line for each series, by ascending x."""
    for number, name in enumerate(in_order(row.fields[declared.series] for row in rows)):
        points = select(rows, {declared.series: name})
        points.sort(key=lambda row: row.fields[declared.x])
        colour, form = style(declared, points[0].fields, number)
        xs = [row.fields[declared.x] for row in points]
        label = section.label(declared.series, name)
        axes.plot(xs, [row.value for row in points], form, label=label, **colour)
        for x, row in zip(xs, points):
            draw_spread(axes.vlines, x, row, colour)
    scale(axes, axes.xaxis, "x" in declared.log, "")
    scale(axes, axes.yaxis, "y" in declared.log, rows[0].unit)
    axes.set_xlabel(declared.x)
    axes.set_title(heading(declared.y, rows[0].unit))  # above, where it is legible
    names = [line.get_label() for line in axes.lines]
    columns = 2 if max(map(len, names)) <= NARROW else 1
    axes.figure.set_figheight(INCHES[1] + LINE_INCHES * len(names) / columns)
    axes.legend(ncols=columns, loc="upper left", bbox_to_anchor=(-0.1, 0), borderaxespad=3.8)


def draw_dots(section, declared, rows, axes):
    places = []  # their names, top to bottom
    margin = {"transform": axes.get_yaxis_transform(), "va": "center"}
    names = in_order(row.fields[declared.series] for row in rows)
    for group in in_order(section.labels(row.fields, declared.group) for row in rows):
        if group:
            axes.text(0, len(places), group, weight="bold", **margin)
            places.append("")
        for row in rows:
            if section.labels(row.fields, declared.group) != group:
                continue
            name = row.fields[declared.series]
            colour, _ = style(declared, row.fields, names.index(name))
            if row.value is not None:
                axes.plot(row.value, len(places), "o", clip_on=False, **colour)
                draw_spread(axes.hlines, len(places), row, colour)
            axes.text(1.03, len(places), row.figure(section.digits(row)), **margin)
            places.append(section.label(declared.series, name))
    axes.set_yticks(range(len(places)), places)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(places) - 0.4, -0.6)
    scale(axes, axes.xaxis, declared.log, rows[0].unit)
    if not declared.log:
        axes.set_xlim(left=0)
    axes.set_xlabel(heading(declared.y, rows[0].unit))
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
