"""The URL sieve: exactness, filter memory and throughput."""

from bench.report.declare import Section, Table, Target, Value

PUSHED, WITHOUT = "pushed per second", "new URLs known without a data block"
BITS = "filter bits per URL"
COMPACTED = {"name": "compacted"}

SECTION = Section(
    title="The URL sieve",
    lead="A persistent queue that takes each URL once: {urls:,} URLs pushed, {distinct:,} of them "
    "distinct, with {restarts} restarts, and every answer checked. {pushed} URLs pushed per "
    "second. Counting filters are in memory; key filters in files save reads of data blocks.",
    values={"pushed": Value(PUSHED, {"name": "all URLs"}), "wrong": Value("wrong answers"),
            "without": Value(WITHOUT, COMPACTED)},
    result=("{wrong}", "wrong answers about URLs seen before", "{urls:,} URLs pushed, {restarts} "
            "restarts; {without} of the new ones were recognised without reading a data block."),
    targets=(
        Target("wrong answers", at_most=0),
        Target("out of order", at_most=0),
        Target(WITHOUT, by=("name",), at_least=0.985),
        Target(BITS, COMPACTED, ("name",), 7.2),
        Target("error of the estimated number", COMPACTED, at_most=0.005),
    ),
    tables=(
        Table("Filter memory, and lookups answered by filters", ("name",),
              [BITS, "counting filter bits per URL", WITHOUT], head="Sieve", note="Loaded: "
              "while URLs are pushed. Compacted: for new URLs pushed after a compaction."),
    ),
    digits={WITHOUT: 4},
)
