"""Rates by level: wasted reads over filter memory."""

from bench.report.declare import Plot, Section, Table, Target, Value

STYLES = {
    "stock Bloom": "orange s-", "stock Ribbon": "pink s-",
    "stock Ribbon, Bloom on level 0": "purple ^-",
    "blocksieve ribbon, same rate on all levels": "green o-",
    "blocksieve ribbon, by level": "blue o-", "blocksieve auto, by level": "grey D-",
}
RUNS = {"stock Bloom": "stock Bloom 10", "blocksieve ribbon, by level": "by level",
        "blocksieve auto, by level": "by level, auto"}
FIRST = {"tree": "size ratio 4, static levels"}
LIMITS = {
    "wasted reads, same bytes as stock Bloom 10": 1 / 20,
    "the same against stock Ribbon": 0.40,
    "the same against stock Ribbon, Bloom on level 0": 0.40,
    "the same against blocksieve ribbon, same rate on all levels": 0.50,
    "against the least for the actual sizes": 1.05,
    "the same, reopened, some flushes later": 1.10,
    "memory for stock Bloom 10's wasted reads": 0.60,
}

SECTION = Section(
    title="Rates by level",
    lead="Wasted reads: useless data-block reads per lookup of an absent key, of {lookups:,} "
    "lookups. Trees of {keys:,} keys written in random order, compacted after each flush.",
    values={"fewer": Value("times fewer", FIRST), "stock": Value("reads with stock Bloom", FIRST),
            "ours": Value("reads by level", FIRST)},
    result=("{fewer}", "fewer wasted reads than with stock Bloom, in the same memory",
            "{stock} data blocks per lookup of an absent key with stock Bloom of 10 bits, {ours} "
            "with rates by level; {fewer[tree]}."),
    targets=tuple(Target("ratio", {"name": name}, ("name", "tree"), limit)
                  for name, limit in LIMITS.items()),
    tables=(
        Table("Wasted reads over memory: {tree}", ("name", "asked"), ["bits per key",
              "wasted reads", "of stock Bloom's", "of stock Ribbon's", "of the least", "runs"],
              each="tree", head="Filters, bits asked for",
              note="Per lookup of an absent key. Of stock filters': at equal memory, on the line "
              "through their nearest settings. Of the least: computed for ribbons in as many bytes "
              "and for these runs, as if every lookup asked all of them; of levels that have just "
              "begun only some do. Reopened: {flushes_after_reopening} flushes later."),
        Table("Filters of each sorted run: {tree}", ("name",),
              {f"{name}: {what}": f"{title}: {what}" for name, title in RUNS.items()
               for what in ("keys", "bits per key")}, each="tree", head="Sorted run"),
    ),
    plots=(
        Plot("Wasted reads against memory: {tree}", "Useless data-block reads per lookup of an "
             "absent key over filter bits per key. Lower left is better.", "wasted reads",
             "bits per key", {"name": tuple(STYLES)}, each="tree", log="y", styles=STYLES),
    ),
    digits={"bits per key": 4, "wasted reads": 4},
)
