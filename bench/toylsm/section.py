"""The report's section on the toy LSM."""

from bench.report import palette, text
from bench.report.figure import Figure, bars, log_axis, plain
from bench.report.section import Section, Table, targets_of

KINDS = (("absent", palette.BLUE), ("present", palette.ORANGE))
SCANS = (
    ("value index", palette.BLUE, "data_blocks_per_query"),
    ("least", palette.GREEN, "oracle_blocks_per_query"),
    ("no value index", palette.GREY, "full_scan_blocks"),
)


def draw_lookups(lookups, field, x):
    def draw(axes):
        series = [(f"{kind} keys", colour, [each[kind][field] for each in lookups]) for kind, colour in KINDS]
        bars(axes, [each["filters"] for each in lookups], series, text=text.significant, x=x)

    return draw


def draw_resident(lookups):
    def draw(axes):
        series = [
            ("all", palette.GREY, [each["filter_memory_bytes"] / 1024 for each in lookups]),
            ("in the cache", palette.BLUE, [each["resident_filter_bytes"] / 1024 for each in lookups]),
        ]
        bars(axes, [each["filters"] for each in lookups], series, text=text.significant, x="KiB of filters")

    return draw


def draw_scans(scans):
    def draw(axes):
        series = [(title, colour, [scan[field] for scan in scans]) for title, colour, field in SCANS]
        names = [f"{scan['column']}, {scan['state']}" for scan in scans]
        bars(axes, names, series, text=text.significant, x="data blocks per scan")
        log_axis(axes.xaxis, plain)
        axes.set_xlim(1, 8 * max(scan["full_scan_blocks"] for scan in scans))

    return draw


def lookup_table(lookups):
    rows = [
        [
            each["filters"],
            text.bytes_text(each["filter_bytes"]),
            text.significant(each["absent"]["data_blocks_per_lookup"]),
            text.significant(each["present"]["data_blocks_per_lookup"]),
            text.count(each["absent"]["bytes_from_disk_per_lookup"]),
            "" if each["against_target_fpr"] is None else f"{each['against_target_fpr']:.2f}",
            "" if each["resident_share"] is None else text.percent(each["resident_share"]),
        ]
        for each in lookups
    ]
    return Table(
        "Lookups",
        [
            "Filters",
            "Size",
            "Blocks per\nabsent key",
            "Blocks per\npresent key",
            "Bytes from disk\nper absent key",
            "Wasted reads,\nof the target",
            "Cached after lookups\nin 1 % of the keys",
        ],
        rows,
    )


def scan_table(scans):
    rows = [
        [
            f"{each['column']}, {each['state']}",
            text.significant(each["oracle_blocks_per_query"]),
            text.significant(each["data_blocks_per_query"]),
            f"{each['against_oracle']:.2f}",
            text.count(each["full_scan_blocks"]),
        ]
        for each in scans
    ]
    return Table(
        "Scans for one value",
        ["Column, state", "Blocks:\nleast", "Blocks:\nread", "Read,\nof least", "Blocks:\nfull scan"],
        rows,
    )


def section(run):
    lookups, scans = run["lookups"], run["scans"]
    return Section(
        name="toylsm",
        title="The toy LSM",
        lead="The same in the toy LSM, by its own counters: lookups with filters per file and per granule of data "
        "blocks, and scans with and without a value index.",
        facts=[run["saved"], f"Input: {run['input']} Block cache: {text.bytes_text(run['cache_bytes'])}."],
        targets=targets_of(run),
        tables=[lookup_table(lookups), scan_table(scans)],
        figures=[
            Figure(
                "toylsm-lookups",
                f"Data blocks per lookup, {lookups[0]['runs']} runs",
                "Bars: data blocks read per lookup of absent and of present keys, by set-up of the filters.",
                draw_lookups(lookups, "data_blocks_per_lookup", "data blocks per lookup"),
            ),
            Figure(
                "toylsm-bytes",
                "Bytes from disk per lookup",
                "Bars: bytes read from disk per lookup of absent and of present keys, by set-up of the filters.",
                draw_lookups(lookups, "bytes_from_disk_per_lookup", "bytes from disk per lookup"),
            ),
            Figure(
                "toylsm-resident",
                "Filters in memory after lookups in 1 % of the keys",
                "Bars: filters of all files, and of them those in the cache.",
                draw_resident([each for each in lookups if each["target_fpr"]]),
            ),
            Figure(
                "toylsm-scans",
                "Data blocks read by a scan for one value",
                "Bars, on a logarithmic scale: with a value index, at least, and without a value index.",
                draw_scans(scans),
            ),
        ],
    )
