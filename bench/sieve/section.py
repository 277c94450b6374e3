"""The URL sieve: exactness, filter memory and throughput."""

from bench.report.declare import Plot, Section, Table, Target, Value

PUSHED, WITHOUT = "pushed per second", "new URLs known without a data block"
BITS = "filter bits per URL"
COMPACTED, CONTESTANTS = {"name": "compacted"}, {"name": ("blocksieve", "stock Bloom 10")}

SECTION = Section(
    title="The URL sieve",
    lead="A persistent queue of URLs never seen before: {urls:,} pushed, {distinct:,} of them "
    "different, with {restarts} restarts, each answer compared with the exact one; {pushed} pushed "
    "per second between restarts.",
    values={"pushed": Value(PUSHED, {"name": "all URLs"}), "wrong": Value("wrong answers"),
            "without": Value(WITHOUT, COMPACTED)},
    result=("{wrong}", "wrong answers about URLs seen before", "{urls:,} URLs pushed, {restarts} "
            "restarts; {without} of new ones known without reading a data block."),
    targets=(
        Target("wrong answers", at_most=0),
        Target("out of order", at_most=0),
        Target(WITHOUT, by=("name",), at_least=0.985),
        Target(BITS, COMPACTED, ("name",), 7.2),
        Target("error of the estimated number", COMPACTED, at_most=0.005),
        Target("of stock Bloom", at_least=1),
    ),
    tables=(
        Table("What the filters take, and save", ("name",), [BITS, "of counting filters", WITHOUT],
              head="Sieve", note="Compacted: new URLs are those pushed after the compaction."),
        Table("Throughput, rounds of {round_urls:,} URLs", ("name",), [PUSHED, "of stock Bloom"],
              CONTESTANTS, head="Filters"),
    ),
    plots=(Plot("URLs pushed per second", "Pushes with either filter, in rounds that take turns. "
                "Farther right is faster.", PUSHED, where=CONTESTANTS),),
    digits={WITHOUT: 4},
)
