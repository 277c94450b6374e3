"""The toy LSM: lookups with filters per file or per granule of data blocks."""

from bench.report.declare import Plot, Section, Table, Target, Value

OURS = "blocked Bloom, per granule"
ALL = "data blocks: all"
LOOKUP = [ALL, "data blocks: from disk", "filter blocks: all", "filter blocks: from disk",
          "bytes: from disk", "bytes: from cache", "false positives"]
SHARE = "in the cache: share"

SECTION = Section(
    title="The toy LSM",
    lead="A small LSM engine, with rows written in random order: {runs} sorted runs. Lookups with "
    "a filter per file or per granule of eight data blocks, at a false-positive rate of 1 % on all "
    "levels. Counts are the engine's.\n"
    "Input: {input} Block cache: {cache} of keys and values, initially empty.",
    values={"none": Value(ALL, {"name": "no filter", "keys": "absent keys"}),
            "ours": Value(ALL, {"name": OURS, "keys": "absent keys"})},
    result=("{ours}", "data blocks read by a lookup of an absent key", "{none} without filters, "
            "{ours} with {ours[name]}, in {runs} runs of the toy LSM."),
    targets=(
        Target("wasted data blocks, relative to FPR × runs", {}, ("name",), 1.05),
        Target(SHARE, {"name": (OURS, "ribbon, per granule")}, ("name",), 0.03),
    ),
    tables=(
        Table("Lookups of {keys}", ("name",), LOOKUP, each="keys", head="Filters",
              note="Per lookup."),
        Table("Filter size", ("name",), ["size", "bits per key", "block indexes",
              "in the cache: all filters", "in the cache: after 1 % of keys", SHARE],
              head="Filters"),
    ),
    plots=(
        Plot("Data blocks per lookup", "Filters save the reads of absent keys.", ALL,
             series="keys", group=("name",), log="x",
             styles={"absent keys": "blue", "present keys": "orange"}),
    ),
)
