"""Scans by value in RocksDB: what skip indexes save, and what they cost."""

from functools import partial
from itertools import groupby

from bench.report import palette, text
from bench.report.figure import Figure, label, line, log_axis, plain
from bench.report.section import Highlight, Section, at_least, at_most, at_most_one_in
from bench.report.table import Table, compared, timed
from bench.report.turns import paired, quotient, spread

STATES = {False: "compacted", True: "a fifth rewritten"}

# field, title, style, colour; of the compacted database
LINES = (
    ("full_scan_blocks", "full scan", ":", palette.GREY),
    ("data_blocks_per_query", "read", "o-", palette.BLUE),
    ("granule_blocks_per_query", "matching granules", "--", palette.GREEN),
    ("oracle_blocks_per_query", "matching rows (least)", "-.", palette.TEXT),
)
AFTER_REWRITING = ("data_blocks_per_query", "read, a fifth rewritten", "s-", palette.ORANGE)


def draw_reads(scans, axes):
    for is_rewritten, lines in ((False, LINES), (True, [AFTER_REWRITING])):
        points = sorted((s for s in scans if s["rewritten"] == is_rewritten), key=lambda s: s["granules"])
        for field, title, style, colour in lines:
            line(axes, points, "granules", field, style, colour, title)
    log_axis(axes.xaxis, plain)
    log_axis(axes.yaxis, plain)
    axes.margins(y=0.1)
    label(axes, x="granules", y="data blocks per scan")


def draw_analysis(analyses, axes):
    by_values = groupby(
        sorted(analyses, key=lambda a: (a["distinct_values"], a["granules"])), key=lambda a: a["distinct_values"]
    )
    for (values, points), style in zip(by_values, ("o-", "s--")):
        points = list(points)
        for field, title, colour in (
            ("separate_nanoseconds", "filter by filter", palette.ORANGE),
            ("nanoseconds", "at once", palette.BLUE),
        ):
            times = [(a["granules"], spread(a[field]).scaled(1e-3)) for a in points]
            line(axes, times, 0, 1, style, colour, f"{title}, {values:,} values")
    log_axis(axes.xaxis)
    log_axis(axes.yaxis, plain)
    label(axes, x="granules", y="microseconds for one value")


def scan_name(scan):
    return f"{scan['dataset']}, {scan['column']}, {STATES[scan['rewritten']]}"


def of_default_granules(run):
    return [scan for scan in run["scans"] if scan["granule_rows"] == run["default_granule_rows"]]


def granule_rows(run, scan):
    return "a block" if scan["granule_rows"] == run["default_granule_rows"] else text.count(scan["granule_rows"])


BLOCKS = [
    ("Blocks:\nleast", lambda scan: text.significant(scan["oracle_blocks_per_query"])),
    ("\ngranules' own", lambda scan: text.significant(scan["granule_blocks_per_query"])),
    ("\nread", lambda scan: text.significant(scan["data_blocks_per_query"])),
    ("Read,\nof least", lambda scan: f"{scan['against_oracle']:.2f}"),
]


def scan_table(run):
    scans = of_default_granules(run)
    return Table.of(
        "Scans for one value, a granule for each data block, nothing cached",
        scans,
        [
            ("Rows, column, state", scan_name),
            ("Matching\nrows", lambda scan: text.significant(scan["rows"] / scan["queries"])),
            *BLOCKS,
            ("Blocks:\nfull scan", lambda scan: text.count(scan["full_scan_blocks"])),
            ("ms:\nread", lambda scan: timed(spread(scan["query_seconds"]).scaled(1000), text.significant)),
            ("\nfull scan", lambda scan: timed(spread(scan["full_scan_seconds"]).scaled(1000), text.significant)),
        ],
        f"Means of scans for {scans[0]['queries']} values, of times the median, each value a turn; FPR "
        f"{100 * scans[0]['target_fpr']:g} % per granule. Least: the different data blocks that hold a matching row. "
        "Granules' own: those of granules that hold one. Every answer was compared with the right one.",
    )


def granule_table(run):
    return Table.of(
        "Scans by size of granules",
        run["scans"],
        [
            ("Rows, column, state", scan_name),
            ("Rows of\na granule", lambda scan: granule_rows(run, scan)),
            ("Granules", lambda scan: text.count(scan["granules"])),
            *BLOCKS,
        ],
    )


def index_name(analysis):
    return f"{analysis['granules']:,} x {analysis['distinct_values']:,}"


def build_nanoseconds(analysis):
    return spread(analysis["build_seconds"]).scaled(1e9 / (analysis["granules"] * analysis["distinct_values"]))


def times_faster(analysis):
    return paired(analysis["separate_nanoseconds"], analysis["nanoseconds"])


def in_seconds(nanoseconds):
    return timed(spread(nanoseconds).scaled(1e-9), text.seconds_text)


def analysis_table(run):
    return Table.of(
        "Analysis of an index for one value",
        run["analyses"],
        [
            ("Granules x values of each", index_name),
            ("At once", lambda a: in_seconds(a["nanoseconds"])),
            ("Filter by\nfilter", lambda a: in_seconds(a["separate_nanoseconds"])),
            ("Times\nas fast", lambda a: compared(times_faster(a), text.significant)),
            ("Bytes read,\nat most", lambda a: text.bytes_text(a["probe_bytes"])),
            ("Bytes of\nfilters", lambda a: text.bytes_text(a["separate_bytes"])),
            ("Time to\nopen", lambda a: timed(spread(a["open_seconds"]), text.seconds_text)),
            ("Building,\nns per value", lambda a: timed(build_nanoseconds(a), text.significant)),
        ],
        "In memory, at an FPR of 1 %, against the same classic Bloom filters asked one after the other: the value is "
        "hashed once, the filters are contiguous and prefetched. For scale, on another machine: ClickHouse took 55 s for "
        "the bloom_filter index of 2.9 billion rows in granules of 8,192 (its issue 43024).",
    )


def in_list_table(run):
    return Table.of(
        "Analysis of an index for any of many values",
        [{**each, "index": index_name(a)} for a in run["analyses"] for each in a["in_lists"]],
        [
            ("Granules x values of each", lambda each: each["index"]),
            ("Predicate", lambda each: f"IN of {each['values']:,} values"),
            ("All at once", lambda each: in_seconds(each["nanoseconds"])),
            ("One by one", lambda each: in_seconds(each["one_by_one_nanoseconds"])),
            (
                "Times\nas fast",
                lambda each: compared(paired(each["one_by_one_nanoseconds"], each["nanoseconds"]), text.significant),
            ),
        ],
        "One by one: the index is asked for each value, and the answers are united.",
    )


def column_name(result):
    return f"{result['dataset']}, {result['column']}"


def size_table(run):
    def bits(field):
        return lambda size: f"{8 * size[field] / size['distinct_values']:.2f}"

    return Table.of(
        "Size of an index of one column at an FPR of 1 %",
        run["index_sizes"],
        [
            ("Rows, column", column_name),
            ("Rows of\na granule", lambda size: text.count(size["granule_rows"])),
            ("Distinct\nper granule", lambda size: text.significant(size["distinct_values"] / size["granules"])),
            ("Size", lambda size: text.bytes_text(size["bytes"])),
            ("Bits per\nvalue", bits("bytes")),
            ("of which\nfilters", bits("filter_bytes")),
            ("\nbounds", bits("bounds_bytes")),
            ("\nkeys", bits("key_bytes")),
        ],
        "Per value that is distinct within its granule.",
    )


def form_name(form):
    return f"{form['dataset']}, {form['column']}"


def per_pair(form, field):
    return 8 * form[field] / form["pairs"]


def against_slices(of, field):
    return of[field] / of[f"slices_{field}"]


def time_against_slices(of, field):
    return paired(of[field], of[f"slices_{field}"])


def form_table(run):
    def bits(field):
        return lambda form: f"{per_pair(form, field):.2f}"

    def ratio(field):
        return lambda form: f"{against_slices(form, field):.2f}"

    def granules(field):
        return lambda form: f"{form[field]:.2f}"

    return Table.of(
        "Filters of a column in the form that it takes, against bit slices of the same rate, 0.1 %",
        run["forms"],
        [
            ("Rows, column", form_name),
            ("Form", lambda form: form["form"]),
            ("Granules", lambda form: text.count(form["granules"])),
            ("Granules\nof a value", lambda form: text.significant(form["pairs"] / form["values"])),
            ("Bits:\nwhole index", bits("index_bytes")),
            ("\nfilters", bits("filter_bytes")),
            ("\nslices", bits("slices_filter_bytes")),
            ("Filters,\nof slices", ratio("filter_bytes")),
            (
                "Building,\nof slices",
                lambda form: compared(time_against_slices(form, "build_nanoseconds"), text.significant),
            ),
            ("In vain,\noccurs", granules("false_granules")),
            ("\nslices", granules("slices_false_granules")),
            ("In vain,\nabsent", granules("false_granules_of_absent")),
            ("\nslices", granules("slices_false_granules_of_absent")),
        ],
        "Bits per value that is distinct within its granule. Building: processor time of the whole index, finding the "
        "values included. In vain: granules given for a value that they do not have. For scale, measured outside of this "
        "run: Google's Cuckoo Index (VLDB 2020; its sources of commit cae12a1, one slot a bucket, a scan rate of one "
        "granule) takes 8.0, 19.4 and 494 bits for columns of 1,000 and 30,000 values and one unique but for 1 %, of "
        "1,000,000 rows in granules of 64; compressed as a whole by zstd, 5.5, 11.3 and 30.4; in granules of 8,192 rows, "
        "for which it was made, 4.9 for 30,000 values and 18.1 for unique ones.",
    )


def form_times(run):
    return [{**times, "form": form} for form in run["forms"] for times in form["times"]]


def form_time_table(run):
    return Table.of(
        "Analysis of an index in memory by the form of its filters, against bit slices",
        form_times(run),
        [
            ("Rows, column", lambda times: form_name(times["form"])),
            ("Form", lambda times: times["form"]["form"]),
            ("Question", lambda times: times["question"]),
            ("Time", lambda times: in_seconds(times["nanoseconds"])),
            ("Slices", lambda times: in_seconds(times["slices_nanoseconds"])),
            ("Of slices", lambda times: compared(time_against_slices(times, "nanoseconds"), text.significant)),
        ],
        "= asks for values that occur. Half of those of IN do. AND: words, or 4-grams, that stand together in a row.",
    )


def write_ratio(write, field):
    return paired(write[field + "_with"], write[field + "_without"])


def write_table(run):
    def columns(title, field):
        return [
            (f"{title}:\nwithout", lambda write: timed(spread(write[field + "_without"]), text.significant)),
            ("\nwith", lambda write: timed(spread(write[field + "_with"]), text.significant)),
            ("\nratio", lambda write: compared(write_ratio(write, field), text.significant)),
        ]

    return Table.of(
        "Filling a database, without and with an index",
        run["writes"],
        [("Rows, column", column_name), *columns("Seconds", "seconds"), *columns("Processor", "cpu_seconds")],
        "Seconds to write all rows in random order, flush and compact them; medians of "
        f"{len(run['writes'][0]['seconds_with'])} turns.",
    )


def scan_targets(run):
    scans = of_default_granules(run)
    for scan in sorted(scans, key=lambda scan: scan["rewritten"]):
        what = f"{scan['dataset']} rows, {scan['column']}, {STATES[scan['rewritten']]}"
        if scan["clustered"]:
            limit = 1.12 if scan["rewritten"] else 1.03
            yield at_most(f"blocks read, against the least: {what}", scan["against_oracle"], limit, " x")
        elif scan["dataset"] == "real" and not scan["rewritten"]:
            yield at_most(f"blocks read, against the least: {what}", scan["against_oracle"], 1.05, " x")
    for scan in run["fpr_scans"]:
        if not scan["clustered"]:
            what = f"granules read in vain, against target FPR: {scan['dataset']} rows, {scan['column']}"
            yield at_most(what, scan["against_target_fpr"], 1.05, " x")
    for scan in scans:
        if scan["dataset"] == "synthetic" and not scan["clustered"] and not scan["rewritten"]:
            what = "blocks read, against a full scan: value in 1 of 1,000 granules, FPR 0.1 %"
            yield at_most_one_in(what, scan["against_full_scan"], 300)


# Columns with a target: bits per pair of the whole index; filters and building against bit slices.
FORM_TARGETS = {
    "words of the key HAS v": {"bits": 9, "building": 1.2},
    "4-grams of the key": {"bits": 7.5},
    "package = v": {"filters": 0.45},
    "1,000 values": {"filters": 0.45, "building": 1.4},
    "unique but for 1 %": {"building": 3},
}
QUESTION_TARGETS = {"IN of 1,000": 0.35, "AND of 2": 0.5, "AND of 16": 0.3}


def form_targets(run):
    for form in run["forms"]:
        name = form_name(form)
        targets = FORM_TARGETS.get(form["column"], {})
        if "bits" in targets:
            yield at_most(f"index bits per pair, FPR 0.1 %: {name}", per_pair(form, "index_bytes"), targets["bits"])
        if "filters" in targets:
            ratio = against_slices(form, "filter_bytes")
            yield at_most(f"bytes of filters, against slices: {name}", ratio, targets["filters"], " x")
        if "building" in targets:
            ratio = time_against_slices(form, "build_nanoseconds")
            yield at_most(f"time to build, against slices: {name}", ratio, targets["building"], " x")
        if form["form"] == "postings":
            yield at_most(f"granules in vain for a value that occurs: {name}", form["false_granules"], 0)
    for times in form_times(run):
        if times["question"] in QUESTION_TARGETS:
            what = f"time of {times['question']}, against slices: {form_name(times['form'])}"
            ratio = time_against_slices(times, "nanoseconds")
            yield at_most(what, ratio, QUESTION_TARGETS[times["question"]], " x")


def cost_targets(run):
    for analysis in run["analyses"]:
        limit = {1_000: 20, 300_000: 600}.get(analysis["granules"])
        if limit is None:
            continue
        what = f"{analysis['granules']:,} granules of {analysis['distinct_values']:,} values"
        yield at_least(f"analysis, times as fast as filter by filter: {what}", times_faster(analysis), limit, " x")
        if analysis["granules"] == 1_000:
            yield at_most(f"analysis, time: {what}", spread(analysis["nanoseconds"]).scaled(1e-3), 1, " us")
    for size in run["index_sizes"]:
        limit = {run["default_granule_rows"]: 12, 1_024: 10.5}.get(size["granule_rows"])
        if size["dataset"] == "real" and limit == 12:
            limit = 9
        if limit is not None:
            what = f"{size['dataset']} rows, {size['column']}, granules of {size['granule_rows']:,}"
            yield at_most(f"index bits per distinct value, FPR 1 %: {what}", size["bits_per_value"], limit)
    for write in run["writes"]:
        what = f"{write['dataset']} rows, {write['column']}"
        yield at_most(f"time to fill, against no index: {what}", write_ratio(write, "seconds"), 1.1, " x")
        yield at_most(f"processor time to fill, against no index: {what}", write_ratio(write, "cpu_seconds"), 1.1, " x")


def resident_per_sst(run, carrier):
    """Bytes of memory at rest that the index of an SST takes, outside of the block cache."""
    plain = run["carriers"][0]
    return (carrier["resident_bytes"] - plain["resident_bytes"]) / carrier["num_ssts"]


def unopenable_share(carrier):
    return carrier["unopenable_bytes"] / carrier["tried_sst_bytes"]


def lookup_ratio(run, carrier):
    return paired(carrier["lookup_nanoseconds"], run["carriers"][0]["lookup_nanoseconds"])


def against_no_index(run, carrier):
    return "" if carrier is run["carriers"][0] else compared(lookup_ratio(run, carrier), text.significant)


def carrier_table(run):
    return Table.of(
        "What indexes cost while nobody scans, by where they are",
        run["carriers"],
        [
            ("Indexes", lambda carrier: carrier["carrier"]),
            ("SSTs", lambda carrier: text.bytes_text(carrier["sst_bytes"])),
            ("Sidecars", lambda carrier: text.bytes_text(carrier["sidecar_bytes"])),
            ("Resident\nper SST", lambda carrier: text.bytes_text(resident_per_sst(run, carrier))),
            ("Bytes that keep an\nSST from opening", lambda carrier: f"{100 * unopenable_share(carrier):.3f} %"),
            ("Lookup,\nns", lambda carrier: timed(spread(carrier["lookup_nanoseconds"]), text.significant)),
            ("Lookup time,\nof no index", lambda carrier: against_no_index(run, carrier)),
            ("Bytes read\nby lookups", lambda carrier: text.bytes_text(carrier["lookup_bytes"])),
        ],
        f"{run['carriers'][0]['dataset']} rows, all columns. Resident: RocksDB's estimate of the memory of table "
        "readers after opening, over that without an index; index blocks and filters are in the block cache. Bytes: of "
        "one SST, a bit of each flipped. Lookups: of absent keys, beside scans for one value.",
    )


def carrier_targets(run):
    plain, _, sidecars = run["carriers"]
    # SSTs of RocksDB's default size.
    per_terabyte = resident_per_sst(run, sidecars) * (1 << 40) / (64 << 20)
    yield at_most("memory of indexes at rest for 1 TiB of data (computed)", per_terabyte / (1 << 20), 50, " MiB")
    more = 100 * (unopenable_share(sidecars) - unopenable_share(plain))
    yield at_most("bytes of an SST that keep it from opening, over those without an index", more, 0.02, " %")
    what = "lookups of absent keys beside scans, against no index"
    yield at_most(f"{what}: time", lookup_ratio(run, sidecars), 1.02, " x")
    yield at_most(f"{what}: bytes read", sidecars["lookup_bytes"] / max(1, plain["lookup_bytes"]), 1.02, " x")


def shown_scan(run):
    return next(scan for scan in of_default_granules(run) if scan["clustered"] and not scan["rewritten"])


def saved(run):
    """One sentence of what the index saved, or that it saved nothing."""
    scan = shown_scan(run)
    what = (
        f"of the {scan['full_scan_blocks']} data blocks a scan for \"{scan['column']}\" read "
        f"{scan['data_blocks_per_query']:.3g} with the index, where {scan['oracle_blocks_per_query']:.3g} hold a "
        "matching row"
    )
    if scan["against_full_scan"] >= 1:
        return f"Nothing was saved: {what}."
    speed_up = quotient(scan["full_scan_seconds"], scan["query_seconds"])
    return (
        f"Saved: {100 * (1 - scan['against_full_scan']):.2f} % of the reads: {what}, which made it "
        f"{text.times_as_fast(speed_up)} on a cold cache."
    )


def highlight(run):
    scan = shown_scan(run)
    least = text.significant(scan["oracle_blocks_per_query"])
    return Highlight(
        text.times_fewer(scan["full_scan_blocks"], scan["data_blocks_per_query"]),
        "fewer data blocks read by a scan for one value, with a skip index",
        f"{scan['full_scan_blocks']:,} without an index, {text.significant(scan['data_blocks_per_query'])} with one, "
        f"where {least} hold a match; {scan['dataset']} rows, {scan['column']}.",
    )


def section(run):
    def by_column(scan):
        return scan["dataset"], scan["column"]

    figures = [
        Figure(
            f"skip-reads-{number}",
            f"Blocks read by a scan: {dataset} rows, {column}",
            "Data blocks that a scan for one value reads over the number of granules, between those of a full scan "
            "above and those that hold a matching row below.",
            partial(draw_reads, list(scans)),
        )
        for number, ((dataset, column), scans) in enumerate(groupby(sorted(run["scans"], key=by_column), key=by_column))
    ]
    figures.append(
        Figure(
            "skip-analysis",
            "Index analysis against number of granules",
            "Time to find the granules that may hold a value, asking all filters at once and one after the other.",
            partial(draw_analysis, run["analyses"]),
        )
    )
    return Section(
        name="skip",
        title="Scans by value in RocksDB",
        headline=saved(run),
        lead="Blocks: data blocks of 4 KiB that a scan reads with a skip index, against a full scan and the least "
        f"possible. They are read {'with direct I/O' if run['direct_reads'] else 'from the page cache'} with an empty "
        "block cache, and counted by RocksDB.",
        highlight=highlight(run),
        facts=[f"Input: {each}" for each in run["inputs"]],
        machine=[f"RocksDB {run['rocksdb']}. blocksieve's kernel: {run['kernel']}. {run['seconds']:.0f} s."],
        targets=[*scan_targets(run), *form_targets(run), *cost_targets(run), *carrier_targets(run)],
        tables=[
            scan_table(run),
            granule_table(run),
            form_table(run),
            form_time_table(run),
            analysis_table(run),
            in_list_table(run),
            size_table(run),
            write_table(run),
            carrier_table(run),
        ],
        figures=figures,
    )
