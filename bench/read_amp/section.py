"""The report's section on lookups in RocksDB."""

from bench.report import palette, text
from bench.report.figure import Figure, bars, label, log_axis, plain
from bench.report.section import Section, Table


def wasted(contestant):
    return contestant["leveled"]["cold"]["absent"]["wasted_data_blocks_per_lookup"]


def colour(contestant):
    if contestant["name"].startswith("stock"):
        return palette.ORANGE
    return palette.BLUE if contestant["name"].startswith("blocksieve") else palette.GREY


def draw_wasted(contestants):
    def draw(axes):
        names = [contestant["name"] for contestant in contestants]
        values = [wasted(contestant) for contestant in contestants]
        colours = [colour(contestant) for contestant in contestants]
        bars(axes, names, [("", colours, values)], text=text.significant, x="data blocks per lookup")
        log_axis(axes.xaxis, plain)
        axes.set_xlim(min(values) / 3, max(values) * 6)

    return draw


def draw_memory(contestants):
    def draw(axes):
        for each, marker in zip(contestants, "ovs^DPX*"):
            axes.plot(
                each["leveled"]["filter_bits_per_key"],
                wasted(each),
                marker,
                color=colour(each),
                label=each["name"],
                markersize=7,
            )
        log_axis(axes.yaxis, plain)
        axes.margins(x=0.1, y=0.2)
        label(axes, x="filter bits per key", y="wasted data blocks per lookup of an absent key")

    return draw


def table(contestants):
    rows = []
    for each in contestants:
        cold = each["leveled"]["cold"]
        fpr = each["leveled"]["measured_fpr"]
        rows.append(
            [
                each["name"],
                text.significant(each["leveled"]["filter_bits_per_key"]),
                "none" if fpr is None else text.percent(fpr),
                text.significant(wasted(each)),
                text.significant(each["compacted"]["cold"]["absent"]["wasted_data_blocks_per_lookup"]),
                text.significant(cold["present"]["data_blocks_per_lookup"]),
                text.count(cold["absent"]["lookups_per_second_median"]),
                text.count(each["leveled"]["warm"]["absent"]["lookups_per_second_median"]),
                text.significant(each["fill_seconds_median"]),
            ]
        )
    return Table(
        "Lookups, nothing cached",
        [
            "Filters",
            "Bits\nper key",
            "Measured\nFPR",
            "Wasted blocks\nper absent key",
            "The same,\ncompacted",
            "Blocks per\npresent key",
            "Absent lookups\nper second",
            "The same,\ncached",
            "Seconds\nto fill",
        ],
        rows,
        "Per lookup, in a tree of several levels unless it says compacted. Times are medians.",
    )


def section(run):
    contestants = run["contestants"]
    with_filters = [each for each in contestants if each["leveled"]["filter_bits_per_key"] > 0]
    return Section(
        name="read_amp",
        title="Lookups in RocksDB",
        lead="Data blocks that RocksDB reads to look keys up, with no filter, its own filters and blocksieve's, "
        "counted by its own statistics.",
        facts=[run["saved"], f"Input: {run['input']}"],
        tables=[table(contestants)],
        figures=[
            Figure(
                "lookups-wasted",
                "Wasted data blocks per lookup of an absent key",
                "Bars, on a logarithmic scale: data blocks read in vain with each set-up of the filters.",
                draw_wasted(contestants),
            ),
            Figure(
                "lookups-memory",
                "Wasted reads against memory",
                "Dots: each set-up's filter memory and the data blocks read in vain. Lower left is better.",
                draw_memory(with_filters),
            ),
        ],
    )
