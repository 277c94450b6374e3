"""Filters alone: times, bits per key, and ratios against stock RocksDB and the limits."""

from collections import defaultdict
from functools import partial
from statistics import median

from bench.report import palette, text
from bench.report.figure import Figure, label, line, log_axis, plain
from bench.report.jobs import ReportError
from bench.report.section import Highlight, Section, at_most
from bench.report.table import Table, compared, timed
from bench.report.turns import quotient, spread

SIZES = (10_000, 1_000_000, 10_000_000)

NONE = (None,) * 3

# What is compared: title, numerator, denominator, and the targets at each size (None: none set), against Debian's
# RocksDB and against one that may use the whole processor.
RATIOS = [
    ("absent key, against stock Bloom 10", "absent/blocksieve_bloom", "absent/stock_bloom",
     (0.40, 0.40, 0.70), (0.80, 0.75, 0.65)),
    ("present key, against stock Bloom 10", "present/blocksieve_bloom", "present/stock_bloom", NONE, NONE),
    ("batch of 32, against stock Bloom 10", "batch32/blocksieve_bloom", "batch32/stock_bloom",
     (0.50,) * 3, (0.60,) * 3),
    ("batch of 8, against stock Bloom 10", "batch8/blocksieve_bloom", "batch8/stock_bloom", NONE, NONE),
    ("batch of 4, against stock Bloom 10", "batch4/blocksieve_bloom", "batch4/stock_bloom", NONE, NONE),
    ("build, against stock Bloom 10", "build/blocksieve_bloom", "build/stock_bloom",
     (0.60,) * 3, (0.45, 0.40, 0.45)),
    ("absent key, against hash + one line", "absent/blocksieve_bloom", "absent/limit_hash_line",
     (1.35,) * 3, (1.35,) * 3),
    ("raw probe AVX-512, against one line", "raw/blocksieve_bloom_avx512", "raw/limit_line",
     (1.2, 1.2, None), (1.2, 1.2, None)),
    ("raw probe AVX2, against one line", "raw/blocksieve_bloom_avx2", "raw/limit_line",
     (1.2, 1.2, None), (1.2, 1.2, None)),
    ("raw probe scalar, against one line", "raw/blocksieve_bloom_scalar", "raw/limit_line", NONE, NONE),
    ("ribbon: absent, against stock Bloom 10", "absent/blocksieve_ribbon", "absent/stock_bloom",
     (0.55, 0.55, 0.85), (1.4, 1.1, 0.65)),
    ("ribbon: absent, against stock Ribbon", "absent/blocksieve_ribbon", "absent/stock_ribbon", (0.30,) * 3, NONE),
    ("ribbon: batch of 32, against stock Bloom 10", "batch32/blocksieve_ribbon", "batch32/stock_bloom",
     (0.55,) * 3, (0.95, 0.80, 0.65)),
    ("ribbon: batch of 8, against stock Bloom 10", "batch8/blocksieve_ribbon", "batch8/stock_bloom", NONE, NONE),
    ("ribbon: batch of 4, against stock Bloom 10", "batch4/blocksieve_ribbon", "batch4/stock_bloom", NONE, NONE),
    ("ribbon: build, against stock Ribbon", "build/blocksieve_ribbon", "build/stock_ribbon",
     (0.70, 0.40, 0.25), (0.45, 0.16, 0.14)),
    ("ribbon: raw AVX-512, against one line", "raw/blocksieve_ribbon_avx512", "raw/limit_line",
     (None, 4.0, None), (None, 4.0, None)),
    ("ribbon: raw AVX2, against AVX-512", "raw/blocksieve_ribbon_avx2", "raw/blocksieve_ribbon_avx512",
     (1.35,) * 3, (1.35,) * 3),
]
FILTERS = (
    ("stock_ribbon", "stock Ribbon", palette.PINK, "s-"),
    ("stock_bloom", "stock Bloom", palette.ORANGE, "s-"),
    ("blocksieve_ribbon", "blocksieve ribbon", palette.BLUE, "o-"),
    ("blocksieve_bloom", "blocksieve bloom", palette.GREEN, "o-"),
)
HASH_AND_LINE = ("limit_hash_line", "hash + one cache line", palette.TEXT, "--")


def samples_of(report):
    """Counter name -> benchmark name -> figures of repetitions."""
    samples = defaultdict(lambda: defaultdict(list))
    for run in report["benchmarks"]:
        if run.get("error_occurred"):
            raise ReportError(f"{run['name']}: {run['error_message']}")
        if run["run_type"] != "iteration":
            continue
        for counter in ("ns_per_key", "bits_per_key", "fpr"):
            if counter in run:
                samples[counter][run["run_name"].split("/repeats:")[0]].append(run[counter])
    return samples


def ratio(nanoseconds, above, below, size):
    """None if one of them was not measured. Repetitions are interleaved at random: none has a partner."""
    times = nanoseconds.get(f"{above}/{size}"), nanoseconds.get(f"{below}/{size}")
    return None if None in times else quotient(*times)


def draw_times(nanoseconds, what, series, axes):
    for name, title, colour, style in series:
        measured = [(size, f"{what}/{name}/{size}") for size in SIZES]
        points = [(size, spread(nanoseconds[cell])) for size, cell in measured if cell in nanoseconds]
        line(axes, points, 0, 1, style, colour, title)
    log_axis(axes.xaxis)
    log_axis(axes.yaxis, plain)
    label(axes, x="keys", y="ns per key")


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
        rows.append([what] + ["" if time is None else timed(spread(time), text.significant) for time in times])
    return Table("Times, ns per key", headers("What", sizes), rows)


def space_table(bits_per_key, fpr):
    def measured(cell):
        return f"{median(bits_per_key[cell]):.3f} ({text.percent(median(fpr[cell]))})"

    sizes = sizes_of(bits_per_key)
    rows = []
    for name, title, _, _ in FILTERS:
        cells = [f"absent/{name}/{size}" for size in sizes]
        rows.append([title] + [measured(cell) if cell in bits_per_key else "" for cell in cells])
    return Table("Bits per key (measured FPR)", headers("Filter", sizes), rows)


def ratio_table(nanoseconds):
    sizes = sizes_of(nanoseconds)
    rows = []
    for title, above, below, *_ in RATIOS:
        ratios = [ratio(nanoseconds, above, below, size) for size in sizes]
        if any(ratios):
            rows.append([title] + ["" if each is None else compared(each, text.significant) for each in ratios])
    return Table("Ratios of times", headers("What", sizes), rows)


def is_debians(report):
    """Whose filters use no AVX2; results that do not say what they were measured with are of it."""
    return "without AVX2" in report.get("context", {}).get("rocksdb", "without AVX2")


def targets(nanoseconds, against_debians):
    found = []
    for title, above, below, of_debians, of_native in RATIOS:
        for size, limit in zip(SIZES, of_debians if against_debians else of_native):
            measured = ratio(nanoseconds, above, below, size)
            if limit is not None and measured is not None:
                what = f"{title}: {size:,} keys"
                found.append(at_most(what, measured, limit, " x"))
    return found


def highlight(nanoseconds):
    """Of the largest filters; None if they were left out."""
    ours, stock = "absent/blocksieve_bloom", "absent/stock_bloom"
    sizes = [size for size in SIZES if ratio(nanoseconds, ours, stock, size)]
    if not sizes:
        return None
    mine, theirs = (spread(nanoseconds[f"{name}/{sizes[-1]}"]) for name in (ours, stock))
    return Highlight(
        text.times(ratio(nanoseconds, stock, ours, sizes[-1])),
        "as fast to ask for an absent key as stock Bloom",
        f"{timed(mine, text.significant)} ns against {timed(theirs, text.significant)} ns, {sizes[-1]:,} keys at the same "
        "false-positive rate.",
    )


def section(run):
    by_counter = samples_of(run)
    nanoseconds = by_counter["ns_per_key"]
    bits_per_key = by_counter.get("bits_per_key", {})
    tables = [time_table(nanoseconds), ratio_table(nanoseconds)]
    if bits_per_key:
        tables.insert(0, space_table(bits_per_key, by_counter["fpr"]))
    figures = [
        Figure(
            "filters-absent",
            "Probe of an absent key, against the limit",
            "Time of a probe over the number of keys. Dashed: the limit, hashing the key and reading one cache line.",
            partial(draw_times, nanoseconds, "absent", (*FILTERS, HASH_AND_LINE)),
        ),
        Figure(
            "filters-build",
            "Building a filter",
            "Time per key to build a filter, over the number of keys.",
            partial(draw_times, nanoseconds, "build", FILTERS),
        ),
    ]
    # --benchmark_filter may have left one of them out.
    measured = {name.split("/")[0] for name in nanoseconds}
    return Section(
        name="filters",
        title="Filters alone",
        lead="Building and probing single filters of 16-byte keys, through the interface by which RocksDB does it. "
        "blocksieve's filters are asked for the FPR that stock Bloom of 10 bits per key turns out to have.",
        highlight=highlight(nanoseconds),
        facts=["Medians of interleaved repetitions. No filter can be faster than hashing the key and reading a line."],
        targets=targets(nanoseconds, is_debians(run)),
        tables=tables,
        figures=[figure for figure in figures if figure.name.split("-")[1] in measured],
    )
