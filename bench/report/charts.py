# SPDX-License-Identifier: Apache-2.0
"""The charts of each job's results. A name without figures only keeps its color, so that a contestant
has the same one in all charts.

usage: python3 -m bench.report.charts LEVELS_JSON DIR   draws README's picture, of RocksDB's size ratio,
as DIR/wasted_reads.svg and, for dark pages, DIR/wasted_reads_dark.svg, and prints its text alternative"""

import json
import pathlib
import re
import sys

from bench.report.chart import Axis, chart

LOOKUPS = ("no filter", "stock Bloom, 10 bits", "stock Ribbon, 10 bits", "", "blocksieve, 10 bits by level",
           "blocksieve ribbon, 10 bits")
LEVELS = ("", "stock Bloom", "stock Ribbon", "stock Bloom and Ribbon, by level (kind=stock)",
          "blocksieve ribbon, by level", "blocksieve ribbon, same rate on all levels")
GROWTH = ("", "stock Bloom, 10 bits, in the block cache", "stock Ribbon, 10 bits, outside", "",
          "blocksieve, 10 bits by level", "blocksieve, filter_memory")
FILTERS = ("", "stock bloom", "stock ribbon", "blocksieve bloom", "blocksieve ribbon")
RANGES = ("no filter", "stock prefix Bloom", "index with first key", "blocksieve, ranges", "prefixes and ranges",
          "blocksieve, prefixes")
SCANS = ("full scan", "", "minimum", "pruned iterator", "skip index")
WINDOWS = ("full iterator", "bounds of blocks", "oracle", "files left out", "skip index")
COMMANDS = ("opening", "check", "inspect", "rewrite --dry-run", "advise")
CALLS = ("NewIterator", "a whole pruned iteration", "CheckFilters", "PruneReads, v = 'absent'",
         "SkipScan, first row of v = 'absent'", "PruneReads after a flush")


def figures(raw, unit=None):
    """By name of line and column; those of a unit, or all."""
    return {(line["name"], cell["column"].removeprefix("data blocks: ")): cell["value"]
            for line in raw["lines"] for cell in line["cells"] if cell["value"] is not None and unit in (None, cell["unit"])}


def marks(raw, title, names):
    """A row for each workload. Contestants are lines or columns."""
    values = figures(raw, unit="")
    if not any(name in names for name, _ in values):
        values = {(column, line): value for (line, column), value in values.items()}
    rows = list(dict.fromkeys(row for name, row in values if name in names))
    return chart(title, Axis("data blocks", is_log=True), rows, [
        (name, [(values[name, row], number) for number, row in enumerate(rows) if (name, row) in values]) for name in names])


def memory(raw, title, names):
    """Lines are contestants, each with several settings."""
    values = figures(raw)
    return chart(title, Axis("filter bits per key", "bits"), Axis("data blocks per lookup of an absent key", is_log=True),
                 [(name, [(bits, values[line, "wasted reads"]) for (line, column), bits in values.items()
                          if column == "bits per key" and line.rpartition(", ")[0] == name]) for name in names])


def count(column):
    """The number in 2,052 and 10 k keys; None in other columns."""
    match = re.fullmatch(r"([\d,]+)(?: ([kM]) keys)?", column)
    return match and int(match[1].replace(",", "")) * {"k": 1_000, "M": 1_000_000, None: 1}[match[2]]


def growth(raw, title, names, x, y, prefix=""):
    """Columns are sizes."""
    return chart(title, Axis(x, "count", is_log=True), y,
                 [(name, [(count(column), value) for (line, column), value in figures(raw).items()
                          if line == prefix + name and count(column) and value > 0]) for name in names])


FILES = ("files", Axis("processor time", "s", is_log=True))
CHARTS = {  # by job: the start of a table's caption, the kind of chart, and its arguments
    "read_amp": [("Sizes and data blocks per lookup", marks, "Data blocks per lookup, in the memory of stock Bloom", LOOKUPS)],
    "ranges": [("Data blocks per seek", marks, "Data blocks per seek", RANGES)],
    "skip": [("Scans for one value", marks, "Data blocks per scan for one value", SCANS),
             ("Windows of a time", marks, "Data blocks per scan of a window of time", WINDOWS)],
    "levels": [(f"Wasted reads by memory: size ratio {ratio},", memory, f"Wasted reads by memory, size ratio {ratio}", LEVELS)
               for ratio in (4, 10)]
              + [("Growth", growth, "Growth in a memory that does not grow", GROWTH, "keys",
                  Axis("blocks per lookup of an absent key", is_log=True))],
    "filters": [("Time per key", growth, title, FILTERS, "keys of the filter", Axis("ns per key"), f"{operation}, ")
                for operation, title in (("build", "Building"), ("absent", "Absent keys"), ("batch32", "Absent keys, 32 at once"))],
    "scale": [(tree, growth, f"{tree}: {title}", names, *FILES) for tree in ("Levelled", "FIFO")
              for title, names in (("commands", COMMANDS), ("calls", CALLS))]
             + [("PruneReads", growth, "PruneReads by values in a condition", ("v = ... OR v = ...", "v IN (...)"),
                 "values", FILES[1])],
}


def charts(job, tables):
    """SVGs from the tables of a job's results."""
    return [make(raw, *arguments)[0] for start, make, *arguments in CHARTS.get(job, ())
            for raw in tables if raw["caption"].startswith(start)]


def main():
    results, directory = map(pathlib.Path, sys.argv[1:])
    raw, = (raw for raw in json.loads(results.read_text("utf-8"))["tables"] if "size ratio 10," in raw["caption"])
    svg, text = (re.sub("stock (Bloom|Ribbon)", r"RocksDB's \1", each)
                 for each in memory(raw, "Wasted reads by filter memory", LEVELS[:-1]))
    print(text)
    page = pathlib.Path(__file__).with_name("page.css").read_text("utf-8")
    colors = {name: both for name, *both in re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\)", page)}
    for is_dark, name in enumerate(("wasted_reads.svg", "wasted_reads_dark.svg")):
        colored = re.sub(r"var\(([\w-]+)\)", lambda match: colors[match[1]][is_dark], svg)
        (directory / name).write_text(colored.replace("<svg", '<svg width="480"', 1), encoding="utf-8")


if __name__ == "__main__":
    main()
