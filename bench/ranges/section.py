"""Seeks with an upper bound in RocksDB: what range filters save, and what they cost."""

from bench.report.declare import Plot, Section, Table, Target, Value

RANGES, INTEGERS = "blocksieve, ranges", "8-byte integers"
OURS, KEYS = (RANGES, RANGES + ", partitioned"), (INTEGERS, "u%07d:%013d")
DRAWN = {"no filter": "grey", "stock prefix Bloom": "orange", "index with first key": "green",
         RANGES: "blue", OURS[1]: "purple"}
BLOCKS, SEEK, FEWER = "data blocks, all lengths", "empty seek", "times fewer data blocks"
BY_CONTESTANT = {
    "data blocks": "Data blocks per seek in empty ranges", SEEK: "Time per seek in empty ranges",
    SEEK + ", cold": "Time per seek in empty ranges, cold", "filter bits per key": "Bits per key",
    "data blocks, one key": "Data blocks per seek in ranges whose only key is their last",
    "seek of one key": "Time per seek in ranges whose only key is their last"}
POINTS = ", relative to point filters"
LIMITS = {BLOCKS: 0.15, SEEK + ", relative to the best other": 0.3,
          SEEK + ", cold, relative to no filter": 0.1, "point hit" + POINTS: 1.05,
          "point miss" + POINTS: 1.05}
REFUSED = ["additional bytes", "log messages per file", SEEK + ", relative to no filter"]
PREFIXES, BOTH = "blocksieve, prefixes", "blocksieve, prefixes and ranges"
STRUCTURED = {"paths": (3, 0.1), "paths, one level": (1, 0.1), "account:user:event": (0.3, 0.1),
              "members of hashes": (1.5, 1.1), "16 random bytes": (0, 0)}
ABOVE, PER_SEEK = "bits per key above the point filter", "blocks per seek"
BUILD = "build, relative to point filter"
PROBE = ("hot: lookup of a prefix", "cold: lookup of a prefix")
PROBE_RATIO = tuple(name + ", relative to a key" for name in PROBE)
ALONE, WORKLOAD = {"name": "filter alone"}, ("workload", "reads")

SECTION = Section(
    title="Seeks with an upper bound in RocksDB",
    lead="Range filters rule out files without a key in the range of a seek. Databases have {runs} "
    "sorted runs, each spread over the whole key range. Data blocks: read or found in the block "
    "cache, as counted by RocksDB. Times: processor time; cold: wall-clock time without a block "
    "cache, {cold_reads}, with filters and indexes in memory. “0.01 keys”: empty ranges as long as "
    "those that hold 0.01 keys on average. Stock prefix Bloom: RocksDB's, with the prefix length "
    "that reads the fewest blocks over all lengths. Points: without range filters.",
    values={"fewer": Value(FEWER, {"name": RANGES, "keys": INTEGERS}),
            **{name: Value(BLOCKS, {"name": of, "keys": INTEGERS}) for name, of in
               (("none", "no filter"), ("stock", "stock RocksDB"), ("ours", RANGES))}},
    result=("{fewer}", "fewer data blocks read by a seek in an empty range", "{none} without a "
            "filter, {stock} with the best of RocksDB's own, {ours} with range filters; "
            "{ours[keys]}."),
    targets=(
        *(Target(metric, {"name": OURS, "keys": KEYS}, ("name", "keys"), limit)
          for metric, limit in LIMITS.items()),
        Target(FEWER, {"keys": KEYS}, ("name", "keys"), at_least=25),
        *(Target(metric, ALONE, ("keys",), limit) for metric, limit in (
            ("bits per key", 8.6), ("probe", 260), ("build per key: ratio", 2))),
        Target(REFUSED[0], {}, ("name", "keys"), 0), Target(REFUSED[1], {}, ("name", "keys"), 1),
        *(Target(metric, {"name": PREFIXES, "structure": name}, by, limit)
          for name, limits in STRUCTURED.items()
          for metric, by, limit in ((ABOVE, ("structure",), limits[0]),
                                    (PER_SEEK, ("structure", "seeks"), limits[1]))),
        Target("seek, relative to range filters", {"name": BOTH, "structure": "tenant | time"},
               ("structure", "seeks"), 1),
        Target("absent key" + POINTS, {"name": PREFIXES, "structure": tuple(STRUCTURED)},
               ("structure",), 1.02),
        Target(BUILD, {"structure": ("account:user:event", "tenant | time", "16 random bytes")},
               ("name", "structure"), 1.15),
        *(Target(metric, {}, ("name", "structure"), 1.3) for metric in PROBE_RATIO)),
    tables=(
        Table("{metric}", ("keys", "ranges"), None, {"metric": tuple(BY_CONTESTANT)}, "name",
              "Keys", each="metric"),
        Table("Range filters, relative to the best other and to point filters alone",
              ("keys", "name"), [*LIMITS, "filling" + POINTS], {"name": OURS}, head="Keys"),
        Table("The range filter alone, at an FPR of 1.5 %", ("keys", "number"), where=ALONE),
        Table("Keys that are too similar for a range filter", ("keys", "name"), REFUSED),
        Table("Reason, and build time when none is written", ("keys", "why"),
              where={"name": "refused"}),
        Table("Structured keys: data blocks per seek", ("structure", "seeks"), None,
              {"metric": PER_SEEK}, "name", "Keys",
              note="Stock prefix Bloom: prefixes end at the boundary that reads the fewest blocks. "
              "Stock segment bounds: SstQueryFilterConfigs, which RocksDB has from 9.0 on. "
              "Paths: 8 random runs, or 8 files of one level. account:user:event: 25 accounts, 500 "
              "events of each user. Members: 8 in each hash, keys as in Kvrocks; 90 % in one run, "
              "the others in 7 small ones."),
        Table("Structured keys: filters and lookups", ("structure", "name"),
              ["bits per key", ABOVE, "absent key" + POINTS, "writing" + POINTS],
              {"name": ("blocksieve, points", "stock prefix Bloom", RANGES, PREFIXES, BOTH)}),
        Table("Structured keys: one filter", ("structure", "name"),
              ["build per key", BUILD, *PROBE, *PROBE_RATIO],
              note="Hot: in one filter. Cold: one at a time, in filters of 64 MiB together."),
        Table("Workloads", ("workload", "name"), ["keys per scan", "data blocks per operation"],
              note="{workloads}"),
        Table("Workloads: speed", (*WORKLOAD, "name"), ["operations per second", "times as fast"]),
    ),
    plots=(
        Plot("Data blocks per seek in empty ranges", "With range filters, nearly all seeks read no "
             "data block.", BLOCKS, where={"name": tuple(DRAWN)}, group=("keys",), log="x",
             styles=DRAWN),
        Plot("Workloads with point filters alone and with range filters", "Range filters pay most "
             "where blocks are read from a disk.", "operations per second", group=WORKLOAD, log="x",
             styles={**DRAWN, "blocksieve, points": "grey"})),
    labels={"number": "{:,} keys", "metric": BY_CONTESTANT},
)
