"""The report's section on filters alone."""

from bench.filter_bench.ratios import RATIOS, SIZES, medians, ratio
from bench.report import palette, text
from bench.report.figure import Figure, label, log_axis, plain
from bench.report.section import Section, Table, Target

FILTERS = (
    ("stock_ribbon", "stock Ribbon", palette.PINK, "s-"),
    ("stock_bloom", "stock Bloom", palette.ORANGE, "s-"),
    ("blocksieve_ribbon", "blocksieve ribbon", palette.BLUE, "o-"),
    ("blocksieve_bloom", "blocksieve bloom", palette.GREEN, "o-"),
)
HASH_AND_LINE = ("limit_hash_line", "hash + one cache line", palette.TEXT, "--")


def draw_times(nanoseconds, what, series):
    def draw(axes):
        for name, title, colour, style in series:
            sizes = [size for size in SIZES if f"{what}/{name}/{size}" in nanoseconds]
            times = [nanoseconds[f"{what}/{name}/{size}"] for size in sizes]
            axes.plot(sizes, times, style, color=colour, label=title)
        log_axis(axes.xaxis)
        log_axis(axes.yaxis, plain)
        label(axes, x="keys", y="ns per key")

    return draw


def sizes_of(measured):
    return [size for size in SIZES if any(name.endswith(f"/{size}") for name in measured)]


def headers(first, sizes):
    return [first, *(f"{size:,} keys" for size in sizes)]


def time_table(nanoseconds):
    sizes = sizes_of(nanoseconds)
    rows = []
    for name in sorted({name.rsplit("/", 1)[0] for name in nanoseconds}):
        times = [nanoseconds.get(f"{name}/{size}") for size in sizes]
        what = name.replace("/", ": ").replace("_", " ")
        rows.append([what] + ["" if time is None else f"{time:.2f}" for time in times])
    return Table("Times, ns per key", headers("What", sizes), rows)


def space_table(bits_per_key, fpr):
    sizes = sizes_of(bits_per_key)
    rows = []
    for name, title, _, _ in FILTERS:
        cells = [f"absent/{name}/{size}" for size in sizes]
        rows.append(
            [title]
            + [
                f"{bits_per_key[cell]:.3f} ({text.percent(fpr[cell])})" if cell in bits_per_key else ""
                for cell in cells
            ]
        )
    return Table("Bits per key (measured FPR)", headers("Filter", sizes), rows)


def targets(nanoseconds):
    found = []
    for title, above, below, limits in RATIOS:
        for size, limit in zip(SIZES, limits):
            measured = ratio(nanoseconds, above, below, size)
            if limit is not None and measured is not None:
                what = f"{title}: {size:,} keys"
                found.append(Target(what, f"≤ {limit:g} x", f"{measured:.3g} x", measured <= limit))
    return found


def section(run):
    by_counter = medians(run)
    nanoseconds = by_counter["ns_per_key"]
    bits_per_key = by_counter.get("bits_per_key", {})
    tables = [time_table(nanoseconds)]
    if bits_per_key:
        tables.insert(0, space_table(bits_per_key, by_counter["fpr"]))
    figures = [
        Figure(
            "filters-absent",
            "Probe of an absent key, against the limit",
            "Lines: time of a probe over the number of keys; dashed the limit, hashing and reading one cache line.",
            draw_times(nanoseconds, "absent", (*FILTERS, HASH_AND_LINE)),
        ),
        Figure(
            "filters-build",
            "Building a filter",
            "Lines: time per key to build a filter over the number of keys.",
            draw_times(nanoseconds, "build", FILTERS),
        ),
    ]
    # --benchmark_filter may have left one of them out.
    measured = {name.split("/")[0] for name in nanoseconds}
    return Section(
        name="filters",
        title="Filters alone",
        lead="Building and probing single filters of 16-byte keys, through the interface by which RocksDB does it. "
        "blocksieve's filters are asked for the FPR that stock Bloom of 10 bits per key turns out to have.",
        facts=["Medians of interleaved repetitions. No filter can be faster than hashing the key and reading a line."],
        targets=targets(nanoseconds),
        tables=tables,
        figures=[figure for figure in figures if figure.name.split("-")[1] in measured],
    )
