"""The report's section on skip indexes in RocksDB."""

from itertools import groupby

from bench.report import palette, text
from bench.report.figure import Figure, label, log_axis, plain
from bench.report.section import Section, Table, targets_of

STATES = {False: "compacted", True: "a fifth rewritten"}

# field, title, style, colour; of the compacted database
LINES = (
    ("full_scan_blocks", "full scan", ":", palette.GREY),
    ("data_blocks_per_query", "read", "o-", palette.BLUE),
    ("granule_blocks_per_query", "matching granules", "--", palette.GREEN),
    ("oracle_blocks_per_query", "matching rows (least)", "-.", palette.TEXT),
)
AFTER_REWRITING = ("data_blocks_per_query", "read, a fifth rewritten", "s-", palette.ORANGE)


def draw_reads(scans):
    def draw(axes):
        for is_rewritten, lines in ((False, LINES), (True, [AFTER_REWRITING])):
            points = sorted((s for s in scans if s["rewritten"] == is_rewritten), key=lambda s: s["granules"])
            granules = [s["granules"] for s in points]
            for field, title, style, colour in lines:
                axes.plot(granules, [s[field] for s in points], style, color=colour, label=title)
        log_axis(axes.xaxis, plain)
        log_axis(axes.yaxis, plain)
        axes.margins(y=0.1)
        label(axes, x="granules", y="data blocks per scan")

    return draw


def draw_analysis(analyses):
    def draw(axes):
        by_values = groupby(
            sorted(analyses, key=lambda a: (a["distinct_values"], a["granules"])), key=lambda a: a["distinct_values"]
        )
        for (values, points), style in zip(by_values, ("o-", "s--")):
            points = list(points)
            granules = [a["granules"] for a in points]
            for field, title, colour in (
                ("separate_nanoseconds", "filter by filter", palette.ORANGE),
                ("nanoseconds", "transposed", palette.BLUE),
            ):
                axes.plot(
                    granules,
                    [a[field] / 1000 for a in points],
                    style,
                    color=colour,
                    label=f"{title}, {values:,} values",
                )
        log_axis(axes.xaxis)
        log_axis(axes.yaxis, plain)
        label(axes, x="granules", y="microseconds for one value")

    return draw


def scan_table(run):
    rows = [
        [
            f"{s['dataset']}, {s['column']}, {STATES[s['rewritten']]}",
            text.significant(s["rows"] / s["queries"]),
            text.significant(s["oracle_blocks_per_query"]),
            text.significant(s["data_blocks_per_query"]),
            f"{s['against_oracle']:.2f}",
            text.count(s["full_scan_blocks"]),
            text.significant(1000 * s["seconds"] / s["queries"]),
            text.significant(1000 * s["full_scan_seconds"]),
        ]
        for s in run["scans"]
        if s["granule_rows"] == run["default_granule_rows"]
    ]
    return Table(
        f"Scans for one value, granules of {run['default_granule_rows']} rows, nothing cached",
        [
            "Rows, column, state",
            "Matching\nrows",
            "Blocks:\nleast",
            "Blocks:\nread",
            "Read,\nof least",
            "Blocks:\nfull scan",
            "ms:\nread",
            "ms:\nfull scan",
        ],
        rows,
        "Per scan. Least: the data blocks that hold a matching row.",
    )


def analysis_table(run):
    rows = [
        [
            f"{a['granules']:,}",
            text.count(a["distinct_values"]),
            text.seconds_text(1e-9 * a["nanoseconds"]),
            text.seconds_text(1e-9 * a["separate_nanoseconds"]),
            text.significant(a["times_faster"]),
            text.bytes_text(a["probe_bytes"]),
            text.bytes_text(a["separate_bytes"]),
        ]
        for a in run["analyses"]
    ]
    return Table(
        "Analysis of an index for one value",
        [
            "Granules",
            "Values\nof each",
            "Transposed",
            "Filter by\nfilter",
            "Times\nas fast",
            "Bytes read,\nat most",
            "Bytes of\nfilters",
        ],
        rows,
    )


def size_table(run):
    rows = [
        [
            f"{s['dataset']}, {s['column']}",
            text.count(s["granule_rows"]),
            text.count(s["distinct_values"]),
            text.bytes_text(s["bytes"]),
            f"{s['bits_per_value']:.2f}",
        ]
        for s in run["index_sizes"]
    ]
    return Table(
        "Size of an index at an FPR of 1 %",
        ["Rows, column", "Rows of\na granule", "Distinct values", "Size", "Bits per\nvalue"],
        rows,
        "Values distinct within their granule; granules' keys are counted in.",
    )


def write_table(run):
    rows = [
        [f"{w['dataset']}, {w['column']}", f"{w['times_seconds']:.3f}", f"{w['times_cpu_seconds']:.3f}"]
        for w in run["writes"]
    ]
    return Table(
        "Filling a database with an index, of the time without", ["Rows, column", "Time", "Processor time"], rows
    )


def section(run):
    def by_column(scan):
        return scan["dataset"], scan["column"]

    figures = [
        Figure(
            f"skip-reads-{number}",
            f"Blocks read by a scan: {dataset} rows, {column}",
            "Lines: data blocks that a scan for one value reads over the number of granules, between those of a full "
            "scan above and those that hold a matching row below.",
            draw_reads(list(scans)),
        )
        for number, ((dataset, column), scans) in enumerate(groupby(sorted(run["scans"], key=by_column), key=by_column))
    ]
    figures.append(
        Figure(
            "skip-analysis",
            "Index analysis against number of granules",
            "Lines: time to find the granules that may hold a value, asking all filters at once, transposed, and one "
            "after the other.",
            draw_analysis(run["analyses"]),
        )
    )
    return Section(
        name="skip",
        title="Scans by value in RocksDB",
        lead="Data blocks that a scan for one value reads with a skip index, against a full scan and the least "
        "possible.",
        facts=[run["saved"], *run["inputs"]],
        targets=targets_of(run),
        tables=[scan_table(run), analysis_table(run), size_table(run), write_table(run)],
        figures=figures,
    )
