"""Lookups in RocksDB with no filter, RocksDB's filters and blocksieve's."""

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
    lead="Lookups of absent and of present keys. Stock: RocksDB's own filters. Data blocks: blocks "
    "of 4 KiB read per lookup, as counted by RocksDB. Cold: every block is read {cold_reads}. "
    "Cached: from a block cache of half the memory. Filters and indexes are always in memory. FPR: "
    "the false-positive rate of cached lookups, with its 95 % confidence interval.\n"
    "{saved[filter]} saves {saved} of the data blocks that lookups of absent keys read without a "
    "filter. Such lookups are {faster} as fast cold. It takes {bits} per key: {bloom} the size of "
    "stock Bloom and {ribbon} that of stock Ribbon at the same FPR.\n"
    "Input: {input} Target FPR: {target}. Rounds: {rounds}. As filled: {leveled}, the tree shape "
    "of RocksDB's default options. Compacted: {compacted}.",
    values={
        **{role: Value(WASTED, {"tree": "leveled", "role": role}) for role in STYLES},
        "fewer": Value("times fewer wasted blocks, same memory"), "saved": Value("reads saved"),
        "faster": Value("times as fast, cold"), "bloom": Value("size, relative to stock Bloom"),
        "ribbon": Value("size, relative to stock Ribbon"),
        "bits": Value(BITS, {"tree": "leveled", "role": "blocksieve"}),
    },
    result=("{fewer}", "fewer wasted data blocks than with stock Bloom, in the same memory",
            "Per lookup of an absent key: {no_filter} without a filter, {stock_default} with stock "
            "Bloom of 10 bits per key, {same_memory} with blocksieve."),
    tables=(Table("{tree}: sizes and data blocks per lookup", ("name",), SIZES, head="Filters",
                  each="tree"),
            Table("{tree}: lookups per second", ("name",), SPEEDS, head="Filters", each="tree")),
    plots=(
        Plot("Wasted data blocks per lookup of an absent key", "Each filter saves nearly all of "
             "them. With the memory of stock Bloom, blocksieve has the fewest.", WASTED,
             where={"tree": "leveled"}, log="x", styles=STYLES),
        Plot("Filter bits per key", "Memory of the same filters. At one FPR, ribbons are "
             "smallest.", BITS, where={"tree": "leveled", "role": tuple(STYLES)[1:]},
             styles=STYLES),
    ),
    labels={"tree": {"leveled": "As filled", "compacted": "Compacted"}},
)
