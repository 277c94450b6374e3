"""Space above the least possible, and memory while building."""

import math
from functools import partial

from bench.report import palette, text
from bench.report.figure import Figure, label, line, log_axis, plain
from bench.report.section import Highlight, Section, at_most
from bench.report.table import Table

SHOWN_RATES = (2**-4, 2**-8, 0.01, 2**-16)
COLOURS = (palette.ORANGE, palette.BLUE, palette.GREEN, palette.PURPLE)


def of_kind(run, kind):
    return [each for each in run["space"] if each["kind"] == kind]


def draw(measurements, axes):
    for rate, colour in zip(SHOWN_RATES, COLOURS):
        points = [each for each in measurements if each["target_fpr"] == rate]
        line(axes, points, "keys", "over_limit", "o-", colour, f"FPR {text.percent(rate)}")
    axes.axhline(1, linestyle="--", color=palette.TEXT, label="limit")
    log_axis(axes.xaxis)
    axes.yaxis.set_major_formatter(plain)
    label(axes, x="keys", y="bits per key, of log2(1/FPR)")


def table(kind, measurements):
    sizes = sorted({each["keys"] for each in measurements})
    by_cell = {(each["target_fpr"], each["keys"]): each for each in measurements}
    rates = list(dict.fromkeys(each["target_fpr"] for each in measurements))
    rows = [[text.percent(rate)] + [f"{by_cell[rate, size]['over_limit']:.4f}" for size in sizes] for rate in rates]
    return Table(
        f"{kind}: bits per key over log2(1 / measured FPR)", ["Target FPR", *(f"{size:,} keys" for size in sizes)], rows
    )


def memory_table(run):
    return Table.of(
        "Memory while building, beyond the finished filter, at 1 %",
        run["build_memory"],
        [
            ("Filter", lambda each: each["kind"]),
            ("Keys", lambda each: text.count(each["keys"])),
            ("Resident bytes\nper key", lambda each: f"{each['bytes_per_key']:.2f}"),
        ],
    )


def most_over_limit(keys, rate):
    """What a ribbon may take, of the least possible space; None: no target. Powers of two are whole columns; at other
    rates some keys have a column more than others."""
    if keys >= 100_000:
        if not math.log2(rate).is_integer():
            return 1.025
        return 1.012 if rate > 2**-5 else 1.006
    if rate == 2**-8:
        return {10_000: 1.012, 3_000: 1.018, 1_000: 1.04, 300: 1.10, 100: 1.35}.get(keys)
    return None


def targets(run):
    for each in of_kind(run, "ribbon"):
        limit = most_over_limit(each["keys"], each["target_fpr"])
        what = f"ribbon, space of the limit: {each['keys']:,} keys, {text.percent(each['target_fpr'])}"
        if limit:
            yield at_most(what, each["over_limit"], limit)
    for each in run["build_memory"]:
        what = f"ribbon, bytes per key while building, beyond the filter: {each['keys']:,} keys"
        if each["kind"] == "ribbon" and each["keys"] == 10_000_000:
            yield at_most(what, each["bytes_per_key"], 10.5)


def highlight(run):
    """Of the largest ribbon of whole columns: at other rates a part of the keys have one more."""
    ribbons = [each for each in of_kind(run, "ribbon") if each["target_fpr"] == 2**-8]
    largest = max(ribbons, key=lambda each: each["keys"])
    return Highlight(
        text.percent(largest["over_limit"] - 1, 2),
        "above the least space that a filter of that rate can take",
        f"{largest['bits_per_key']:.3f} bits per key for a rate of {text.percent(largest['fpr'])}, a ribbon of "
        f"{text.count(largest['keys'])} keys.",
    )


def section(run):
    kinds = list(dict.fromkeys(each["kind"] for each in run["space"]))
    return Section(
        name="space",
        title="Space above the limit",
        lead="Bits per key, all bytes of the block counted, over log2(1 / measured FPR), which no filter can go below; "
        "by rate and number of keys.",
        highlight=highlight(run),
        targets=list(targets(run)),
        tables=[*(table(kind, of_kind(run, kind)) for kind in kinds), memory_table(run)],
        figures=[
            Figure(
                f"space-{kind}",
                f"Space of {kind} filters, of the limit",
                "How many times the least possible space a filter takes, over the number of its keys.",
                partial(draw, of_kind(run, kind)),
            )
            for kind in kinds
        ],
    )
