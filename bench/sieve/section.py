"""The URL sieve: exactness, filter memory and throughput."""

from bench.report.declare import Dots, Highlight, Section, Table, Target, Value

PUSHED, WITHOUT = "pushed per second", "new URLs known without a data block"
BITS = "filter bits per URL"

SECTION = Section(
    title="The URL sieve",
    lead="A persistent queue of URLs never seen before: {urls:,} pushed, {distinct:,} of them "
         "different, with {restarts} restarts, each answer compared with the exact one; {pushed} "
         "pushed per second between restarts.",
    values={"pushed": Value(PUSHED, {"name": "all URLs"}), "wrong": Value("wrong answers"),
            "without": Value(WITHOUT, {"name": "compacted"})},
    highlight=Highlight("{wrong}",
                        "wrong answers about URLs seen before",
                        "{urls:,} URLs pushed, {restarts} restarts; "
                        "{without} of new ones known without reading a data block."),
    targets=(
        Target("repeats let through", "repeats let through", at_most=0),
        Target("new URLs dropped", "new URLs dropped", at_most=0),
        Target("out of order", "out of order", at_most=0),
        Target(WITHOUT, WITHOUT, by=("name",), at_least=0.985),
        Target(BITS, BITS, by=("name",), at_most={"compacted": 7.2}),
        Target("estimated against exact number of URLs",
               "error of the estimated number", {"name": "compacted"},
               at_most=0.005),
        Target("throughput of pushes against stock Bloom 10", "of stock Bloom", at_least=1),
    ),
    tables=(
        Table("What the filters take, and save",
              ("name",), [BITS, "of counting filters", WITHOUT], head="Sieve",
              note="Compacted: new URLs are those pushed after the compaction."),
        Table("Throughput, rounds of {round_urls:,} URLs", ("name",), [PUSHED, "of stock Bloom"],
              {"name": ("blocksieve", "stock Bloom 10")}, head="Filters"),
    ),
    plots=(
        Dots("URLs pushed per second",
             "Pushes with either filter, in rounds that take turns. Farther right is "
             "faster.", PUSHED, {"name": ("blocksieve", "stock Bloom 10")},
             styles={"blocksieve": "blue", "stock Bloom 10": "orange"}),
    ),
    digits={WITHOUT: 4, BITS: 3},
)
