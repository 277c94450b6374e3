"""Filters alone: times, bits per key, and ratios against stock RocksDB and the limits."""

from bench.report.declare import Highlight, Lines, Section, Table, Target, Value

SIZES = (10_000, 1_000_000, 10_000_000)
FILTERS = ("stock bloom", "stock ribbon", "blocksieve bloom", "blocksieve ribbon")
STYLES = {"stock bloom": "orange s-", "stock ribbon": "pink s-", "limit hash line": "text --"}

# Most time, by keys: of what a Debian RocksDB takes, whose filters use no AVX2; and of one that may
# use the whole processor.
LIMITS = {
    "absent key, against stock Bloom 10": ((0.40, 0.40, 0.70), (0.80, 0.75, 0.65)),
    "batch of 32, against stock Bloom 10": ((0.50, 0.50, 0.50), (0.60, 0.60, 0.60)),
    "build, against stock Bloom 10": ((0.60, 0.60, 0.60), (0.45, 0.40, 0.45)),
    "absent key, against hash + one line": ((1.35, 1.35, 1.35), (1.35, 1.35, 1.35)),
    "raw probe AVX-512, against one line": ((1.2, 1.2, None), (1.2, 1.2, None)),
    "raw probe AVX2, against one line": ((1.2, 1.2, None), (1.2, 1.2, None)),
    "ribbon: absent, against stock Bloom 10": ((0.55, 0.55, 0.85), (1.4, 1.1, 0.65)),
    "ribbon: absent, against stock Ribbon": ((0.30, 0.30, 0.30), (None, None, None)),
    "ribbon: batch of 32, against stock Bloom 10": ((0.55, 0.55, 0.55), (0.95, 0.80, 0.65)),
    "ribbon: build, against stock Ribbon": ((0.70, 0.40, 0.25), (0.45, 0.16, 0.14)),
    "ribbon: raw AVX-512, against one line": ((None, 4.0, None), (None, 4.0, None)),
    "ribbon: raw AVX2, against AVX-512": ((1.35, 1.35, 1.35), (1.35, 1.35, 1.35)),
}

OURS = {"name": "blocksieve bloom", "what": "absent"}
SECTION = Section(
    title="Filters alone",
    lead="Building and probing single filters of 16-byte keys, through the interface by which "
    "RocksDB does it. blocksieve's filters are asked for the FPR that stock Bloom of 10 bits per "
    "key turns out to have. Medians of interleaved repetitions.",
    values={"faster": Value("times as fast", {"name": "absent key, against stock Bloom 10"}, "last"),
            "ours": Value("time", OURS, "last"),
            "stock": Value("time", {**OURS, "name": "stock bloom"}, "last")},
    highlight=Highlight("{faster:short}", "as fast to ask for an absent key as stock Bloom",
                        "{ours} against {stock}, {ours[keys]} at the same false-positive rate."),
    targets=tuple(
        Target(title, "ratio", {"name": title}, ("keys",), when={"stock": stock},
               at_most={keys: limit for keys, limit in zip(SIZES, limits) if limit})
        for title, both in LIMITS.items() for stock, limits in zip(("portable", "native"), both)),
    tables=(
        Table("Bits per key", ("name",), None, {"metric": "bits per key"}, "keys", "Filter"),
        Table("Measured FPR", ("name",), None, {"metric": "FPR"}, "keys", "Filter"),
        Table("Ratios of times", ("name",), None, {"metric": "ratio"}, "keys", "What"),
        Table("Times, ns per key", ("what", "name"), None, {"metric": "time"}, "keys", "What"),
    ),
    plots=(
        Lines("Probe of an absent key, against the limit", "Dashed: the limit, hashing the key and "
              "reading one cache line.", "keys", "time",
              {"what": "absent", "name": (*FILTERS, "limit hash line")}, log="xy", styles=STYLES),
        Lines("Building a filter", "Time per key to build a filter, over the number of keys.",
              "keys", "time", {"what": "build", "name": FILTERS}, log="xy", styles=STYLES),
    ),
    labels={"keys": "{:,} keys", "name": {"limit hash line": "limit: hash + one line"}},
    digits={"bits per key": 4},
)
