"""The frontier between space, rate and speed."""

from bench.report.declare import Plot, Section, Table, Target, Value

COLUMNS = [f"{side}: {what}" for side in ("stock", "blocksieve")
           for what in ("FPR", "bits per key", "above the least", "absent key", "build, a key")]

SECTION = Section(
    title="Space, rate and speed",
    lead="Every stock configuration (5, 8, 10, 12, 16 and 20 bits per key) and blocksieve's "
    "filters of no higher false-positive rate, in one run.",
    values={"beaten": Value("beaten"), "compared": Value("compared")},
    result=("{beaten} of {compared}", "stock configurations beaten in rate, space and probe time "
            "at once", "Stock Bloom and Ribbon of 5 to 20 bits per key, each against the filters "
            "of blocksieve in the same run."),
    targets=(Target("not beaten", at_most=0),),
    tables=(
        Table("Every stock configuration, and what beats it: {keys}", ("name",), COLUMNS,
              each="keys", head="Filter", note="After →, the smallest of blocksieve's filters that "
              "is better in rate, space and probe time at once, in time beyond the noise. Least: "
              "log2(1/FPR) bits per key."),
    ),
    plots=(
        Plot("Space against the limit, {keys}", "Ribbons lie on the limit, log2(1/FPR) bits per "
             "key, which no filter can go below.", "bits per key", "FPR", each="keys", log="x"),
        Plot("Probe time over space, {keys}", "Time of a probe of an absent key over bits per key. "
             "Lower left is better.", "absent key", "bits per key", each="keys"),
    ),
    labels={"keys": "{:,} keys"},
    digits={"stock: bits per key": 4, "blocksieve: bits per key": 4},
)
