"""Single filters: times, bits per key, and ratios to RocksDB's filters and to physical limits."""

from bench.report.declare import Plot, Section, Table, Target, Value

STYLES = {"stock bloom": "orange s-", "stock ribbon": "pink s-", "blocksieve bloom": "green o-",
          "blocksieve ribbon": "blue o-", "limit hash line": "black --"}
AGAINST_STOCK = "absent key, relative to stock Bloom 10"

# Highest ratios of times at a million keys: to a Debian RocksDB, whose filters do not use AVX2, and
# to one compiled for the whole processor.
LIMITS = {
    AGAINST_STOCK: (0.40, 0.75),
    "batch of 32, relative to stock Bloom 10": (0.50, 0.60),
    "build, relative to stock Bloom 10": (0.60, 0.40),
    "absent key, relative to hash + one line": (1.35, 1.35),
    "raw probe AVX-512, relative to one line": (1.2, 1.2),
    "raw probe AVX2, relative to one line": (1.2, 1.2),
    "ribbon: absent, relative to stock Bloom 10": (0.55, 1.1),
    "ribbon: batch of 32, relative to stock Bloom 10": (0.55, 0.80),
    "ribbon: build, relative to stock Ribbon": (0.40, 0.16),
    "ribbon: raw AVX-512, relative to one line": (4.0, 4.0),
    "ribbon: raw AVX2, relative to AVX-512": (1.35, 1.35),
}

OURS = {"name": "blocksieve bloom", "what": "absent"}
SECTION = Section(
    title="Single filters",
    lead="Build and probe times of single filters of 16-byte keys, through the interface that "
    "RocksDB uses. Stock: RocksDB's own filters of 10 bits per key. blocksieve's filters have the "
    "false-positive rate (FPR) measured for stock Bloom. Batch: several keys in one call. Raw: "
    "without that interface, from prepared hashes; its limit is reading one cache line per key. "
    "Cold: one probe at a time, each in one of 715 filters of 75,000 keys, as in a server; all "
    "others probe one filter in a loop, where the processor overlaps probes.",
    values={"faster": Value("times as fast", {"name": AGAINST_STOCK}), "ours": Value("time", OURS),
            "stock": Value("time", {**OURS, "name": "stock bloom"})},
    result=("{faster}", "as fast as stock Bloom at probing for an absent key",
            "{ours}, stock Bloom {stock}; {ours[keys]}, the same false-positive rate."),
    targets=tuple(
        Target("ratio", {"name": name, "keys": 1_000_000}, ("name",), limit, when={"stock": stock})
        for name, limits in LIMITS.items() for stock, limit in zip(("portable", "native"), limits))
    + tuple(Target("ratio", {"name": name + "cold, relative to stock Bloom 10"}, ("name",), 1)
            for name in ("", "ribbon: ")),
    tables=(
        Table("{metric}", ("name",), None, {"metric": (
            "bits per key", "bytes per key to build", "bytes of an open filter", "FPR", "ratio")},
              "keys", "Filter", each="metric"),
        Table("Time per key, or opened filter, ns", ("what", "name"), None, {"metric": "time"},
              "keys", "Operation, filter"),
    ),
    plots=(
        Plot("Probe time for an absent key", "Dashed: the physical limit, hashing the key and "
             "reading one cache line.", "time", "keys",
             {"what": "absent", "name": tuple(STYLES)}, log="xy", styles=STYLES),
        Plot("Build time of a filter", "Time per key, by number of keys in the filter.",
             "time", "keys", {"what": "build", "name": tuple(STYLES)[:4]}, log="xy", styles=STYLES),
    ),
    labels={"keys": "{:,} keys", "name": {"limit hash line": "limit: hash + one line"}, "metric": {
        "bits per key": "Bits per key", "FPR": "Measured FPR",
        "ratio": "Ratios of times; “ribbon”: blocksieve's ribbon, all others: its Bloom"}},
    digits={"bits per key": 4},
)
