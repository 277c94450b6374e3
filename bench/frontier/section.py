"""The report's section on the frontier between space, rate and speed."""

import math
from functools import partial
from itertools import groupby

from bench.report import palette, text
from bench.report.figure import Figure, label, line, log_axis, percent
from bench.report.section import Highlight, Section, at_least
from bench.report.table import Table, timed
from bench.report.turns import paired, spread

FAMILIES = (
    ("stock Bloom", palette.ORANGE, "s-"),
    ("stock Ribbon", palette.PINK, "s-"),
    ("blocksieve bloom", palette.GREEN, "o-"),
    ("blocksieve ribbon", palette.BLUE, "o-"),
)


def beats(ours, stock):
    speed_up = paired(stock["absent_ns"], ours["absent_ns"])
    return (
        ours["fpr"] <= stock["fpr"]
        and ours["bits_per_key"] < stock["bits_per_key"]
        and speed_up.median > 1
        and speed_up.is_beyond(1)
    )


def winner(stock, configurations):
    """The smallest of ours that is better in everything; None if nothing is."""
    winners = [c for c in configurations if c["stock"] and beats(c, stock)]
    return min(winners, key=lambda c: c["bits_per_key"], default=None)


def limit_bits(fpr):
    return math.log2(1 / fpr)


def curves(configurations):
    """(family, colour, style, configurations by their space)"""
    for family, colour, style in FAMILIES:
        points = [each for each in configurations if each["family"] == family]
        yield family, colour, style, sorted(points, key=lambda each: each["bits_per_key"])


def draw_space(configurations, axes):
    for family, colour, style, points in curves(configurations):
        line(axes, points, "fpr", "bits_per_key", style, colour, family)
    rates = sorted(each["fpr"] for each in configurations)
    axes.plot(rates, [limit_bits(rate) for rate in rates], "--", color=palette.TEXT, label="limit, log2(1/FPR)")
    log_axis(axes.xaxis, percent)
    axes.invert_xaxis()
    label(axes, x="false-positive rate", y="bits per key")


def draw_speed(configurations, axes):
    for family, colour, style, points in curves(configurations):
        points = [{**each, "absent_ns": spread(each["absent_ns"])} for each in points]
        line(axes, points, "bits_per_key", "absent_ns", style, colour, family)
    axes.set_ylim(0, None)
    label(axes, x="bits per key", y="ns per absent key")


def table(keys, configurations):
    rows = []  # (name, configuration)
    for stock in (each for each in configurations if not each["stock"]):
        name = f"{stock['family']} {stock['setting']}"
        better = winner(stock, configurations)
        asked = [("not better: ", each) for each in configurations if each["stock"] == name]
        rows.append((name, stock))
        rows += [(mark + each["family"], each) for mark, each in ([("→ ", better)] if better else asked)]
    return Table.of(
        f"Every stock configuration, and what beats it: {keys:,} keys",
        rows,
        [
            ("Filter", lambda row: row[0]),
            ("FPR", lambda row: text.percent(row[1]["fpr"])),
            ("Bits\nper key", lambda row: f"{row[1]['bits_per_key']:.3f}"),
            ("Of the\nlimit", lambda row: f"{row[1]['bits_per_key'] / limit_bits(row[1]['fpr']):.3f}"),
            ("Absent key,\nns", lambda row: timed(spread(row[1]["absent_ns"]), text.significant)),
            ("Build,\nns per key", lambda row: timed(spread(row[1]["build_ns"]), text.significant)),
        ],
        "After →, the smallest of blocksieve's filters that is better in rate, space and probe time at once, in time "
        "beyond the noise; where there is none, those that were asked for the same rate.",
    )


def section(run):
    sizes = [(keys, list(group)) for keys, group in groupby(run, key=lambda each: each["keys"])]
    stock = [(each, group) for _, group in sizes for each in group if not each["stock"]]
    beaten = sum(winner(each, group) is not None for each, group in stock)
    figures = []
    for keys, configurations in sizes:
        figures += [
            Figure(
                f"frontier-space-{keys}",
                f"Space against the limit, {keys:,} keys",
                "Bits per key over the false-positive rate. Dashed: log2(1/FPR), which no filter can go below.",
                partial(draw_space, configurations),
            ),
            Figure(
                f"frontier-probe-{keys}",
                f"Probe time over space, {keys:,} keys",
                "Time of a probe of an absent key over bits per key. Lower left is better.",
                partial(draw_speed, configurations),
            ),
        ]
    return Section(
        name="frontier",
        title="Space, rate and speed",
        lead="Every stock configuration (5, 8, 10, 12, 16 and 20 bits per key) and blocksieve's filters of no higher "
        "false-positive rate, in one run.",
        highlight=Highlight(
            f"{beaten} of {len(stock)}",
            "stock configurations beaten in rate, space and probe time at once",
            "Stock Bloom and Ribbon of 5 to 20 bits per key, each against the filters of blocksieve in the same run.",
        ),
        headline=f"For {beaten} of {len(stock)} stock configurations there is one of blocksieve's with no higher "
        "false-positive rate, less space and a faster probe.",
        targets=[at_least("stock configurations beaten in rate, space and probe time at once", beaten, len(stock))],
        tables=[table(keys, configurations) for keys, configurations in sizes],
        figures=figures,
    )
