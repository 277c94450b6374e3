"""The toy LSM: lookups with filters per file or per granule of data blocks, and scans by value."""

from bench.report.declare import Plot, Section, Table, Target, Value

OURS = "blocked Bloom, per granule"
ALL, READ = "data blocks: all", "data blocks read"
LOOKUP = [ALL, "data blocks: from disk", "filter blocks: all", "filter blocks: from disk",
          "bytes: from disk", "bytes: from cache", "false positives"]
SHARE = "in the cache: share"
STYLES = {"absent keys": "blue", "present keys": "orange", "skip index": "blue", "minimum": "green",
          "full scan": "grey"}

SECTION = Section(
    title="The toy LSM",
    lead="A small LSM engine, with rows written in random order: {runs} sorted runs. Lookups with "
    "a filter per file or per granule of eight data blocks, at a false-positive rate of 1 % on all "
    "levels; scans for a column's value with and without a skip index. Counts are the engine's.\n"
    "Input: {input} Block cache: {cache} of keys and values, initially empty.",
    values={"none": Value(ALL, {"name": "no filter", "keys": "absent keys"}),
            "ours": Value(ALL, {"name": OURS, "keys": "absent keys"})},
    result=("{ours}", "data blocks read by a lookup of an absent key", "{none} without filters, "
            "{ours} with {ours[name]}, in {runs} runs of the toy LSM."),
    targets=(
        Target("wasted data blocks, relative to FPR × runs", {}, ("name",), 1.05),
        Target("relative to the minimum", {}, ("column", "state"), 1.15),
        Target(SHARE, {"name": (OURS, "ribbon, per granule")}, ("name",), 0.03),
    ),
    tables=(
        Table("Lookups of {keys}", ("name",), LOOKUP, each="keys", head="Filters",
              note="Per lookup."),
        Table("Filter size", ("name",), ["size", "bits per key", "block indexes",
              "in the cache: all filters", "in the cache: after 1 % of keys", SHARE],
              head="Filters"),
        Table("Scans for one value: data blocks read", ("column", "state"), where={"metric": READ},
              across="name", head="Column, state",
              note="Means per scan, with an empty cache. Minimum: the data blocks that hold a row "
              "of the result. Every result was checked."),
        Table("Scans for one value: sizes", ("column", "state"),
              ["runs", "values", "matching rows", "relative to the minimum", "index size"]),
    ),
    plots=(
        Plot("Data blocks per lookup", "Filters save the reads of absent keys.", ALL,
             series=("keys",), group=("name",), log="x", styles=STYLES),
        Plot("Data blocks read by a scan for one value", "A scan with a skip index reads little "
             "more than the minimum.", READ, series=("name",), group=("column", "state"), log="x",
             styles=STYLES),
    ),
)
