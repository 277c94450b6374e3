"""Lookups in RocksDB: with no filter, its own filters and blocksieve's."""

from bench.report.declare import Dots, Highlight, Section, Table, Value

WASTED = "wasted data blocks per lookup of an absent key"
STYLES = {"no_filter": "grey o", "stock_default": "orange s", "stock_bloom": "orange o",
          "stock_ribbon": "pink o", "blocksieve": "blue o", "same_memory": "blue s"}


def wasted(role):
    return Value(WASTED, {"tree": "leveled", "role": role}, "last")


def tables(tree, caption, work):
    def by_kind(what):
        return [f"{keys} keys{what}: {reads}"
                for keys in ("absent", "present") for reads in ("cold", "cached")]

    sizes = ["filter size", "filter bits per key", "measured FPR", *by_kind(", data blocks")]
    speeds = {**{each: each for each in by_kind(" per second")}, "time to make the tree": work}
    return (Table(f"{caption}: {{{tree}}}", ("name",), sizes, {"tree": tree}, head="Filters"),
            Table(f"{caption}: speed", ("name",), speeds, {"tree": tree}, head="Filters"))


SECTION = Section(
    title="Lookups in RocksDB",
    lead="Blocks: data blocks of 4 KiB that RocksDB read per lookup of an absent or a present key, "
    "as counted by its own statistics. Cold: every block is read {cold_reads}. Cached: from a "
    "block cache that {cache}. Filters and indexes stay in memory in both. Speeds and times are "
    "medians. FPR: of cached lookups of absent keys, 95 % confidence.",
    values={
        "none": wasted("no_filter"), "stock": wasted("stock_default"),
        "ours": wasted("same_memory"), "same_rate": wasted("blocksieve"),
        "fewer": Value("times fewer wasted blocks, same memory"), "saved": Value("reads saved"),
        "faster": Value("times as fast, cold"), "bloom": Value("bytes, of stock Bloom"),
        "ribbon": Value("bytes, of stock Ribbon"),
        "bits": Value("filter bits per key", {"tree": "leveled", "role": "blocksieve"}, "last"),
    },
    headline="Saved: {saved} of the reads: a lookup of an absent key read {same_rate} with "
    "{saved[filter]} and {none} without a filter. Speed of such lookups on a cold cache: {faster}. "
    "Price: {bits} per key, {bloom} the bytes of stock Bloom and {ribbon} those of stock Ribbon at "
    "the same rate.",
    highlight=Highlight(
        "{fewer:short}", "fewer wasted data blocks than with stock Bloom, in the same memory",
        "Per lookup of an absent key: {none} without a filter, {stock} with stock Bloom of 10 bits "
        "per key, {ours} with blocksieve."),
    facts=("Input: {input}", "Target FPR: {target}. Rounds: {rounds}."),
    tables=(*tables("leveled", "A tree as RocksDB's default options shape it", "fill"),
            *tables("compacted", "The same after a full compaction", "compaction")),
    plots=(
        Dots("Wasted data blocks per lookup of an absent key", "Each filter saves nearly all of "
             "them; in the memory of stock Bloom, blocksieve wastes the fewest.", WASTED,
             {"tree": "leveled"}, ("name", "role"), log="x", styles=STYLES),
        Dots("Filter bits per key", "The memory of the same filters: ribbons take the least at a "
             "rate.", "filter bits per key", {"tree": "leveled", "role": tuple(STYLES)[1:]},
             ("name", "role"), styles=STYLES),
    ),
    labels={"role": "{:.0}"},  # tells series apart, but is not shown
)
