"""Lookups in RocksDB: with no filter, its own filters and blocksieve's."""

import math
from functools import partial

from bench.report import palette, text
from bench.report.dots import dots
from bench.report.figure import Figure, label, log_axis, plain
from bench.report.section import Highlight, Section
from bench.report.table import Table, timed
from bench.report.turns import paired, spread

TREES = (
    ("leveled", "A tree as RocksDB's default options shape it", "fill"),
    ("compacted", "The same after a full compaction", "compaction"),
)


def wasted(contestant):
    return contestant["leveled"]["cold"]["absent"]["wasted_data_blocks_per_lookup"]


def colour(contestant):
    if contestant["name"].startswith("stock"):
        return palette.ORANGE
    return palette.BLUE if contestant["name"].startswith("blocksieve") else palette.GREY


def draw_wasted(contestants, axes):
    series = [(each["name"], colour(each), [wasted(each)]) for each in contestants]
    dots(axes, [""], series, text=text.significant, x="data blocks per lookup")
    log_axis(axes.xaxis, plain)


def draw_memory(contestants, axes):
    for each, marker in zip(contestants, "ovs^DPX*"):
        bits = each["leveled"]["filter_bits_per_key"]
        axes.plot(bits, wasted(each), marker, color=colour(each), label=each["name"], markersize=7)
    log_axis(axes.yaxis, plain)
    axes.margins(y=0.2)
    left, right = axes.get_xlim()
    axes.set_xlim(left, right + 0.55 * (right - left))  # for the names of those at the right
    label(axes, x="filter bits per key", y="wasted data blocks per lookup of an absent key")


def fpr_text(counts):
    """In percent, with the half width of the 95 % confidence interval of a proportion."""
    false_positives = counts["filter_positives"] - counts["filter_true_positives"]
    probes = false_positives + counts["filter_negatives"]
    if probes == 0:
        return "-"
    if false_positives == 0:
        return f"<{100 * 3 / probes:.1g}"  # none seen: below 3 in n with 95 % confidence
    percent = 100 * false_positives / probes
    error = 1.96 * math.sqrt(percent * (100 - percent) / probes)
    decimals = min(max(1 - math.floor(math.log10(error)), 0), 9)
    return f"{percent:.{decimals}f} ± {error:.{decimals}f}"


def levels_text(tree):
    return ", ".join(
        f"L{level['level']} {level['files']} file{'s'[: level['files'] != 1]} with {level['rows']:,} rows"
        for level in tree["levels"]
    )


def reads_table(contestants, tree, caption):
    rows = [
        [
            each["name"],
            f"{each[tree]['filter_bytes'] / 1024:,.1f}",
            f"{each[tree]['filter_bits_per_key']:.2f}",
            fpr_text(each[tree]["warm"]["absent"]),
            *(
                f"{each[tree][temperature][kind]['data_blocks_per_lookup']:.4f}"
                for kind in ("absent", "present")
                for temperature in ("cold", "warm")
            ),
        ]
        for each in contestants
    ]
    headers = ["Filters", "KiB", "Bits\nper key", "Measured FPR\n%"]
    headers += [f"{kind}\nblocks\n{state}" for kind in ("Absent", "Present") for state in ("cold", "cached")]
    return Table(f"{caption}: {levels_text(contestants[0][tree])}", headers, rows)


def speed_table(contestants, tree, caption, work):
    rows = [
        [
            each["name"],
            *(
                timed(spread(each[tree][temperature][kind]["lookups_per_second"]), text.count)
                for temperature in ("cold", "warm")
                for kind in ("absent", "present")
            ),
            timed(spread(each[work + "_seconds"]), text.significant),
        ]
        for each in contestants
    ]
    headers = ["Filters"]
    headers += [f"{kind}\nper second\n{state}" for state in ("cold", "cached") for kind in ("Absent", "Present")]
    return Table(f"{caption}: speed of lookups", [*headers, f"{work.capitalize()}\nseconds"], rows)


def fewer_or_more(ours, theirs):
    """How `ours` compares with `theirs`, which is not 0."""
    percent = 100 * (ours - theirs) / theirs
    if abs(percent) < 0.05:
        return "as many as"
    return f"{abs(percent):.1f} % {'fewer' if percent < 0 else 'more'} than"


def saved(contestants):
    """One sentence of what blocksieve saved on the tree as filled, or that it saved nothing."""

    def of_role(role):
        found = [each for each in contestants if each["role"] == role]
        return min(found, key=lambda each: each["leveled"]["filter_bytes"])

    def lookups(contestant):
        return contestant["leveled"]["cold"]["absent"]

    def bytes_against(role):
        return fewer_or_more(ours["leveled"]["filter_bytes"], of_role(role)["leveled"]["filter_bytes"])

    none, ours = of_role("no_filter"), of_role("blocksieve")
    without, with_ours = (lookups(each)["data_blocks_per_lookup"] for each in (none, ours))
    speed_up = paired(lookups(ours)["lookups_per_second"], lookups(none)["lookups_per_second"])
    reads = (
        f"a lookup of an absent key read {with_ours:.3g} data blocks with {ours['name']} and {without:.3g} without "
        "a filter"
    )
    price = (
        f"for {ours['leveled']['filter_bits_per_key']:.2f} filter bits per key, {bytes_against('stock_bloom')} "
        f"stock Bloom and {bytes_against('stock_ribbon')} stock Ribbon at the same rate"
    )
    if with_ours >= without:
        return f"Nothing was saved: {reads}, {price}."
    return (
        f"Saved: {100 * (1 - with_ours / without):.1f} % of the reads: {reads}, which made such lookups "
        f"{text.times_as_fast(speed_up)} on a cold cache, {price}."
    )


def highlight(contestants):
    reads = {each["role"]: wasted(each) for each in contestants}
    stock, ours = reads["stock_default"], reads["same_memory"]
    return Highlight(
        text.times_fewer(stock, ours),
        "fewer data blocks read in vain than with stock Bloom, in the same memory",
        f"Per lookup of an absent key: {text.significant(reads['no_filter'])} without a filter, "
        f"{text.significant(stock)} with stock Bloom of 10 bits per key, {text.significant(ours)} with blocksieve.",
    )


def was_all_cached(contestants):
    return not any(
        each[tree]["warm"][kind]["data_blocks_read_per_lookup"]
        for each in contestants
        for tree, _, _ in TREES
        for kind in ("absent", "present")
    )


def section(run):
    contestants = run["contestants"]
    with_filters = [each for each in contestants if each["leveled"]["filter_bytes"] > 0]
    cold = "with direct I/O" if run["direct_reads"] else "from the page cache"
    cached = "holds them all" if was_all_cached(contestants) else "has half of the memory, too little for all"
    tables = []
    for tree, caption, work in TREES:
        tables += [reads_table(contestants, tree, caption), speed_table(contestants, tree, caption, work)]
    return Section(
        name="read_amp",
        title="Lookups in RocksDB",
        headline=saved(contestants),
        lead="Blocks: data blocks of 4 KiB that RocksDB read per lookup of an absent or a present key, as counted by "
        f"its own statistics. Cold: every block is read {cold}. Cached: from a block cache that {cached}. Filters and "
        "indexes stay in memory in both. Speeds and times are medians. FPR: of cached lookups of absent keys, ± 95 % "
        "confidence.",
        highlight=highlight(contestants),
        facts=[f"Input: {run['input']}", f"Target FPR: {100 * run['target_fpr']:g} %."],
        machine=[
            f"RocksDB {run['rocksdb']}. blocksieve's kernel: {run['kernel']}. "
            f"{run['rounds']} round{'s'[: run['rounds'] != 1]} in {run['seconds']:.0f} s.",
        ],
        tables=tables,
        figures=[
            Figure(
                "lookups-wasted",
                "Wasted data blocks per lookup of an absent key",
                "Data blocks read in vain with each set of filters, on a logarithmic scale.",
                partial(draw_wasted, contestants),
            ),
            Figure(
                "lookups-memory",
                "Wasted reads against memory",
                "The data blocks read in vain with each set of filters over the memory that it takes. Lower left is "
                "better.",
                partial(draw_memory, with_filters),
            ),
        ],
    )
