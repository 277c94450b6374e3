"""The URL sieve: exactness, filter memory and throughput."""

from bench.report import text
from bench.report.section import Highlight, Section, at_least, at_most
from bench.report.table import Table, timed
from bench.report.turns import paired, spread


def section(run):
    ours, stock = run["blocksieve_urls_per_second"], run["stock_urls_per_second"]
    ratio = paired(ours, stock)
    rounds = enumerate(zip(ours, stock), 1)
    parts = spread(run["push_seconds"]).inverse(run["urls"] / len(run["push_seconds"]))
    loaded, compacted, later = run["loaded"], run["compacted"], run["later"]

    def without_reading(counts):
        return 100 * (1 - counts["new_by_reading"] / counts["new_urls"])

    def bits_per_url(stats, field="filter_bytes"):
        return 8 * stats[field] / stats["urls"]

    return Section(
        name="sieve",
        title="The URL sieve",
        lead=f"A persistent queue of URLs never seen before: {run['urls']:,} pushed, {run['distinct']:,} of them "
        f"different, with {run['restarts']} restarts, each answer compared with the exact one; "
        f"{timed(parts, text.count)} pushed per second between restarts.",
        highlight=Highlight(
            text.count(run["let_through"] + run["dropped"]),
            "wrong answers about URLs seen before",
            f"{run['urls']:,} URLs pushed, {run['restarts']} restarts; {text.significant(without_reading(later), 4)} % of "
            "new ones known without reading a data block.",
        ),
        facts=[
            f"Filter bits per URL: {bits_per_url(loaded):.2f} when loaded, {bits_per_url(compacted):.2f} compacted, of "
            f"which counting filters take {bits_per_url(compacted, 'counting_filter_bytes'):.2f}. URLs per second: "
            f"blocksieve {timed(spread(ours), text.count)}, stock Bloom {timed(spread(stock), text.count)}."
        ],
        targets=[
            at_most("repeats let through", run["let_through"], 0),
            at_most("new URLs dropped", run["dropped"], 0),
            at_most("out of order", run["out_of_order"], 0),
            at_least("new URLs known without a data block, while loading", without_reading(loaded), 98.5, " %"),
            at_least("the same, compacted", without_reading(later), 98.5, " %"),
            at_most("filter bits per URL, compacted", bits_per_url(compacted), 7.2),
            at_most(
                "estimated against exact cardinality",
                100 * abs(compacted["estimated_urls"] / compacted["urls"] - 1),
                0.5,
                " %",
            ),
            at_least("push throughput against stock Bloom 10, median", ratio, 1.0, " x"),
        ],
        tables=[
            Table(
                f"URLs pushed per second, rounds of {run['round_urls']:,}",
                ["Round", "blocksieve", "stock Bloom 10", "Ratio"],
                [
                    [f"{number}", text.count(mine), text.count(theirs), f"{mine / theirs:.3f}"]
                    for number, (mine, theirs) in rounds
                ],
            )
        ],
    )
