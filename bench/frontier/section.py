"""The frontier between size, false-positive rate and speed."""

from bench.report.declare import Plot, Section, Table, Target, Value

FIGURES = ("FPR", "bits per key", "above the lower bound", "absent key", "build per key")
COLUMNS = [f"{side}: {figure}" for side in ("stock", "blocksieve") for figure in FIGURES]

SECTION = Section(
    title="Size, false-positive rate and speed",
    lead="RocksDB's own (“stock”) filters of 5, 8, 10, 12, 16 and 20 bits per key, each compared "
    "with blocksieve's of the same or a lower false-positive rate (FPR).",
    values={"beaten": Value("beaten"), "compared": Value("compared")},
    result=("{beaten} of {compared}", "stock configurations beaten in FPR, size and probe time at "
            "once", "Stock Bloom and Ribbon of 5 to 20 bits per key, compared with blocksieve's "
            "filters in the same run."),
    targets=(Target("not beaten", at_most=0),),
    tables=(
        Table("Stock configurations, and the blocksieve filter that beats each: {keys}", ("name",),
              COLUMNS, each="keys", head="Filter", note="After →: the smallest blocksieve filter "
              "that has no higher FPR, is smaller, and is faster by more than the noise. Absent "
              "key: time of a probe. Lower bound, for all filters: log2(1/FPR) bits per key."),
    ),
    plots=(
        Plot("FPR by size, {keys}", "The limit is the lower bound for all filters, log2(1/FPR) "
             "bits per key. Ribbons are close to it.", "bits per key", "FPR", each="keys", log="x"),
        Plot("Probe time by size, {keys}", "Time of a probe for an absent key, by bits per key. "
             "Lower left is better.", "absent key", "bits per key", each="keys"),
    ),
    labels={"keys": "{:,} keys"},
    digits={"stock: bits per key": 4, "blocksieve: bits per key": 4},
)
