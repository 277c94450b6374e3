"""Draws the figures of the recorded results and prints what is where, in pixels, as JSON."""

import json
import sys

from report_support import JOBS, section_of  # and the path to what follows
from bench.report.figure import drawn
from matplotlib import pyplot


def box(extent):
    return [extent.x0, extent.y0, extent.x1, extent.y1]


def marks(axes):
    """Boxes of markers and of bars that show spreads."""
    pixel = axes.figure.dpi / 72
    for line in axes.lines:
        if line.get_marker() in ("None", "", None):
            continue
        half = line.get_markersize() / 2 * pixel
        for x, y in line.get_transform().transform(line.get_xydata()):
            yield [x - half, y - half, x + half, y + half]
    for x0, y0, x1, y1 in spreads(axes):
        yield [min(x0, x1) - 1, min(y0, y1) - 1, max(x0, x1) + 1, max(y0, y1) + 1]


def spreads(axes):
    for collection in axes.collections:
        for path in collection.get_paths():
            yield collection.get_transform().transform(path.vertices).flatten().tolist()


def texts(axes):
    found = [*axes.texts, axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = axis.get_major_ticks() + axis.get_minor_ticks()
        found += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
    for text in found:
        if text.get_text() and text.get_visible():
            yield {"text": text.get_text(), "box": box(text.get_window_extent())}


def described(figure):
    canvas = drawn(figure)
    canvas.draw_without_rendering()
    (axes,) = canvas.axes
    pyplot.close(canvas)
    return {
        "name": figure.name,
        "legends": len(canvas.legends) + (axes.get_legend() is not None),
        "bars": len(axes.patches) + len(axes.containers),
        "scales": [axes.get_xscale(), axes.get_yscale()],
        "axes": box(axes.bbox),
        "canvas": box(canvas.bbox),
        "texts": list(texts(axes)),
        "marks": list(marks(axes)),
        "spreads": list(spreads(axes)),
        "dots": sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() in ("o", "s")),
        "lines": [line.get_transform().transform(line.get_xydata()).tolist() for line in axes.lines],
    }


figures = [described(figure) for job in JOBS for figure in section_of(job).figures]
json.dump(figures, sys.stdout)
