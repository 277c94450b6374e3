"""Lookups in RocksDB: with no filter, its own filters and blocksieve's."""

from bench.report.declare import Plot, Section, Table, Value

WASTED, BITS = "wasted data blocks per lookup of an absent key", "filter bits per key"
STYLES = {"no_filter": "grey", "stock_default": "orange", "stock_bloom": "orange",
          "stock_ribbon": "pink", "blocksieve": "blue", "same_memory": "blue"}
KINDS = [f"{keys} keys%s: {reads}"
         for keys in ("absent", "present") for reads in ("cold", "cached")]
SIZES = ["filter size", BITS, "measured FPR", *(kind % ", data blocks" for kind in KINDS)]
SPEEDS = [*(kind % " per second" for kind in KINDS), "time to make the tree"]

SECTION = Section(
    title="Lookups in RocksDB",
    lead="Blocks: data blocks of 4 KiB that RocksDB read per lookup of an absent or a present key, "
    "as counted by its own statistics. Cold: every block is read {cold_reads}. Cached: from a "
    "block cache of half of the memory. Filters and indexes stay in memory in both. Speeds and "
    "times are medians. FPR: of cached lookups of absent keys, 95 % confidence.\n"
    "Saved by {saved[filter]}: {saved} of the reads; speed of such lookups on a cold cache: "
    "{faster}; price: {bits} per key, {bloom} the bytes of stock Bloom and {ribbon} those of stock "
    "Ribbon at the same rate.\n"
    "Input: {input} Target FPR: {target}. Rounds: {rounds}. As filled: {leveled}, the tree of "
    "RocksDB's default options. Compacted: {compacted}.",
    values={
        **{role: Value(WASTED, {"tree": "leveled", "role": role}) for role in STYLES},
        "fewer": Value("times fewer wasted blocks, same memory"), "saved": Value("reads saved"),
        "faster": Value("times as fast, cold"), "bloom": Value("bytes, of stock Bloom"),
        "ribbon": Value("bytes, of stock Ribbon"),
        "bits": Value(BITS, {"tree": "leveled", "role": "blocksieve"}),
    },
    result=("{fewer}", "fewer wasted data blocks than with stock Bloom, in the same memory",
            "Per lookup of an absent key: {no_filter} without a filter, {stock_default} with stock "
            "Bloom of 10 bits per key, {same_memory} with blocksieve."),
    tables=(Table("{tree}: what is read", ("name",), SIZES, head="Filters", each="tree"),
            Table("{tree}: speed", ("name",), SPEEDS, head="Filters", each="tree")),
    plots=(
        Plot("Wasted data blocks per lookup of an absent key", "Each filter saves nearly all of "
             "them; in the memory of stock Bloom, blocksieve wastes the fewest.", WASTED,
             where={"tree": "leveled"}, log="x", styles=STYLES),
        Plot("Filter bits per key", "The memory of the same filters: ribbons take the least at a "
             "rate.", BITS, where={"tree": "leveled", "role": tuple(STYLES)[1:]}, styles=STYLES),
    ),
    labels={"tree": {"leveled": "As filled", "compacted": "Compacted"}},
)
