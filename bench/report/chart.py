# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG, of a width that a phone shows as it is. Colors are variables of page.css."""

import html
import math
import re
import textwrap
from dataclasses import dataclass

from bench.report.tables import figure

WIDTH, HEIGHT, ROW_HEIGHT, LINE_HEIGHT = 360, 200, 34, 18  # of all, a plot, a row and a line of text
TITLE_CHARACTERS = 46  # of a line
MARKED_POINTS = 8  # of a line with more points, and the last one
# Shapes tell series apart in print and for readers who see few colors.
SHAPES = ("M-4-4h8v8h-8z", "M0-5l5 9h-10z", "M0-6l5 6-5 6-5-6z", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
          "M0 5l-5-9h10z", "M-5-2h3v-3h4v3h3v4h-3v3h-4v-3h-3z")


@dataclass(frozen=True)
class Axis:
    label: str
    unit: str = ""  # of tables.figure
    is_log: bool = False


def short(value, unit):
    """A figure without trailing zeros: 0.001, 20 ms, 10 k."""
    text = figure(value, unit.replace("count", "amount")).rstrip()
    return re.sub(r"\.(\d*?)0*(?!\d)", lambda match: "." + match[1] if match[1] else "", text)


def scaled(axis, values, begin, end):
    """A function from values to places, and the values of the ticks. Zero, which a logarithmic axis
    does not have, is placed where the axis begins."""
    steps = [step * 10.0**power for power in range(-12, 16) for step in (1, 2, 5)]
    low, high = min(values), max(values)
    if axis.is_log:
        positive = [value for value in values if value > 0] or [1]
        low, high = min(positive), max(positive)
        margin = max(high / low, 2) ** 0.05
        low, high = low / margin ** (1 if len(positive) == len(values) else 3), high * margin
        ticks = steps[::3] if high / low > 30 else steps
        transform = math.log
    else:
        low = low if low > high / 2 else min(low, 0)  # from zero, unless all values are close together
        margin = 0.05 * (high - low or 1)
        low, high = low and low - margin, high + margin
        step = next(step for step in steps if (high - low) / step <= 5)
        ticks = [step * count for count in range(math.ceil(low / step), math.floor(high / step) + 1)]
        transform = float

    def place(value):
        share = (transform(max(value, low)) - transform(low)) / (transform(high) - transform(low))
        return begin + share * (end - begin)
    return place, [tick for tick in ticks if low <= tick <= high]


def text_at(x, y, text, **attributes):
    names = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{names}>{html.escape(text)}</text>'


def chart(title, x, y, series):
    """Returns an SVG, and its figures as a text: its text alternative. Both are empty without points.

    `series` has (name, [(x, y), ...]) for each line, at most six. One without points is left out, but
    keeps its color. `x` and `y` are Axis; if `y` is a list of names, each has a row of marks, and a
    point is (x, number of the row)."""
    rows = y if isinstance(y, list) else []
    shown = [(number, name, points) for number, (name, points) in enumerate(series) if points]
    if not shown:
        return "", ""
    xs, ys = zip(*(point for _, _, points in shown for point in points))
    titles = textwrap.wrap(title, TITLE_CHARACTERS)
    parts = [text_at(0, 14 + LINE_HEIGHT * line, text, font_weight=600) for line, text in enumerate(titles)]
    top = LINE_HEIGHT * len(titles) + (8 if rows else 30)
    bottom = top + (ROW_HEIGHT * len(rows) or HEIGHT)
    if rows:
        left, y_ticks = 0, range(len(rows))

        def place_y(row):
            return top + ROW_HEIGHT * (row + 0.75)
        parts += [text_at(0, place_y(row) - 10, name, fill="var(--muted)", stroke="var(--page)",
                          stroke_width=4, paint_order="stroke") for row, name in enumerate(rows)]
    else:
        place_y, y_ticks = scaled(y, ys, bottom, top)
        labels = [short(tick, y.unit) for tick in y_ticks]
        left = 10 + 8 * max(map(len, labels))
        parts.append(text_at(0, top - 12, y.label, fill="var(--muted)"))
        parts += [text_at(left - 6, place_y(tick) + 4, label, text_anchor="end")
                  for tick, label in zip(y_ticks, labels)]
    place_x, x_ticks = scaled(x, xs, left + 8, WIDTH - 20)
    grid = [f"M{left} {place_y(tick):.1f}H{WIDTH}" for tick in y_ticks]
    grid += [f"M{place_x(tick):.1f} {top}V{bottom + 4}" for tick in x_ticks]
    parts.insert(0, f'<path d="{"".join(grid)}" stroke="var(--line)"/>')
    zero = [0] if x.is_log and 0 in xs else []
    parts += [text_at(place_x(tick), bottom + 18, short(tick, x.unit), text_anchor="middle") for tick in zero + x_ticks]
    parts.append(text_at(WIDTH, bottom + 36, x.label, text_anchor="end", fill="var(--muted)"))
    texts = [f"{title}." if rows else f"{title}: {y.label} by {x.label}."]
    for line, (number, name, points) in enumerate(shown):
        color, below = f"var(--series-{number})", bottom + 58 + LINE_HEIGHT * line
        marked = points if rows else points[:-1:max(1, len(points) // MARKED_POINTS)] + points[-1:]
        if not rows:
            places = " ".join(f"{place_x(each):.1f},{place_y(other):.1f}" for each, other in points)
            parts.append(f'<polyline points="{places}" fill="none" stroke="{color}" stroke-width="2"/>')
        lower = 1.6 * number - 3 if rows else 0  # so that marks of equal figures are seen
        places = [(place_x(each), place_y(other) + lower) for each, other in marked]
        parts += [f'<path d="{SHAPES[number]}" transform="translate({left:.1f},{top:.1f})" fill="{color}" '
                  'stroke="var(--page)"/>' for left, top in (*places, (8, below - 4))]
        parts.append(text_at(20, below, name))
        figures = [f"{figure(each, x.unit)} for {rows[other]}" if rows else
                   f"{figure(other, y.unit)} at {figure(each, x.unit)}" for each, other in marked]
        texts.append(f"{name}: {'; '.join(figures)}.")
    text = " ".join(texts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {WIDTH} {bottom + 50 + LINE_HEIGHT * len(shown)}" '
            f'aria-label="{html.escape(text)}" font-family="system-ui, sans-serif" font-size="13" '
            'fill="var(--text)">\n' + "\n".join(parts) + "\n</svg>\n", text)
