"""Filters alone: times, bits per key, and ratios against stock RocksDB and the limits."""

from bench.report.declare import Plot, Section, Table, Target, Value

FILTERS = ("stock bloom", "stock ribbon", "blocksieve bloom", "blocksieve ribbon")
STYLES = {"stock bloom": "orange s-", "stock ribbon": "pink s-", "limit hash line": "black --"}
AGAINST_STOCK = "absent key, against stock Bloom 10"

# Most time with a million keys: of what a Debian RocksDB takes, whose filters use no AVX2; and of
# one that may use the whole processor.
LIMITS = {
    AGAINST_STOCK: (0.40, 0.75),
    "batch of 32, against stock Bloom 10": (0.50, 0.60),
    "build, against stock Bloom 10": (0.60, 0.40),
    "absent key, against hash + one line": (1.35, 1.35),
    "raw probe AVX-512, against one line": (1.2, 1.2),
    "raw probe AVX2, against one line": (1.2, 1.2),
    "ribbon: absent, against stock Bloom 10": (0.55, 1.1),
    "ribbon: batch of 32, against stock Bloom 10": (0.55, 0.80),
    "ribbon: build, against stock Ribbon": (0.40, 0.16),
    "ribbon: raw AVX-512, against one line": (4.0, 4.0),
    "ribbon: raw AVX2, against AVX-512": (1.35, 1.35),
}

OURS = {"name": "blocksieve bloom", "what": "absent"}
SECTION = Section(
    title="Filters alone",
    lead="Building and probing single filters of 16-byte keys, through the interface by which "
    "RocksDB does it. blocksieve's filters are asked for the FPR that stock Bloom of 10 bits per "
    "key turns out to have. Medians of interleaved repetitions.",
    values={"faster": Value("times as fast", {"name": AGAINST_STOCK}), "ours": Value("time", OURS),
            "stock": Value("time", {**OURS, "name": "stock bloom"})},
    result=("{faster}", "as fast to ask for an absent key as stock Bloom",
            "{ours} against {stock}, {ours[keys]} at the same false-positive rate."),
    targets=tuple(
        Target("ratio", {"name": name, "keys": 1_000_000}, ("name",), limit, when={"stock": stock})
        for name, limits in LIMITS.items() for stock, limit in zip(("portable", "native"), limits)),
    tables=(
        Table("{metric}", ("name",), None, {"metric": ("bits per key", "FPR", "ratio")}, "keys",
              "Filter", each="metric"),
        Table("Times, ns per key", ("what", "name"), None, {"metric": "time"}, "keys", "What"),
    ),
    plots=(
        Plot("Probe of an absent key, against the limit", "Dashed: the limit, hashing the key and "
             "reading one cache line.", "time", "keys",
             {"what": "absent", "name": (*FILTERS, "limit hash line")}, log="xy", styles=STYLES),
        Plot("Building a filter", "Time per key to build a filter, over the number of keys.",
             "time", "keys", {"what": "build", "name": FILTERS}, log="xy", styles=STYLES),
    ),
    labels={"keys": "{:,} keys", "name": {"limit hash line": "limit: hash + one line"}, "metric": {
        "bits per key": "Bits per key", "FPR": "Measured FPR", "ratio": "Ratios of times"}},
    digits={"bits per key": 4},
)
