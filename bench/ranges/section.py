"""Seeks with an upper bound in RocksDB: what range filters save, and what they cost."""

from bench.report.declare import Plot, Section, Table, Target, Value

RANGES, INTEGERS = "blocksieve, ranges", "8-byte integers"
OURS, KEYS = (RANGES, RANGES + ", partitioned"), (INTEGERS, "u%07d:%013d")
DRAWN = {"no filter": "grey", "stock prefix Bloom": "orange", "index with first key": "green",
         RANGES: "blue", OURS[1]: "purple"}
BLOCKS, SEEK, FEWER = "blocks, all lengths", "empty seek", "blocks, times fewer"
BY_CONTESTANT = {
    "data blocks": "Data blocks per seek in empty ranges", SEEK: "Time per seek in empty ranges",
    SEEK + ", cold": "Time per seek in empty ranges, cold", "filter bits per key": "Bits per key",
    "blocks, one key": "Data blocks per seek in ranges that end with their only key",
    "seek of one key": "Time per seek in ranges that end with their only key"}
LIMITS = {BLOCKS: 0.15, SEEK + ", of the best": 0.3, SEEK + ", cold, of no filter": 0.1,
          "hit, of points": 1.05, "miss, of points": 1.05}
REFUSED = ["more bytes, refused", "log lines per file, refused", SEEK + ", of no filter, refused"]
ALONE, WORKLOAD = {"name": "filter alone"}, ("workload", "reads")

SECTION = Section(
    title="Ranges of keys in RocksDB",
    lead="Seeks with an upper bound in {runs} sorted runs, each of which has keys of all parts. "
    "Blocks: data blocks that a seek reads or finds in the cache, as RocksDB counts them. Times: "
    "medians of processor time in turns; cold: by the clock, without a block cache, {cold_reads}, "
    "filters and indexes in memory. Ranges are as long as those that hold 0.001 to 1 keys on "
    "average. Prefix Bloom: with the prefix that reads the fewest blocks over all lengths.",
    values={"fewer": Value(FEWER, {"name": RANGES, "keys": INTEGERS}),
            **{name: Value(BLOCKS, {"name": of, "keys": INTEGERS}) for name, of in
               (("none", "no filter"), ("stock", "stock RocksDB"), ("ours", RANGES))}},
    result=("{fewer}", "fewer data blocks read by a seek in a range without keys", "{none} without "
            "a filter, {stock} with the best of stock RocksDB, {ours} with range filters; "
            "{ours[keys]}."),
    targets=(
        *(Target(metric, {"name": OURS, "keys": KEYS}, ("name", "keys"), limit)
          for metric, limit in LIMITS.items()),
        Target(FEWER, {"keys": KEYS}, ("name", "keys"), at_least=25),
        *(Target(metric, ALONE, ("keys",), limit) for metric, limit in (
            ("bits per key", 8.6), ("probe", 260), ("building, per key: ratio", 2))),
        Target(REFUSED[0], {}, ("name", "keys"), 0), Target(REFUSED[1], {}, ("name", "keys"), 1)),
    tables=(
        Table("{metric}", ("keys", "ranges"), None, {"metric": tuple(BY_CONTESTANT)}, "name",
              "Keys", each="metric"),
        Table("Ranges against the best of the others and against points alone", ("keys", "name"),
              [*LIMITS, "filling, of points"], {"name": OURS}, head="Keys"),
        Table("The filter alone, for 1.5 % of ranges", ("keys", "number"), where=ALONE),
        Table("Keys of which no range filter is made", ("keys", "name"), REFUSED),
        Table("Why, and what trying takes", ("keys", "why"), where={"name": "refused"}),
        Table("Workloads", ("workload", "name"), ["keys per scan", "data blocks per operation"],
              note="{workloads}"),
        Table("Their speed", (*WORKLOAD, "name"), ["operations per second", "times as fast"]),
    ),
    plots=(
        Plot("Data blocks per seek in ranges without keys", "Range filters keep nearly all seeks "
             "from reading.", BLOCKS, where={"name": tuple(DRAWN)}, group=("keys",), log="x",
             styles=DRAWN),
        Plot("Workloads with filters of points alone and with ranges", "Ranges pay most where "
             "blocks come from a disk.", "operations per second", group=WORKLOAD, log="x",
             styles={**DRAWN, "blocksieve, points": "grey"})),
    labels={"number": "{:,} keys", "metric": BY_CONTESTANT},
)
