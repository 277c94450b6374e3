"""The report's section on rates by level."""

from itertools import cycle

from bench.report import palette, text
from bench.report.figure import Figure, label, log_axis, plain
from bench.report.section import Section, Table, targets_of

STYLES = (
    (palette.ORANGE, "s-"),
    (palette.PINK, "s-"),
    (palette.PURPLE, "^-"),
    (palette.GREEN, "o-"),
    (palette.BLUE, "o-"),
    (palette.GREY, "D-"),
)


def points_of(contestant):
    return sorted((point["measured"] for point in contestant["points"]), key=lambda each: each["bits_per_key"])


def draw(tree):
    def draw_curves(axes):
        for contestant, (colour, style) in zip(tree["contestants"], cycle(STYLES)):
            points = points_of(contestant)
            axes.plot(
                [each["bits_per_key"] for each in points],
                [each["wasted_reads"] for each in points],
                style,
                color=colour,
                label=contestant["name"],
            )
        log_axis(axes.yaxis, plain)
        label(axes, x="filter bits per key", y="wasted data blocks per lookup of an absent key")

    return draw_curves


def table(tree):
    rows = []
    for contestant in tree["contestants"]:
        for point in contestant["points"]:
            measured = point["measured"]
            rows.append(
                [
                    contestant["name"],
                    text.significant(measured["bits_per_key"], 4),
                    text.significant(measured["wasted_reads"]),
                    text.significant(measured["optimum"]),
                    str(len(measured["runs"])),
                    point["policy"],
                ]
            )
    return Table(
        f"Wasted reads over memory: {tree['name']}",
        ["Filters", "Bits\nper key", "Wasted\nreads", "Least with\nribbons", "Runs", "Policy"],
        rows,
        "Per lookup of an absent key. Least: computed for ribbons in as many bytes, for these runs, as if every "
        "lookup asked all of them; of levels that have just begun only some do.",
    )


def section(run):
    return Section(
        name="levels",
        title="Rates by level",
        lead=f"Data blocks that RocksDB reads in vain per lookup of an absent key, over filter memory: trees of "
        f"{run['keys']:,} keys that compactions built, {run['lookups']:,} lookups each.",
        targets=targets_of(run),
        tables=[table(tree) for tree in run["trees"]],
        figures=[
            Figure(
                f"levels-{number}",
                f"Wasted reads against memory: {tree['name']}",
                "Lines: data blocks read in vain over bits per key, by contestant. Lower left is better.",
                draw(tree),
            )
            for number, tree in enumerate(run["trees"], 1)
        ],
    )
