"""The report's section on the frontier between space, rate and speed."""

import math
from itertools import groupby

from bench.report import palette, text
from bench.report.figure import Figure, label, log_axis, percent
from bench.report.section import Section, Table, at_least

FAMILIES = (
    ("stock Bloom", palette.ORANGE, "s-"),
    ("stock Ribbon", palette.PINK, "s-"),
    ("blocksieve bloom", palette.GREEN, "o-"),
    ("blocksieve ribbon", palette.BLUE, "o-"),
)


def beats(ours, stock):
    return (
        ours["fpr"] <= stock["fpr"]
        and ours["bits_per_key"] < stock["bits_per_key"]
        and ours["absent_ns"] < stock["absent_ns"]
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


def draw_space(configurations):
    def draw(axes):
        for family, colour, style, points in curves(configurations):
            rates = [each["fpr"] for each in points]
            axes.plot(rates, [each["bits_per_key"] for each in points], style, color=colour, label=family)
        rates = sorted(each["fpr"] for each in configurations)
        axes.plot(rates, [limit_bits(rate) for rate in rates], "--", color=palette.TEXT, label="limit, log2(1/FPR)")
        log_axis(axes.xaxis, percent)
        axes.invert_xaxis()
        label(axes, x="false-positive rate", y="bits per key")

    return draw


def draw_speed(configurations):
    def draw(axes):
        for family, colour, style, points in curves(configurations):
            bits = [each["bits_per_key"] for each in points]
            axes.plot(bits, [each["absent_ns"] for each in points], style, color=colour, label=family)
        axes.set_ylim(0, None)
        label(axes, x="bits per key", y="ns per absent key")

    return draw


def table(keys, configurations):
    rows = []
    for stock in (each for each in configurations if not each["stock"]):
        better = winner(stock, configurations)
        asked = [each for each in configurations if each["stock"] == f"{stock['family']} {stock['setting']}"]
        for mark, each in [("", stock), *([("→ ", better)] if better else [("not better: ", each) for each in asked])]:
            rows.append(
                [
                    mark + each["family"] + (f" {each['setting']}" if each is stock else ""),
                    text.percent(each["fpr"]),
                    f"{each['bits_per_key']:.3f}",
                    f"{each['bits_per_key'] / limit_bits(each['fpr']):.3f}",
                    f"{each['absent_ns']:.1f}",
                    f"{each['build_ns']:.0f}",
                ]
            )
    return Table(
        f"Every stock configuration, and what beats it: {keys:,} keys",
        ["Filter", "FPR", "Bits\nper key", "Of the\nlimit", "Absent key,\nns", "Build,\nns per key"],
        rows,
        "After →, the smallest of blocksieve's filters that is better in rate, space and probe time at once; where "
        "there is none, those that were asked for the same rate.",
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
                "Lines: bits per key over the false-positive rate; dashed log2(1/FPR), which no filter can go below.",
                draw_space(configurations),
            ),
            Figure(
                f"frontier-probe-{keys}",
                f"Probe time over space, {keys:,} keys",
                "Lines: time of a probe of an absent key over bits per key. Lower left is better.",
                draw_speed(configurations),
            ),
        ]
    return Section(
        name="frontier",
        title="Space, rate and speed",
        lead="Every stock configuration (5, 8, 10, 12, 16 and 20 bits per key) and blocksieve's filters of no higher "
        "false-positive rate, in one run.",
        headline=f"For {beaten} of {len(stock)} stock configurations there is one of blocksieve's with no higher "
        "false-positive rate, less space and a faster probe.",
        targets=[
            at_least("stock configurations beaten in rate, space and probe time at once", beaten, len(stock))
        ],
        tables=[table(keys, configurations) for keys, configurations in sizes],
        figures=figures,
    )
