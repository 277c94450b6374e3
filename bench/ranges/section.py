"""Seeks with an upper bound in RocksDB: what range filters save, and what they cost."""

from bench.report.declare import Dots, Highlight, Section, Table, Target, Value

POINTS, RANGES = "blocksieve, points", "blocksieve, ranges"
OURS = (RANGES, RANGES + ", partitioned")
SHORT = {
    "no filter": "No filter", "stock prefix Bloom": "Prefix Bloom",
    "index with first key": "First-key index", RANGES: "Ranges",
    POINTS + ", partitioned": "Partitioned: no ranges",
    "stock prefix Bloom, partitioned": "Partitioned: prefix Bloom", OURS[1]: "Partitioned: ranges",
}
STYLES = {"no filter": "grey", "stock prefix Bloom": "orange", "index with first key": "green",
          POINTS: "grey", RANGES: "blue", OURS[1]: "purple"}
DRAWN = ("no filter", "stock prefix Bloom", "index with first key", *OURS)
INTEGERS, TENANTS = "8-byte integers", "u%07d:%013d"
OTHER_KEYS = ("user%016d", TENANTS)
BLOCKS, SEEK = "blocks, all lengths", "empty seek"
BY = ("name", "keys")


def of_ours(what, metric, **limits):
    return Target(what, metric, {"name": OURS, "keys": (INTEGERS, TENANTS)}, BY, **limits)


def each(integers, tenants):
    limits = {INTEGERS: integers, TENANTS: tenants}
    return {(name, keys): limit for keys, limit in limits.items() for name in OURS}


def alone(what, metric, others, integers=None):
    for keys, limit in ((INTEGERS, integers or others), (OTHER_KEYS, others)):
        yield Target(what, metric, {"name": "filter alone", "keys": keys}, ("keys",), limit)


def by_contestant(caption, metric, rows=("keys",), note="", **more):
    return Table(caption, rows, {**SHORT, **more}, {"metric": metric}, "name", "Keys", note=note)


SECTION = Section(
    title="Ranges of keys in RocksDB",
    lead="Seeks with an upper bound in {runs} sorted runs, each of which has keys of all parts. "
    "Blocks: data blocks that a seek reads or finds in the cache, as RocksDB counts them. All "
    "contestants are open in one process and take turns; times are medians, of processor time. "
    "Cold: by the clock, without a block cache, {cold_reads}, filters and indexes in memory.",
    values={"fewer": Value("blocks, times fewer", {"name": RANGES, "keys": INTEGERS}),
            **{name: Value(BLOCKS, {"name": of, "keys": INTEGERS}) for name, of in
               {"none": "no filter", "stock": "stock RocksDB", "ours": RANGES}.items()}},
    headline="A seek in a range of {ours[keys]} without keys read {ours} data blocks with range "
    "filters, {none} without a filter, and {stock} with the best of stock RocksDB.",
    highlight=Highlight(
        "{fewer}", "fewer data blocks read by a seek in a range without keys", "{none} without a "
        "filter, {stock} with the best of stock RocksDB, {ours} with range filters; {ours[keys]}."),
    targets=(
        Target("data blocks per empty seek", BLOCKS, {}, BY, at_most=each(0.10, 0.15)),
        Target("data blocks, times fewer than the best of the others", "blocks, times fewer", {},
               BY, at_least=each(40, 25)),
        Target("the same, at the worst length", "blocks, times fewer, worst length", {}, BY,
               at_least=each(40, 25)),
        of_ours("time per empty seek, of the best of the others", SEEK + ", of the best",
                at_most=0.30),
        of_ours("time per empty seek, cold, of no filter", SEEK + ", cold, of no filter",
                at_most=0.10),
        of_ours("Get of a present key, of points alone", "hit, of points", at_most=1.05),
        of_ours("Get of an absent key, of points alone", "miss, of points", at_most=1.05),
        *alone("bits per key for 1.5 % of ranges", "bits per key", 8.6, 8.3),
        *alone("range probe", "probe", 260, 130),
        *alone("building, of the same ribbon without ranges", "building, per key: ratio", 2),
        Target("more bytes where ranges do not pay", "more bytes, refused", {"keys": "paths"}, BY,
               at_most=0),
        Target("log lines per file where ranges do not pay", "log lines per file, refused",
               {"keys": "paths"}, BY, at_most=1),
    ),
    tables=(
        by_contestant("Data blocks per seek in ranges that hold no key", "data blocks",
                      BY[1:] + ("ranges",), "Ranges as long as those that hold this many keys on "
                      "average; those right after a key hold 0.01. Prefix Bloom: with the prefix "
                      "that reads the fewest blocks over all lengths."),
        by_contestant("Time per seek in ranges that hold no key", SEEK,
                      note="All lengths alike, with the iterator that is made for each."),
        by_contestant("The same, cold", SEEK + ", cold"),
        by_contestant("Data blocks per seek in ranges that hold one key", "blocks, one key",
                      note="The range ends right after the key."),
        by_contestant("Time per seek in ranges that hold one key", "seek of one key"),
        by_contestant("Filter bits per key", "filter bits per key", **{POINTS: "Points"}),
        Table("Ranges against the best of the others and against points alone", ("keys", "name"),
              {SEEK + ", of the best": "Empty seek: of the best",
               SEEK + ", cold, of no filter": "Empty seek: cold, of no filter",
               "hit, of points": "Of points: hit", "miss, of points": "Of points: miss",
               "filling, of points": "Of points: filling"}, head="Keys",
              note="The best: of the others, partitioned ones against such."),
        Table("The filter alone, for 1.5 % of ranges", ("keys", "number"),
              where={"name": "filter alone"}, head="Keys"),
        Table("Keys of which no range filter is made", ("keys", "name"), {
            "more bytes, refused": "More bytes", "log lines per file, refused": "Lines per file",
            SEEK + ", of no filter, refused": "Seek time, of no filter"}, head="Keys"),
        Table("Why, and what trying takes", ("keys", "why"), where={"name": "refused"}),
        Table("Workloads", ("workload", "name"), ["keys per scan", "data blocks per operation"],
              note="{workloads}"),
        Table("Speed of workloads", ("workload", "reads", "name"),
              ["operations per second", "times as fast"]),
    ),
    plots=(
        Dots("Data blocks per seek in ranges without keys", "Range filters keep nearly all seeks "
             "from reading.", BLOCKS, {"name": DRAWN}, group=("keys",), log="x", styles=STYLES),
        Dots("Time per seek in ranges without keys, cached", "Blocks that are not read are not "
             "searched either.", SEEK, {"name": DRAWN}, group=("keys",), styles=STYLES),
        Dots("Workloads with filters of points alone and with ranges", "Ranges pay most where "
             "blocks come from a disk.", "operations per second", group=("workload", "reads"),
             log="x", styles=STYLES),
    ),
    labels={"number": "count"},
)
