"""Rates by level: wasted reads over filter memory."""

import math
from functools import partial
from itertools import cycle

from bench.report import palette, text
from bench.report.figure import Figure, label, line, log_axis, plain
from bench.report.section import Highlight, Section, at_most, at_most_one_in
from bench.report.table import Table

STYLES = (
    (palette.ORANGE, "s-"),
    (palette.PINK, "s-"),
    (palette.PURPLE, "^-"),
    (palette.GREEN, "o-"),
    (palette.BLUE, "o-"),
    (palette.GREY, "D-"),
)
COMPARED_BITS = 10  # RocksDB's usual setting
STOCK_BLOOM, STOCK_RIBBON, BY_LEVEL = "stock Bloom", "stock Ribbon", "blocksieve ribbon, by level"
SHOWN_RUNS = (STOCK_BLOOM, BY_LEVEL, "blocksieve auto, by level")


def points_of(tree, name):
    """What was measured, by ascending memory."""
    contestant = next(each for each in tree["contestants"] if each["name"] == name)
    return sorted((point["measured"] for point in contestant["points"]), key=lambda each: each["bits_per_key"])


def at_compared_bits(tree, name):
    contestant = next(each for each in tree["contestants"] if each["name"] == name)
    return next(point["measured"] for point in contestant["points"] if point["asked_bits"] == COMPARED_BITS)


def neighbours(points, is_before):
    """Two points next to each other: those around the place where `is_before` ends, or the two at that end."""
    after = next((i for i, point in enumerate(points) if not is_before(point)), len(points))
    i = min(max(after, 1), len(points) - 1)
    return points[i - 1], points[i]


def interpolate(x0, y0, x1, y1, x):
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def wasted_reads_at(tree, name, bits):
    """On the line through the two nearest points, wasted reads on a logarithmic scale."""
    a, b = neighbours(points_of(tree, name), lambda each: each["bits_per_key"] < bits)
    logs = math.log(a["wasted_reads"]), math.log(b["wasted_reads"])
    return math.exp(interpolate(a["bits_per_key"], logs[0], b["bits_per_key"], logs[1], bits))


def bits_at(tree, name, reads):
    a, b = neighbours(points_of(tree, name), lambda each: each["wasted_reads"] > reads)
    logs = math.log(a["wasted_reads"]), math.log(b["wasted_reads"])
    return interpolate(logs[0], a["bits_per_key"], logs[1], b["bits_per_key"], math.log(reads))


def draw(tree, axes):
    for contestant, (colour, style) in zip(tree["contestants"], cycle(STYLES)):
        name = contestant["name"]
        line(axes, points_of(tree, name), "bits_per_key", "wasted_reads", style, colour, name)
    log_axis(axes.yaxis, plain)
    label(axes, x="filter bits per key", y="wasted data blocks per lookup of an absent key")


def curve_table(tree):
    def row(name, measured):
        bits, reads = measured["bits_per_key"], measured["wasted_reads"]
        return [
            name,
            f"{bits:.3f}",
            f"{reads:.5f}",
            f"{reads / wasted_reads_at(tree, STOCK_BLOOM, bits):.4f}",
            f"{reads / wasted_reads_at(tree, STOCK_RIBBON, bits):.3f}",
            f"{reads / measured['optimum']:.3f}",
            str(len(measured["runs"])),
        ]

    rows = [
        row(f"{contestant['name']}, {point['asked_bits']:g} bits", point["measured"])
        for contestant in tree["contestants"]
        for point in contestant["points"]
    ]
    rows.append(row(f"by level, reopened, {tree['flushes_after_reopening']} flushes later", tree["after_reopening"]))
    rows.append(row("by level, asked for stock Bloom 10's reads", tree["asked_for_reads"]["measured"]))
    return Table(
        f"Wasted reads over memory: {tree['name']}",
        ["Filters", "Bits\nper key", "Wasted\nreads", "/ stock\nBloom's", "/ stock\nRibbon's", "/ the\nleast", "Runs"],
        rows,
        "Per lookup of an absent key. / stock filters': at equal memory, on the line through their nearest "
        "settings. Least: computed for ribbons in as many bytes and for these runs, as if every lookup asked all of "
        "them; of levels that have just begun only some do.",
    )


def run_table(tree):
    """The filters of each run: where the memory goes. Compactions depend on the sizes of files, filters
    included, so not every tree has every level."""
    rows = {}  # by level, and by place in it
    for name in SHOWN_RUNS:
        places = {}
        for run in at_compared_bits(tree, name)["runs"]:
            place = places[run["level"]] = places.get(run["level"], -1) + 1
            rows.setdefault((run["level"], place), {})[name] = [
                text.count(run["keys"]),
                f"{8 * run['filter_bytes'] / run['keys']:.2f}",
            ]
    return Table(
        f"Filters of each sorted run: {tree['name']}",
        ["Sorted run"]
        + [
            header
            for name in ("Stock Bloom 10", "By level", "By level, auto")
            for header in (f"{name}:\nkeys", "\nbits per key")
        ],
        [
            [f"level {level}", *(cell for name in SHOWN_RUNS for cell in runs.get(name, ["-", "-"]))]
            for (level, _), runs in sorted(rows.items())
        ],
    )


def targets(tree):
    bloom = at_compared_bits(tree, STOCK_BLOOM)
    by_level = at_compared_bits(tree, BY_LEVEL)
    bits = bloom["bits_per_key"]
    reads = wasted_reads_at(tree, BY_LEVEL, bits)

    def target(what, figure, limit):
        return at_most(f"{tree['name']}: {what}", figure, limit, " x")

    def against(name):
        return reads / wasted_reads_at(tree, name, bits)

    return [
        at_most_one_in(
            f"{tree['name']}: wasted reads, same bytes as stock Bloom 10", reads / bloom["wasted_reads"], 20
        ),
        target("the same against stock Ribbon", against(STOCK_RIBBON), 0.40),
        target("the same against stock Ribbon with Bloom on level 0", against("stock Ribbon, Bloom on level 0"), 0.40),
        target(
            "the same against one rate on all levels", against("blocksieve ribbon, same rate on all levels"), 0.50
        ),
        target("against the least for the actual sizes", by_level["wasted_reads"] / by_level["optimum"], 1.05),
        target(
            f"the same, reopened, {tree['flushes_after_reopening']} flushes later",
            tree["after_reopening"]["wasted_reads"] / tree["after_reopening"]["optimum"],
            1.10,
        ),
        target("memory for stock Bloom 10's wasted reads", bits_at(tree, BY_LEVEL, bloom["wasted_reads"]) / bits, 0.60),
    ]


def highlight(tree):
    bloom = at_compared_bits(tree, STOCK_BLOOM)
    ours = wasted_reads_at(tree, BY_LEVEL, bloom["bits_per_key"])
    return Highlight(
        text.times_fewer(bloom["wasted_reads"], ours),
        "fewer wasted reads than with stock Bloom, in the same memory",
        f"{text.significant(bloom['wasted_reads'])} data blocks per lookup of an absent key with stock Bloom of "
        f"{COMPARED_BITS} bits, {text.significant(ours)} with rates by level; {tree['name']}.",
    )


def section(run):
    trees = run["trees"]
    return Section(
        name="levels",
        title="Rates by level",
        lead="Wasted reads: data blocks that RocksDB reads in vain per lookup of an absent key, as counted by its own "
        f"statistics over {run['lookups']:,} lookups. Trees of {run['keys']:,} keys written in random order, left "
        "alone after each flush until there was nothing more to compact.",
        highlight=highlight(trees[0]),
        machine=[f"RocksDB {run['rocksdb']}. {run['seconds']:.0f} s."],
        targets=[target for tree in trees for target in targets(tree)],
        tables=[table for tree in trees for table in (curve_table(tree), run_table(tree))],
        figures=[
            Figure(
                f"levels-{number}",
                f"Wasted reads against memory: {tree['name']}",
                "Data blocks read in vain over filter bits per key, by contestant. Lower left is better.",
                partial(draw, tree),
            )
            for number, tree in enumerate(trees, 1)
        ],
    )
