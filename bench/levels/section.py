"""False-positive rates by level: wasted reads by filter memory."""

from bench.report.declare import Plot, Section, Table, Target, Value

STYLES = {
    "stock Bloom": "orange s-", "stock Ribbon": "pink s-",
    "stock Ribbon, Bloom on level 0": "purple ^-",
    "blocksieve ribbon, same rate on all levels": "green o-",
    "blocksieve ribbon, by level": "blue o-", "blocksieve auto, by level": "grey D-",
}
TITLES = {"stock Bloom": "stock Bloom 10", "blocksieve ribbon, by level": "by level",
          "blocksieve auto, by level": "by level, auto"}
RUNS = {f"{name}: {what}": f"{title}: {what}" for name, title in TITLES.items()
        for what in ("keys", "bits per key")}
FIRST = {"tree": "size ratio 4, static levels"}
SAME_MEMORY = "wasted reads at stock Bloom 10's memory, relative to "
LIMITS = {
    SAME_MEMORY + "stock Bloom 10": 1 / 20,
    SAME_MEMORY + "stock Ribbon": 0.40,
    SAME_MEMORY + "stock Ribbon, Bloom on level 0": 0.40,
    SAME_MEMORY + "blocksieve ribbon, same rate on all levels": 0.50,
    "wasted reads, relative to the optimum": 1.05,
    "wasted reads after reopening and more flushes, relative to the optimum": 1.10,
    "memory at stock Bloom 10's wasted reads, relative to stock Bloom 10": 0.60,
}

SECTION = Section(
    title="False-positive rates by level",
    lead="Wasted reads: data blocks read per lookup of an absent key, over {lookups:,} lookups. "
    "Trees of {keys:,} keys, written in random order, with real compactions. Stock: RocksDB's own "
    "filters. By level: blocksieve chooses the false-positive rate of each level for the fewest "
    "wasted reads.",
    values={"fewer": Value("times fewer", FIRST), "stock": Value("reads with stock Bloom", FIRST),
            "ours": Value("reads by level", FIRST)},
    result=("{fewer}", "fewer wasted reads than with stock Bloom, in the same memory",
            "{stock} data blocks per lookup of an absent key with stock Bloom of 10 bits per "
            "key, {ours} with rates by level; {fewer[tree]}."),
    targets=tuple(Target("ratio", {"name": name}, ("name", "tree"), limit)
                  for name, limit in LIMITS.items()),
    tables=(
        Table("Wasted reads by memory: {tree}", ("name", "bits"), ["bits per key",
              "wasted reads", "relative to stock Bloom", "relative to stock Ribbon",
              "relative to the optimum", "runs"], each="tree",
              head="Filters, requested bits per key",
              note="Relative to stock filters: at equal memory, interpolated between their "
              "settings. Optimum: the fewest wasted reads of ribbons of the same total size, if "
              "every lookup probes all runs; lookups that skip a partially filled level can beat "
              "it. After reopening: the database was closed and opened, and got "
              "{flushes_after_reopening} more flushes. Runs: sorted runs of the tree."),
        Table("Filters of each sorted run: {tree}", ("name",), tuple(RUNS), each="tree",
              head="Sorted run"),
    ),
    plots=(
        Plot("Wasted reads by memory: {tree}", "Data blocks read per lookup of an absent key, by "
             "filter bits per key. Lower left is better.", "wasted reads",
             "filter bits per key", {"name": tuple(STYLES)}, each="tree", log="y", styles=STYLES),
    ),
    digits={"bits per key": 4, "wasted reads": 4},
    labels={"metric": RUNS},
)
