"""Scans by value in RocksDB: what skip indexes save, and what they cost."""

from bench.report.declare import Plot, Section, Table, Target, Value

BLOCKS, OF_LEAST = "data blocks", "blocks, relative to the minimum"
CLUSTERED, SCATTERED = ("real, package = v", "synthetic, run = v"), "synthetic, scattered = v"
COMPACTED, REWRITTEN = ({"granule": "a block", "state": state}
                        for state in ("compacted", "a fifth rewritten"))
SHOWN = {**COMPACTED, "scan": CLUSTERED[0]}
STYLES = {"full scan": "grey :", "skip index": "blue o-", "minimum": "black -."}

SECTION = Section(
    title="Scans by value in RocksDB",
    lead="Scans for the rows with one value in a column. Data blocks: blocks of 4 KiB that a scan "
    "reads {cold_reads} with an empty block cache, as counted by RocksDB. Minimum: the blocks that "
    "hold a matching row. A granule is the unit that a skip index rules out: a data block, or a "
    "number of rows. Every result was checked.\n"
    "Real rows: {real} Synthetic rows: {synthetic}",
    values={"fewer": Value("times fewer data blocks", SHOWN),
            **{name: Value(BLOCKS, {**SHOWN, "name": of}) for name, of in
               (("all", "full scan"), ("read", "skip index"), ("least", "minimum"))}},
    result=("{fewer}", "fewer data blocks read by a scan for one value, with a skip index",
            "{all} without an index, {read} with one; {least} hold a match; {read[scan]}."),
    targets=(
        Target(OF_LEAST, {**COMPACTED, "scan": CLUSTERED}, ("scan",), 1.03),
        Target(OF_LEAST, {**REWRITTEN, "scan": CLUSTERED}, ("scan", "state"), 1.12),
        Target("blocks, relative to a full scan", {**COMPACTED, "scan": SCATTERED}, ("scan",),
               1 / 300),
        Target("false-positive granules, relative to the target FPR", {"name": "scattered"},
               ("scan",), 1.05),
        Target("bits per value: all",
               {"column": "real, words of the key HAS v", "granule rows": 64}, ("column",), 9),
        Target("time: ratio", {"name": "filling"}, ("name", "column"), 1.1),
        Target("resident for 1 TiB of data", {"name": "sidecars"}, ("name",), 50 * 2**20),
        Target("lookup: relative to no index", {"name": "sidecars"}, ("name",), 1.02)),
    tables=(
        Table("Data blocks read by a scan for one value, on average", ("scan", "state", "granule",
              "granules"), None, {"metric": BLOCKS}, "name",
              "Rows, column, state, granule, number of granules"),
        Table("Scans for one value; a granule is a data block", ("scan", "state"),
              ["matching rows", OF_LEAST, "blocks, relative to a full scan", "time: with the index",
               "time: full scan", "times as fast"], {"granule": "a block"}),
        Table("Evaluation of an index in memory for one value, at an FPR of 1 %",
              ("granules", "values"), where={"name": "analysis"}),
        Table("Index of one column at an FPR of 1 %: bits per distinct value of a granule",
              ("column", "granule rows"), where={"name": "index"}),
        Table("Filling a database in random order, without and with an index", ("column",),
              where={"name": "filling"}),
        Table("Cost of indexes for point lookups, by where indexes are stored", ("name",),
              ["SSTs", "sidecars", "resident per SST", "lookup: time",
               "lookup: relative to no index", "lookup: bytes read"], note="Properties: table "
              "properties of SSTs. Sidecars: files beside SSTs. Resident: memory of a table "
              "reader, as estimated by RocksDB, above that without an index. Lookups: of absent "
              "keys, alternating with scans.")),
    plots=(
        Plot("Blocks read by a scan: {scan}", "A scan reads little more than the minimum.",
             BLOCKS, "granules", {"state": "compacted"}, each="scan", log="xy", styles=STYLES),
        Plot("Blocks read by a scan after a fifth of the rows was rewritten", "Rows are on three "
             "levels. 1 is the minimum.", OF_LEAST,
             where={"granule": "a block"}, series="state", group=("scan",),
             styles={"compacted": "blue", "a fifth rewritten": "orange"}),
        Plot("Evaluation of an index, by number of granules", "The filters of all granules are "
             "probed at once.", "time", "granules", {"name": "analysis"}, "values", log="xy")),
    labels={"granules": "{:,}", "values": "{:,} values", "granule rows": "{:,} rows"},
)
