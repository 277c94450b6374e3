"""The report's section on the URL sieve."""

from bench.report import text
from bench.report.section import Section, Table, targets_of


def section(run):
    rounds = zip(run["blocksieve_urls_per_second"], run["stock_urls_per_second"])
    rows = [
        [f"{number}", text.count(ours), text.count(stock), f"{ours / stock:.3f}"]
        for number, (ours, stock) in enumerate(rounds, 1)
    ]
    return Section(
        name="sieve",
        title="The URL sieve",
        lead=f"A persistent queue of URLs never seen before: {run['urls']:,} pushed, {run['distinct']:,} of them "
        "different, with restarts between, each answer compared with the exact one.",
        targets=targets_of(run),
        tables=[Table("URLs pushed per second", ["Round", "blocksieve", "stock Bloom 10", "Ratio"], rows)],
    )
