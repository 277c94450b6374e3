"""Scans by value in RocksDB: what skip indexes save, and what they cost."""

from bench.report.declare import Dots, Highlight, Lines, Section, Table, Target, Value

BLOCKS, OF_LEAST = "data blocks", "blocks, of the least"
PACKAGE, WORDS = "real, package = v", "real, words of the key HAS v"
RUN, SCATTERED = "synthetic, run = v", "synthetic, scattered = v"
DEFAULT, COMPACTED = {"granule": "a block"}, {"granule": "a block", "state": "compacted"}
SHOWN = {**COMPACTED, "scan": PACKAGE}
STYLES = {"full scan": "grey :", "skip index": "blue o-", "matching rows (least)": "text -.",
          "a fifth rewritten": "orange s-"}


def of_forms(what, metric, **limits):
    names = {"words": WORDS, "ngrams": "real, 4-grams of the key", "package": PACKAGE,
             "few": "synthetic, 1,000 values", "unique": "synthetic, unique but for 1 %"}
    return Target(what, metric, {}, ("column",), at_most={names[n]: limits[n] for n in limits})


SECTION = Section(
    title="Scans by value in RocksDB",
    lead="Blocks: data blocks of 4 KiB that a scan reads with a skip index, against a full scan "
    "and the least possible. They are read {cold_reads} with an empty block cache, and counted by "
    "RocksDB.",
    values={
        "all": Value(BLOCKS, {**SHOWN, "name": "full scan"}),
        "read": Value(BLOCKS, {**SHOWN, "name": "skip index"}),
        "least": Value(BLOCKS, {**SHOWN, "name": "matching rows (least)"}),
        "fewer": Value("blocks, times fewer", SHOWN), "faster": Value("times as fast", SHOWN),
    },
    headline="Of the {all} data blocks, a scan ({read[scan]}) read {read} with the index, where "
    "{least} hold a matching row. Speed on a cold cache: {faster}.",
    highlight=Highlight(
        "{fewer}", "fewer data blocks read by a scan for one value, with a skip index",
        "{all} without an index, {read} with one, where {least} hold a match; {read[scan]}."),
    facts=("Input: real rows: {real}", "Input: synthetic rows: {synthetic}"),
    targets=(
        Target("blocks read, of the least", OF_LEAST, COMPACTED, ("scan",),
               at_most={PACKAGE: 1.03, RUN: 1.03, WORDS: 1.05}),
        Target("blocks read, of the least, a fifth rewritten", OF_LEAST,
               {**DEFAULT, "state": "a fifth rewritten"}, ("scan",),
               at_most={PACKAGE: 1.12, RUN: 1.12}),
        Target("wasted granules, of the target FPR", "wasted granules, of the target FPR",
               {"name": "scattered"}, ("scan",), at_most=1.05),
        Target("blocks read, of a full scan, FPR 0.1 %", "blocks, of a full scan", COMPACTED,
               ("scan",), at_most={SCATTERED: 1 / 300}),
        of_forms("index bits per pair, FPR 0.1 %", "bits: index", words=9, ngrams=7.5),
        of_forms("bytes of filters, of slices", "of slices: filters", package=0.45, few=0.45),
        of_forms("time to build, of slices", "of slices: building", words=1.2, few=1.4, unique=3),
        Target("wasted granules of a value that occurs", "wasted, occurring: form",
               {"form": "postings"}, ("column",), at_most=0),
        Target("analysis, time", "time", {"granules": 1_000, "name": "at once"},
               ("granules", "values"), at_most=1e-6),
        Target("index bits per distinct value, FPR 1 %", "bits per value: all", {},
               ("column", "granule rows"), at_most={
                   (WORDS, 64): 9, (SCATTERED, 64): 12, (WORDS, 1_024): 10.5,
                   (SCATTERED, 1_024): 10.5}),
        Target("time to fill, of no index", "time: ratio", {"name": "filling"}, ("column",),
               at_most=1.1),
        Target("processor time to fill, of no index", "processor: ratio", {}, ("column",),
               at_most=1.1),
        Target("memory of indexes at rest for 1 TiB of data (computed)",
               "resident for 1 TiB of data", {"name": "sidecars"}, at_most=50 * 2**20),
        Target("lookups of absent keys beside scans, of no index: time", "lookup: of no index",
               {"name": "sidecars"}, at_most=1.02),
        Target("lookups of absent keys beside scans, of no index: bytes read",
               "lookup: bytes, of no index", {"name": "sidecars"}, at_most=1.02),
    ),
    tables=(
        Table("Data blocks read by a scan for one value, nothing cached",
              ("scan", "state", "granule", "granules"), where={"metric": BLOCKS}, across="name",
              head="Rows, column, state, granule, granules",
              note="Means by value. Least: the different blocks that hold a matching row. Every "
              "answer was compared."),
        Table("Scans for one value, a granule for each data block", ("scan", "state"),
              ["matching rows", OF_LEAST, "blocks, of a full scan", "time: with the index",
               "time: full scan", "times as fast"], DEFAULT, head="Rows, column, state"),
        Table("Filters of a column in the form that they take, against bit slices of the same "
              "rate, 0.1 %", ("column", "form"), where={"name": "filters"}, head="Column, form",
              note="Bits per value that is distinct within its granule. Building: processor time "
              "of the whole index. Wasted: granules given for a value that they do not have. "
              "Google's Cuckoo Index (VLDB 2020; commit cae12a1, one slot a bucket, a scan rate "
              "of one granule), measured outside of this run: 8.0, 19.4 and 494 bits for 1,000 and 30,000 "
              "values and unique ones, of 1,000,000 rows in granules of 64; compressed as a whole "
              "by zstd, 5.5, 11.3 and 30.4; in granules of 8,192 rows, for which it was made, 4.9 "
              "for 30,000 values and 18.1 for unique ones."),
        Table("Analysis of an index for one value", ("granules", "values"),
              where={"name": "at once"}, head="Granules x values of each",
              note="In memory, at an FPR of 1 %: the filters of all granules are asked at once. On "
              "another machine, ClickHouse took 55 s for the bloom_filter index of 2.9 billion "
              "rows in granules of 8,192 (its issue 43024)."),
        Table("Size of an index of one column at an FPR of 1 %", ("column", "granule rows"),
              where={"name": "index"}, note="Per value that is distinct within its granule."),
        Table("Filling a database, without and with an index", ("column",),
              where={"name": "filling"}, note="All rows in random order, flushed and compacted."),
        Table("What indexes cost while nobody scans, by where they are", ("name",),
              ["SSTs", "sidecars", "resident per SST", "lookup: time", "lookup: of no index",
               "lookup: bytes read"], head="Indexes",
              note="Real rows, all columns. Resident: RocksDB's estimate of the memory of table "
              "readers after opening, beyond that without an index. Lookups: of absent keys, "
              "beside scans for one value."),
    ),
    plots=(
        Lines("Blocks read by a scan: {scan}", "A skip index reads little more than the blocks "
              "with a match.", "granules", BLOCKS, {"state": "compacted"}, each="scan", log="xy",
              styles=STYLES),
        Dots("Blocks read after a fifth was rewritten", "The same, in three levels.", OF_LEAST,
             {"granule": "a block"}, ("state",), ("scan",), styles=STYLES),
        Lines("Index analysis against number of granules", "The filters of all granules are "
              "asked at once.", "granules", "time", {"name": "at once"}, ("values",), log="xy"),
    ),
    labels={"granules": "count", "values": "{:,} values", "granule rows": "{:,} rows"},
)
