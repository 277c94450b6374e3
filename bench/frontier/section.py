"""The frontier between space, rate and speed."""

from bench.report.declare import Highlight, Lines, Section, Table, Target, Value

SECTION = Section(
    title="Space, rate and speed",
    lead="Every stock configuration (5, 8, 10, 12, 16 and 20 bits per key) and blocksieve's "
         "filters of no higher false-positive rate, in one run.",
    values={"beaten": Value("beaten"), "compared": Value("compared")},
    highlight=Highlight("{beaten} of {compared}",
                        "stock configurations beaten in rate, space and probe time at once",
                        "Stock Bloom and Ribbon of 5 to 20 bits per key, each against the filters "
                        "of blocksieve in the same run."),
    headline="For {beaten} of {compared} stock configurations there is one of blocksieve's with no "
             "higher false-positive rate, less space and a faster probe.",
    targets=(Target("stock configurations not beaten in rate, space and probe time at once",
                    "not beaten", at_most=0),),
    tables=(
        Table("Every stock configuration, and what beats it: {keys}", ("name",),
              [f"{side}: {what}" for side in ("stock", "blocksieve")
               for what in ("FPR",
                            "bits per key", "above the least", "absent key", "build, a key")],
              each="keys", head="Filter",
              note="After →, the smallest of blocksieve's filters that is better in rate, space "
                   "and probe time at once, in time beyond the noise. Least: log2(1/FPR) bits per "
                   "key."),
    ),
    plots=(
        Lines("Space against the limit, {keys}",
              "Bits per key over the false-positive rate: ribbons lie on the limit, log2(1/FPR), "
              "which no filter can go below.",
              "FPR", "bits per key", each="keys", log="x",
              x_label="false-positive rate"),
        Lines("Probe time over space, {keys}",
              "Time of a probe of an absent key over bits per key. Lower left is better.",
              "bits per key", "absent key", each="keys"),
    ),
    labels={"keys": "{:,} keys"},
    digits={"stock: bits per key": 4, "blocksieve: bits per key": 4},
)
