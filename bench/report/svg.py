"""A figure as SVG to stand in an HTML page: with the page's colours, light or dark, and text that is
text."""

import io
import re

import matplotlib
from matplotlib import pyplot

from bench.report import figure as figures
from bench.report import palette

MAX_SCALE = 1.45  # pixels per unit; at 1, texts have 10 pixels
VARIABLES = {colour.light: f"var(--{name})" for name, colour in palette.COLOURS.items()}


def in_page_colours(svg):
    def variable(match):
        colour = match.group().lower()
        if colour not in VARIABLES:
            raise ValueError(f"a figure uses {colour}, which is not in the palette: it has no dark counterpart")
        return VARIABLES[colour]

    return re.sub(r"(?<=[ :])#[0-9a-fA-F]{6}\b", variable, svg)


def with_own_names(svg, prefix):
    """Names are unique in a page, not in a drawing."""
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    return re.sub(r'(url\(|href=")#', rf"\1#{prefix}-", svg)


def inline_svg(figure, prefix, title_id):
    """The element <svg>, all of whose names begin with `prefix`; `title_id` is the element with its
    title."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix, "font.family": "sans-serif"}):
        canvas = figures.drawn(figure)
        file = io.StringIO()
        canvas.savefig(
            file, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.03, metadata={"Date": None}
        )
        pyplot.close(canvas)
    text = file.getvalue()
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups()
    body = text[text.index(">", text.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px var(--font)", body)
    return (
        f'<svg role="img" aria-labelledby="{title_id}" aria-describedby="{title_id}-alt" '
        f'viewBox="0 0 {width} {height}" style="max-width: {float(width) * MAX_SCALE:.0f}px">'
        + with_own_names(in_page_colours(body), prefix)
    )
