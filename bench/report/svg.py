"""Drawing: axes in one style, names of lines beside them, and a plot as SVG with the page's
colours, light or dark, and text that is text; or as PNG."""

import io
import itertools
import re
import textwrap

import matplotlib

matplotlib.use("Agg")  # before pyplot
from matplotlib import pyplot  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

from bench.report.palette import LIGHT  # noqa: E402
from bench.report.plot import INCHES  # noqa: E402

MAX_SCALE = 1.45  # pixels per unit; at 1, texts have 10 pixels
VARIABLES = {light: f"var(--{name})" for name, light in LIGHT.items()}
MARGIN_CHARACTERS = 18  # of a line of text in the margin
GAP = 4  # points between a line and its name
ROUNDS = 200  # of pushing names apart; some ten do

STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": LIGHT["muted"],
    "axes.grid": True,
    "axes.labelcolor": LIGHT["text"],
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": LIGHT["text"],
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "font.family": "sans-serif",
    "font.size": 10,
    "grid.color": LIGHT["line"],
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "svg.fonttype": "none",
    "text.color": LIGHT["text"],
    "text.parse_math": False,  # names may have dollars
    "xtick.color": LIGHT["muted"],
    "xtick.labelcolor": LIGHT["text"],
    "xtick.minor.pad": 7,  # as far as those of major ticks, which have a length
    "xtick.minor.size": 0,
    "ytick.color": LIGHT["muted"],
    "ytick.labelcolor": LIGHT["text"],
    "ytick.minor.pad": 7,
    "ytick.minor.size": 0,
}


def save(plot, file, title="", **options):
    canvas, axes = pyplot.subplots(figsize=INCHES, layout="constrained")
    plot.draw(axes)
    name_lines(axes, [line for line in axes.lines if not line.get_label().startswith("_")])
    canvas.text(0, 1.02, title, va="bottom", fontsize=11)
    canvas.savefig(file, bbox_inches="tight", **options)
    pyplot.close(canvas)


def save_png(plot, path):
    with matplotlib.rc_context(STYLE):
        save(plot, path, plot.title, dpi=150, facecolor=LIGHT["page"])


def inline_svg(plot, prefix, title_id):
    """The element <svg>, all of whose ids begin with `prefix`; `title_id` has its title."""
    file = io.StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": prefix}):
        save(plot, file, format="svg", transparent=True, pad_inches=0.03, metadata={"Date": None})
    text = file.getvalue()
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups()
    body = text[text.index(">", text.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px var(--font)", body)
    # Ids are unique in a page, not in a drawing.
    body = re.sub(r'\bid="', f'id="{prefix}-', body)
    body = re.sub(r'(url\(|href=")#', rf"\1#{prefix}-", body)
    return (
        f'<svg role="img" aria-labelledby="{title_id}" aria-describedby="{title_id}-see" '
        f'viewBox="0 0 {width} {height}" style="max-width: {float(width) * MAX_SCALE:.0f}px">'
        + in_page_colours(body)
    )


def in_page_colours(svg):
    def variable(match):
        colour = match.group().lower()
        if colour not in VARIABLES:
            raise ValueError(f"a plot uses {colour}, which has no dark counterpart in the palette")
        return VARIABLES[colour]

    return re.sub(r"(?<=[ :])#[0-9a-fA-F]{6}\b", variable, svg)


def pushed_apart(wanted, heights):
    """Places as near to the wanted ones, and in their order, as texts of so much height can be."""
    places = list(wanted)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    for _ in range(ROUNDS):
        for lower, upper in itertools.pairwise(order):
            overlap = (heights[lower] + heights[upper]) / 2 - (places[upper] - places[lower])
            if overlap > 0:
                places[lower] -= overlap / 2
                places[upper] += overlap / 2
    return places


def name_lines(axes, lines):
    """Names each of `lines` in the margin, at the height of its right end or as near as there is
    room, and leads from the one to the other: nobody has to look up a legend."""
    texts = [
        axes.annotate(
            textwrap.fill(line.get_label(), MARGIN_CHARACTERS, break_long_words=False),
            xy=(1, 0.5),
            xycoords="axes fraction",
            xytext=(4 * GAP, 0),
            textcoords="offset points",
            color=line.get_color(),
            va="center",
            linespacing=1.05,
        )
        for line in lines
    ]
    # Gives the margin the width of what is in it; what is moved from now on changes nothing else.
    axes.figure.draw_without_rendering()
    axes.figure.set_layout_engine("none")
    point = axes.figure.dpi / 72
    renderer = axes.figure.canvas.get_renderer()
    places = [line.get_transform().transform(line.get_xydata()) for line in lines]
    ends = [max(each, key=lambda place: place[0]) for each in places]
    heights = [text.get_window_extent(renderer).height + point for text in texts]
    right, middle = axes.bbox.x1, (axes.bbox.y0 + axes.bbox.y1) / 2
    inverse = axes.transAxes.inverted()
    thin = {"linewidth": 0.6, "transform": axes.transAxes, "clip_on": False, "zorder": 1}
    named = pushed_apart([y for _, y in ends], heights)
    for line, text, (x, y), place in zip(lines, texts, ends, named):
        text.set_position((4 * GAP, (place - middle) / point))
        lead = [(x, y), (right + GAP * point, y), (right + 3 * GAP * point, place)]
        axes.add_artist(Line2D(*zip(*inverse.transform(lead)), color=line.get_color(), **thin))
