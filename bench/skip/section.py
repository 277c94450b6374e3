"""Scans by value in RocksDB: what skip indexes save, and what they cost."""

from bench.report.declare import Plot, Section, Table, Target, Value

BLOCKS, OF_LEAST = "data blocks", "blocks, of the least"
CLUSTERED, SCATTERED = ("real, package = v", "synthetic, run = v"), "synthetic, scattered = v"
COMPACTED, REWRITTEN = ({"granule": "a block", "state": state}
                        for state in ("compacted", "a fifth rewritten"))
SHOWN = {**COMPACTED, "scan": CLUSTERED[0]}
STYLES = {"full scan": "grey :", "skip index": "blue o-", "matching rows (least)": "black -.",
          "a fifth rewritten": "orange"}

SECTION = Section(
    title="Scans by value in RocksDB",
    lead="Blocks: data blocks of 4 KiB that a scan reads {cold_reads} with an empty block cache, "
    "as counted by RocksDB. Least: the different blocks that hold a matching row. Every answer was "
    "compared.\n"
    "Input: real rows: {real} Synthetic rows: {synthetic}",
    values={"fewer": Value("blocks, times fewer", SHOWN),
            **{name: Value(BLOCKS, {**SHOWN, "name": of}) for name, of in
               (("all", "full scan"), ("read", "skip index"), ("least", "matching rows (least)"))}},
    result=("{fewer}", "fewer data blocks read by a scan for one value, with a skip index",
            "{all} without an index, {read} with one, where {least} hold a match; {read[scan]}."),
    targets=(
        Target(OF_LEAST, {**COMPACTED, "scan": CLUSTERED}, ("scan",), 1.03),
        Target(OF_LEAST, {**REWRITTEN, "scan": CLUSTERED}, ("scan", "state"), 1.12),
        Target("blocks, of a full scan", {**COMPACTED, "scan": SCATTERED}, ("scan",), 1 / 300),
        Target("wasted granules, of the target FPR", {"name": "scattered"}, ("scan",), 1.05),
        Target("bits: index", {"column": "real, words of the key HAS v"}, ("column",), 9),
        Target("time: ratio", {"name": "filling"}, ("name", "column"), 1.1),
        Target("resident for 1 TiB of data", {"name": "sidecars"}, ("name",), 50 * 2**20),
        Target("lookup: of no index", {"name": "sidecars"}, ("name",), 1.02)),
    tables=(
        Table("Data blocks read by a scan for one value, means by value", ("scan", "state",
              "granule", "granules"), None, {"metric": BLOCKS}, "name", "Rows, column, state"),
        Table("Scans for one value, a granule for each data block", ("scan", "state"),
              ["matching rows", OF_LEAST, "blocks, of a full scan", "time: with the index",
               "time: full scan", "times as fast"], {"granule": "a block"}),
        Table("Filters of a column as they are kept, against bit slices of the same rate, 0.1 %",
              ("column", "form"), where={"name": "filters"}, note="Bits: by value distinct in its "
              "granule. Building: processor time. Wasted: granules without the value."),
        Table("Analysis of an index in memory for one value, at an FPR of 1 %",
              ("granules", "values"), where={"name": "at once"}),
        Table("Bits per distinct value of an index of one column at an FPR of 1 %",
              ("column", "granule rows"), where={"name": "index"}),
        Table("Filling a database in random order", ("column",), where={"name": "filling"}),
        Table("What indexes cost while nobody scans, by where they are", ("name",),
              ["SSTs", "sidecars", "resident per SST", "lookup: time", "lookup: of no index",
               "lookup: bytes read"], note="Resident: RocksDB's estimate of a table reader, beyond "
              "that without an index. Lookups: of absent keys, beside scans for one value.")),
    plots=(
        Plot("Blocks read by a scan: {scan}", "Little more than the blocks with a match is read.",
             BLOCKS, "granules", {"state": "compacted"}, each="scan", log="xy", styles=STYLES),
        Plot("Blocks read after a fifth was rewritten", "The same, in three levels.", OF_LEAST,
             where={"granule": "a block"}, series=("state",), group=("scan",), styles=STYLES),
        Plot("Index analysis against number of granules", "The filters of all granules are asked "
             "at once.", "time", "granules", {"name": "at once"}, ("values",), log="xy")),
    labels={"granules": "{:,}", "values": "{:,} values", "granule rows": "{:,} rows"},
)
