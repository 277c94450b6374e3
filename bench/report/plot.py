"""Plots, as declared (declare.py): lines and dots, drawn on axes of matplotlib."""

import re
from dataclasses import dataclass
from typing import Callable

from bench.report import declare
from bench.report.palette import CONTESTANTS, LIGHT, SERIES
from bench.report.rows import bytes_text, heading, in_order, only, seconds_text, select

INCHES = (4.7, 2.9)  # about as wide as a phone, at which 10 points are 10 points
LINE_INCHES = 0.2  # of a dot
SPREAD = {"linewidth": 2.4, "alpha": 0.45}  # of the bar that shows how far apart turns are


@dataclass(frozen=True)
class Plot:
    name: str  # of the file, if it is saved alone
    title: str
    see: str
    draw: Callable  # of the axes


def plots(section):
    """All that have something to show."""
    for declared in section.declared.plots:
        for where, texts in section.each(declared):
            draw = drawn_lines if isinstance(declared, declare.Lines) else drawn_dots
            action = draw(section, declared, select(section.rows, declared.where, **where))
            if action:
                title = section.text(declared.title, **texts)
                name = re.sub(r"\W+", "-", f"{section.name} {title}".lower())
                yield Plot(name, title, section.text(declared.see, **texts), action)


def style(declared, values, number):
    """(colour, matplotlib's format) of a series: what is said of its values, or what is left."""
    styles = {**CONTESTANTS, **declared.styles}
    words = " ".join(styles.get(value, "") for value in values).split()
    colour = next((word for word in words if word in LIGHT), SERIES[number % len(SERIES)])
    return LIGHT[colour], next((word for word in reversed(words) if word not in LIGHT), "o-")


def series_of(section, declared, rows):
    """[(name, colour, format, rows)]"""
    series = {}
    for row in rows:
        key = tuple(str(row.fields.get(name)) for name in declared.series)
        series.setdefault(key, []).append(row)
    firsts = in_order(key[0] for key in series)
    for key, mine in series.items():
        name = section.labels(mine[0].fields, declared.series)
        yield name, *style(declared, key, firsts.index(key[0])), mine


def points_of(declared, rows):
    """(x, row of y) of each thing that has both, by ascending x."""
    things = {}
    for row in rows:
        things.setdefault(row.identity, {})[row.fields["metric"]] = row
    points = []
    for identity, metrics in things.items():
        values = {name: row.value for name, row in metrics.items()}
        x = {**values, **dict(identity)}.get(declared.x)
        if x is not None and values.get(declared.y) is not None:
            points.append((x, metrics[declared.y]))
    return sorted(points, key=lambda point: point[0])


def drawn_lines(section, declared, rows):
    all_series = series_of(section, declared, rows)
    named = [(*series, points_of(declared, mine)) for *series, mine in all_series]
    named = [series for series in named if series[-1]]
    if not named:
        return None

    def draw(axes):
        ends = {}  # of the lines of a name, where the farthest ends: it has the label
        for name, _, _, points in named:
            ends[name] = max(ends.get(name, points[-1][0]), points[-1][0])
        for name, colour, form, points in named:
            label = "_"
            if points[-1][0] == ends.get(name):
                label, ends[name] = name, None
            ys = [row.value for _, row in points]
            axes.plot([x for x, _ in points], ys, form, color=colour, label=label)
            spreads = [(x, *row.spread) for x, row in points if row.spread]
            if spreads:
                axes.vlines(*zip(*spreads), color=colour, **SPREAD)
        unit = {**section.declared.labels, **{row.fields["metric"]: row.unit for row in rows}}
        scale(axes, axes.xaxis, "x" in declared.log, unit.get(declared.x))
        scale(axes, axes.yaxis, "y" in declared.log, unit[declared.y])
        metrics = {row.fields["metric"]: heading(row.fields["metric"], row.unit) for row in rows}
        axes.set_xlabel(declared.x_label or metrics.get(declared.x, declared.x))
        axes.set_title(declared.y_label or metrics[declared.y])  # above, where it can be read

    return draw


def drawn_dots(section, declared, rows):
    rows = [row for row in rows if row.fields["metric"] == declared.metric]
    if all(row.value is None for row in rows):
        return None
    series = [(name, colour, mine) for name, colour, _, mine in series_of(section, declared, rows)]
    groups = in_order(section.labels(row.fields, declared.group) for row in rows)

    def draw(axes):
        place = 0
        for group in groups:
            if group:
                margin = {"va": "center", "transform": axes.get_yaxis_transform()}
                title = axes.text(0, place, group, weight="bold", **margin)
                title.set_in_layout(False)  # it may be wider than the names of dots
                place += 1
            for name, colour, mine in series:
                of_group = [r for r in mine if section.labels(r.fields, declared.group) == group]
                row = only(of_group, declared.title)
                dot(axes, place, name, colour, row, section.digits(row) if row else 0)
                place += 1
            place += 0.4
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_ylim(place - 0.9, -0.7)
        axes.grid(False, axis="y")
        scale(axes, axes.xaxis, declared.log, rows[0].unit)
        if not declared.log:
            axes.set_xlim(left=0)
        axes.set_xlabel(declared.x_label or heading(declared.metric, rows[0].unit))
        axes.figure.set_size_inches(INCHES[0], LINE_INCHES * place + 0.55)

    return draw


def dot(axes, place, name, colour, row, digits):
    axes.axhline(place, color=LIGHT["line"], linewidth=0.6, zorder=0)
    shown = "missing"
    if row and row.value is not None:
        axes.plot([row.value], [place], "o", color=colour, markersize=6)
        shown = row.figure(digits)
        if row.spread:
            axes.hlines(place, *row.spread, color=colour, **SPREAD)  # tables have its figures
    beside = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "va": "center"}
    axes.annotate(name, xy=(0, place), xytext=(-8, 0), ha="right", **beside)
    axes.annotate(shown, xy=(1, place), xytext=(8, 0), ha="left", **beside)


def power_of_ten(value):
    digit, exponent = f"{value:.0e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digit == "1" else f"{digit}·{power}"


def tick_text(value, unit, is_log):
    if unit in ("bytes", "s"):
        return {"bytes": bytes_text, "s": seconds_text}[unit](value, 1)
    if unit == "share":
        return f"{100 * value:.10g} %"
    return power_of_ten(value) if is_log and value >= 10_000 else f"{value:,.10g}"


def scale(axes, axis, is_log, unit):
    """Ticks, and on a logarithmic axis some between powers of ten where there would be too few."""
    from matplotlib import ticker

    if not is_log:
        axis.set_major_locator(ticker.MaxNLocator(4 if axis.axis_name == "x" else 6))
        axis.set_major_formatter(lambda value, _: tick_text(value, unit, False))
        if axis.axis_name == "y" and axes.dataLim.y0 >= 0:
            axes.set_ylim(bottom=0)
        return
    # Texts are wider than high.
    between, most = ((3,), 60) if axis.axis_name == "x" else ((2, 5), 150)

    def minor_text(value, _):
        low, high = sorted(axis.get_view_interval())
        return tick_text(value, unit, True) if high < most * low else ""

    (axes.set_xscale if axis.axis_name == "x" else axes.set_yscale)("log")
    axis.set_major_locator(ticker.LogLocator(base=10, numticks=9))
    axis.set_minor_locator(ticker.LogLocator(base=10, subs=between, numticks=9))
    axis.set_major_formatter(lambda value, _: tick_text(value, unit, True))
    axis.set_minor_formatter(minor_text)
