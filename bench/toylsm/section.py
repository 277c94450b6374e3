"""The toy LSM: lookups with filters per file and per granule of data blocks, and scans by value."""

from bench.report.declare import Plot, Section, Table, Target, Value

OURS = "blocked Bloom, per granule"
ALL, READ = "data blocks: all", "data blocks read"
LOOKUP = [ALL, "data blocks: from disk", "filter blocks: all", "filter blocks: from disk",
          "bytes: from disk", "bytes: from cache", "false positives"]
SHARE = "in the cache: share"
STYLES = {"absent keys": "blue", "present keys": "orange", "skip index": "blue", "least": "green",
          "full scan": "grey"}

SECTION = Section(
    title="The toy LSM",
    lead="Rows written in random order: {runs} runs, that is, files of level 0 and levels below "
    "it. Lookups with filters per file and per granule of data blocks, at a false-positive rate of "
    "1 % on all levels; scans with and without a skip index. All counts are the toy LSM's own.\n"
    "Input: {input} Block cache: {cache} of keys and values, empty at the beginning.",
    values={"none": Value(ALL, {"name": "no filter", "keys": "absent keys"}),
            "ours": Value(ALL, {"name": OURS, "keys": "absent keys"})},
    result=("{ours}", "data blocks read by a lookup of an absent key", "{none} without filters, "
            "{ours} with {ours[name]}, in {runs} runs of the toy LSM."),
    targets=(
        Target("wasted data blocks, of FPR x runs", {}, ("name",), 1.05),
        Target("of the least", {}, ("column", "state"), 1.15),
        Target(SHARE, {"name": (OURS, "ribbon, per granule")}, ("name",), 0.03),
    ),
    tables=(
        Table("Lookups of {keys}", ("name",), LOOKUP, each="keys", head="Filters",
              note="Per lookup."),
        Table("Size of filters", ("name",), ["size", "bits per key", "block indexes",
              "in the cache: all filters", "in the cache: after 1 % of keys", SHARE],
              head="Filters"),
        Table("Scans for one value: data blocks", ("column", "state"), where={"metric": READ},
              across="name", head="Column, state",
              note="Means per value, with nothing cached. Least: the different data blocks that "
              "hold a row of the answer. Every answer was compared with the right one."),
        Table("Scans for one value", ("column", "state"),
              ["runs", "values", "matching rows", "of the least", "index size"]),
    ),
    plots=(
        Plot("Data blocks per lookup", "Filters save the reads of absent keys.", ALL,
             series=("keys",), group=("name",), log="x", styles=STYLES),
        Plot("Data blocks read by a scan for one value", "A skip index reads little more than what "
             "matches.", READ, series=("name",), group=("column", "state"), log="x", styles=STYLES),
    ),
)
