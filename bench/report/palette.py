"""The colours of the page, for light and dark. Figures are drawn with the light ones, which the page
replaces by CSS variables (svg.py), so that one drawing serves both."""

from typing import NamedTuple


class Colour(NamedTuple):
    light: str
    dark: str


# By the name of the CSS variable. All light values differ: they stand for the name in a drawing.
COLOURS = {
    "text": Colour("#1c2430", "#e7ebf1"),
    "muted": Colour("#56606f", "#a9b3c1"),
    "line": Colour("#d5dae2", "#3b4554"),
    "surface": Colour("#f4f6f9", "#1d242e"),
    "page": Colour("#ffffff", "#141a22"),
    "link": Colour("#0b5cad", "#7cb8ff"),
    "met": Colour("#146c3c", "#6fd39a"),
    "missed": Colour("#b3261e", "#ff9a90"),
    "series-1": Colour("#1264b3", "#66b0ff"),
    "series-2": Colour("#b84f08", "#ffa25c"),
    "series-3": Colour("#127a5e", "#52d6b0"),
    "series-4": Colour("#7a45b8", "#c79bff"),
    "series-5": Colour("#a8326e", "#ff8fc2"),
    "series-6": Colour("#6b7480", "#98a3b1"),
}

TEXT = COLOURS["text"].light
MUTED = COLOURS["muted"].light
LINE = COLOURS["line"].light
BLUE, ORANGE, GREEN, PURPLE, PINK, GREY = (COLOURS[f"series-{i}"].light for i in range(1, 7))


def css_variables(theme):
    """`theme` is "light" or "dark"."""
    return " ".join(f"--{name}: {getattr(colour, theme)};" for name, colour in COLOURS.items())
