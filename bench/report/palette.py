"""The colours of the page, for light and dark. Plots are drawn with the light ones, which the page
replaces by CSS variables (svg.py), so that one drawing serves both."""

# By the name of the CSS variable: light, dark. All light values differ: they stand for the name in
# a drawing. Each is legible on the page and on a surface.
COLOURS = {
    "text": ("#1c2430", "#e7ebf1"),
    "muted": ("#56606f", "#a9b3c1"),
    "line": ("#d5dae2", "#3b4554"),
    "surface": ("#f4f6f9", "#1d242e"),
    "page": ("#ffffff", "#141a22"),
    "link": ("#0b5cad", "#7cb8ff"),
    "met": ("#146c3c", "#6fd39a"),
    "missed": ("#b3261e", "#ff9a90"),
    "blue": ("#1264b3", "#66b0ff"),
    "orange": ("#b84f08", "#ffa25c"),
    "green": ("#127a5e", "#52d6b0"),
    "purple": ("#7a45b8", "#c79bff"),
    "pink": ("#a8326e", "#ff8fc2"),
    "grey": ("#6b7480", "#98a3b1"),
}
LIGHT = {name: light for name, (light, _) in COLOURS.items()}
SERIES = ("blue", "orange", "green", "purple", "pink", "grey")

# Contestants look alike in all plots.
CONTESTANTS = {
    "no filter": "grey o-",
    "stock Bloom": "orange s-",
    "stock Ribbon": "pink s-",
    "blocksieve bloom": "green o-",
    "blocksieve ribbon": "blue o-",
    "limit": "text --",
}


def css_variables(theme):
    """`theme` is 0 for light and 1 for dark."""
    return " ".join(f"--{name}: {colours[theme]};" for name, colours in COLOURS.items())
