"""The toy LSM: lookups with filters per file and per granule of data blocks, and scans by value."""

from functools import partial

from bench.report import palette, text
from bench.report.dots import dots
from bench.report.figure import Figure, log_axis, plain
from bench.report.section import Highlight, Section, at_most
from bench.report.table import Table

KINDS = (("absent", palette.BLUE), ("present", palette.ORANGE))
SCANS = (
    ("skip index", palette.BLUE, "data_blocks_per_query"),
    ("least", palette.GREEN, "oracle_blocks_per_query"),
    ("no skip index", palette.GREY, "full_scan_blocks"),
)


def draw_lookups(lookups, field, x, axes):
    series = [(f"{kind} keys", colour, [each[kind][field] for each in lookups]) for kind, colour in KINDS]
    dots(axes, [each["filters"] for each in lookups], series, text=text.significant, x=x)
    log_axis(axes.xaxis, plain)


def draw_resident(lookups, axes):
    series = [
        ("all", palette.GREY, [each["filter_memory_bytes"] / 1024 for each in lookups]),
        ("in the cache", palette.BLUE, [each["resident_filter_bytes"] / 1024 for each in lookups]),
    ]
    dots(axes, [each["filters"] for each in lookups], series, text=text.significant, x="KiB of filters")
    axes.set_xlim(0, None)


def draw_scans(scans, axes):
    series = [(title, colour, [scan[field] for scan in scans]) for title, colour, field in SCANS]
    dots(axes, [scan_name(scan) for scan in scans], series, text=text.significant, x="data blocks per scan")
    log_axis(axes.xaxis, plain)


def scan_name(scan):
    return f"{scan['column']}, {scan['state']}"


def lookup_table(lookups, kind):
    def per_lookup(field):
        return lambda each: f"{each[kind][field] / each[kind]['lookups']:.4f}"

    return Table.of(
        f"Lookups of {kind} keys",
        lookups,
        [
            ("Filters", lambda each: each["filters"]),
            ("Data blocks:\nall", lambda each: f"{each[kind]['data_blocks_per_lookup']:.4f}"),
            ("\nfrom disk", per_lookup("data_blocks_from_disk")),
            ("Filter blocks:\nall", lambda each: f"{each[kind]['filter_blocks_per_lookup']:.4f}"),
            ("\nfrom disk", per_lookup("filter_blocks_from_disk")),
            ("Bytes:\nfrom disk", lambda each: text.count(each[kind]["bytes_from_disk_per_lookup"])),
            ("\nfrom cache", lambda each: text.count(each[kind]["bytes_from_cache_per_lookup"])),
            ("False\npositives", per_lookup("false_positives")),
        ],
        "Per lookup.",
    )


def size_table(run):
    def share(each):
        return "-" if each["resident_share"] is None else text.percent(each["resident_share"])

    return Table.of(
        "Size of filters",
        run["lookups"],
        [
            ("Filters", lambda each: each["filters"]),
            ("Size", lambda each: text.bytes_text(each["filter_bytes"])),
            ("Bits\nper key", lambda each: f"{8 * each['filter_bytes'] / run['rows']:.2f}"),
            ("Block\nindexes", lambda each: text.bytes_text(each["block_index_bytes"])),
            ("In the cache:\nall filters", lambda each: text.bytes_text(each["filter_memory_bytes"])),
            ("\nafter 1 % of keys", lambda each: text.bytes_text(each["resident_filter_bytes"])),
            ("\nshare", share),
        ],
    )


def scan_table(scans):
    return Table.of(
        "Scans for one value",
        scans,
        [
            ("Column, state", scan_name),
            ("Runs", lambda each: str(each["runs"])),
            ("Values\nasked for", lambda each: str(each["queries"])),
            ("Matching\nrows", lambda each: text.significant(each["rows"] / each["queries"])),
            ("Blocks:\nleast", lambda each: text.significant(each["oracle_blocks_per_query"])),
            ("\nread", lambda each: text.significant(each["data_blocks_per_query"])),
            ("Read,\nof least", lambda each: f"{each['against_oracle']:.3f}"),
            ("Blocks:\nfull scan", lambda each: text.count(each["full_scan_blocks"])),
            ("Value\nindex", lambda each: text.bytes_text(each["skip_index_bytes"])),
        ],
        "Means per value, with nothing cached. Least: the different data blocks that hold a row of the answer. Every "
        "answer was compared with the right one.",
    )


def targets(run):
    lookups = [each for each in run["lookups"] if each["target_fpr"]]
    for each in lookups:
        what = f"data blocks read in vain per absent key, against FPR x {each['runs']} runs: {each['filters']}"
        yield at_most(what, each["against_target_fpr"], 1.05, " x")
    for scan in run["scans"]:
        yield at_most(f"data blocks read, against the least: {scan_name(scan)}", scan["against_oracle"], 1.15, " x")
    for each in lookups:
        if each["per_granule"]:
            what = f"filter bytes in the cache after 1 % of the keys: {each['filters']}"
            yield at_most(what, 100 * each["resident_share"], 3, " %")


def saved(run):
    """One sentence of what filters and skip index saved, or that they did not."""
    scan = run["scans"][0]
    granular = next(each for each in run["lookups"] if each["per_granule"])
    with_filters = granular["absent"]["data_blocks_per_lookup"]
    without = run["lookups"][0]["absent"]["data_blocks_per_lookup"]
    all_saved = with_filters < without and scan["data_blocks_per_query"] < scan["full_scan_blocks"]
    return (
        f"{'Saved' if all_saved else 'Not everything was saved that could be'}: a lookup of an absent key read "
        f"{with_filters:.3g} data blocks with filters ({granular['filters']}) and {without:.3g} without, a scan for "
        f"\"{scan['column']}\" {scan['data_blocks_per_query']:.3g} with a skip index and {scan['full_scan_blocks']} "
        "without."
    )


def highlight(run):
    lookups = run["lookups"]
    granular = next(each for each in lookups if each["per_granule"])
    without, with_filters = (each["absent"]["data_blocks_per_lookup"] for each in (lookups[0], granular))
    return Highlight(
        text.times_fewer(without, with_filters),
        "fewer data blocks read by a lookup of an absent key",
        f"{text.significant(without)} without filters, {text.significant(with_filters)} with {granular['filters']}, in "
        f"{granular['runs']} runs of the toy LSM.",
    )


def section(run):
    lookups, scans = run["lookups"], run["scans"]
    return Section(
        name="toylsm",
        title="The toy LSM",
        headline=saved(run),
        lead=f"Rows written in random order: {lookups[0]['runs']} runs, that is, files of level 0 and levels below it. "
        "Lookups with filters per file and per granule of data blocks, at a false-positive rate of 1 % on all levels; "
        "scans with and without a skip index. All counts are the toy LSM's own.",
        facts=[
            f"Input: {run['input']}",
            f"Block cache: {text.bytes_text(run['cache_bytes'])} for {text.bytes_text(run['row_bytes'])} of keys and "
            "values, empty at the beginning.",
        ],
        highlight=highlight(run),
        machine=[f"blocksieve's kernel: {run['kernel']}. {run['seconds']:.0f} s."],
        targets=list(targets(run)),
        tables=[lookup_table(lookups, "absent"), lookup_table(lookups, "present"), size_table(run), scan_table(scans)],
        figures=[
            Figure(
                "toylsm-lookups",
                f"Data blocks per lookup, {lookups[0]['runs']} runs",
                "Data blocks read per lookup of absent and of present keys, by set-up of the filters, on a logarithmic scale.",
                partial(draw_lookups, lookups, "data_blocks_per_lookup", "data blocks per lookup"),
            ),
            Figure(
                "toylsm-bytes",
                "Bytes from disk per lookup",
                "Bytes read from disk per lookup of absent and of present keys, by set-up of the filters, on a logarithmic "
                "scale.",
                partial(draw_lookups, lookups, "bytes_from_disk_per_lookup", "bytes from disk per lookup"),
            ),
            Figure(
                "toylsm-resident",
                "Filters in memory after lookups in 1 % of the keys",
                "Filters of all files, and of them those in the cache.",
                partial(draw_resident, [each for each in lookups if each["target_fpr"]]),
            ),
            Figure(
                "toylsm-scans",
                "Data blocks read by a scan for one value",
                "With a skip index, at least, and without a skip index, on a logarithmic scale.",
                partial(draw_scans, scans),
            ),
        ],
    )
