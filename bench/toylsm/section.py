"""The toy LSM: lookups with filters per file and per granule of data blocks, and scans by value."""

from bench.report.declare import Dots, Highlight, Section, Table, Target, Value

PER_GRANULE = ("blocked Bloom, per granule", "ribbon, per granule")
LOOKUP = ["data blocks: all", "data blocks: from disk", "filter blocks: all",
          "filter blocks: from disk", "bytes: from disk", "bytes: from cache", "false positives"]
READ = "data blocks read"
ABSENT = {"keys": "absent keys"}
KEYS = {"absent keys": "blue", "present keys": "orange"}
SCANS = {"skip index": "blue", "least": "green", "full scan": "grey"}

SECTION = Section(
    title="The toy LSM",
    lead="Rows written in random order: {runs} runs, that is, files of level 0 and levels below "
    "it. Lookups with filters per file and per granule of data blocks, at a false-positive rate of "
    "1 % on all levels; scans with and without a skip index. All counts are the toy LSM's own.",
    values={
        "none": Value("data blocks: all", {"name": "no filter", **ABSENT}),
        "ours": Value("data blocks: all", {"name": PER_GRANULE[0], **ABSENT}),
        "scanned": Value(READ, {"name": "skip index", "state": "as written"}, "first"),
        "all": Value(READ, {"name": "full scan", "state": "as written"}, "first"),
    },
    headline="A lookup of an absent key read {ours} data blocks with filters ({ours[name]}) and "
    "{none} without; a scan for {scanned[column]} {scanned} with a skip index and {all} without.",
    highlight=Highlight("{ours}", "data blocks read by a lookup of an absent key", "{none} without "
                        "filters, {ours} with {ours[name]}, in {runs} runs of the toy LSM."),
    facts=("Input: {input}", "Block cache: {cache} of keys and values, empty at the beginning."),
    targets=(
        Target("wasted data blocks per absent key, of FPR x {runs} runs",
               "wasted data blocks, of FPR x runs", {}, ("name",), at_most=1.05),
        Target("data blocks read, of the least", "of the least", {}, ("column", "state"),
               at_most=1.15),
        Target("filter bytes in the cache after 1 % of the keys", "in the cache: share",
               {"name": PER_GRANULE}, ("name",), at_most=0.03),
    ),
    tables=(
        Table("Lookups of {keys}", ("name",), LOOKUP, each="keys", head="Filters",
              note="Per lookup."),
        Table("Size of filters", ("name",), ["size", "bits per key", "block indexes",
              "in the cache: all filters", "in the cache: after 1 % of keys",
              "in the cache: share"], head="Filters"),
        Table("Scans for one value: data blocks", ("column", "state"), where={"metric": READ},
              across="name", head="Column, state",
              note="Means per value, with nothing cached. Least: the different data blocks that "
              "hold a row of the answer. Every answer was compared with the right one."),
        Table("Scans for one value", ("column", "state"),
              ["runs", "values", "matching rows", "of the least", "index size"]),
    ),
    plots=(
        Dots("Data blocks per lookup", "Filters save the reads of absent keys.", "data blocks: all",
             series=("keys",), group=("name",), log="x", styles=KEYS),
        Dots("Bytes from disk per lookup", "Filters per granule are read in pieces.",
             "bytes: from disk", series=("keys",), group=("name",), log="x", styles=KEYS),
        Dots("Filters in memory after lookups in 1 % of the keys", "Of filters per granule, only "
             "those that were used.", "in the cache: share"),
        Dots("Data blocks read by a scan for one value", "A skip index reads little more than what "
             "matches.", READ, series=("name",), group=("column", "state"), log="x", styles=SCANS),
    ),
)
