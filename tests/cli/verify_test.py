# SPDX-License-Identifier: Apache-2.0
"""verify finds no problem in sound databases, and damage at any byte."""


from command import ROCKSDB, CommandTest, flip, run
from inspect_test import BLOOM, PARTITIONED, PREFIXES, RIBBON


def rename_meta_block(table, name, new):
    """A table without checksums with another name, of the same length, in the list of meta blocks."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (table[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if table[at - 1] < 128:
                return value, at
    begin, at = varint(len(table) - 52)
    end = begin + varint(at)[0]
    return table[:begin] + table[begin:end].replace(name, new) + table[end:]


class VerifySoundDatabasesTest(CommandTest):
    def check(self, num_probes=100_000):
        verified = self.verify("--db", self.db, "--probes", num_probes)
        self.assertEqual(verified["num_problems"], 0)
        for file in verified["files"]:
            self.assertEqual(file["false_negatives"], 0)
            self.assertEqual(file["problems"], [])
            if file["filter"]["origin"] == "none":
                self.assertEqual((file["num_probes"], file["fpr_interval"]), (0, None))
                continue
            self.assertEqual(file["num_probes"], num_probes)
            low, high = file["fpr_interval"]
            self.assertLess(low, high)
            self.assertEqual(file["measured_fpr"], file["num_passed"] / file["num_probes"])
            self.assertTrue(low <= file["measured_fpr"] <= high)
        return verified["files"]

    def check_rate(self):
        """Stock filters are up to 10 % worse than the model, and 100,000 probes are few."""
        for file in self.check():
            low, high = file["fpr_interval"]
            self.assertLess(low, 1.15 * file["filter"]["predicted_fpr"])
            self.assertGreater(high, 0.8 * file["filter"]["predicted_fpr"])
            self.assertEqual(file["keys_checked"], file["num_keys"])

    def test_stock_filters(self):
        for kind, bits, *options in self.each((
                ("bloom", 10, *BLOOM), ("ribbon", 7, *RIBBON), ("bloom", 10, *BLOOM, *PARTITIONED),
                ("ribbon", 7, *RIBBON, *PARTITIONED), ("bloom", 10, *BLOOM, *PREFIXES),
                ("bloom", 10, *BLOOM, *PREFIXES, *PARTITIONED),
                ("legacy bloom", 10, *BLOOM, "--format_version=4"))):
            with self.subTest(options=options):
                self.db_bench("fillrandom,flush,compact", *options)
                self.check_rate()
                shown = self.only_filter()
                # RocksDB 9 ends with a partition too small for Ribbon.
                self.assertEqual((shown["origin"], shown["kind"].split("+")[-1]), ("stock", kind))
                self.assertEqual(shown["entries"], "keys" + " and prefixes" * (PREFIXES[0] in options))
                self.assertAlmostEqual(shown["bits_per_key"], bits, delta=0.7)

    def test_every_entry_is_asked(self):
        """Includes deletes and keys with timestamps, but no range deletes."""
        only_prefixes = (*BLOOM, *PREFIXES, "--whole_key_filtering=false")
        for benchmarks, *options in self.each((
                ("fillseq,flush",), ("deleteseq,flush", *BLOOM),
                ("fillseq,flush", *BLOOM, "--writes_per_range_tombstone=100"),
                ("fillrandom,flush", *BLOOM, "--user_timestamp_size=8"),
                ("fillrandom,flush", *BLOOM, *PARTITIONED, "--user_timestamp_size=8"),
                ("fillseq,flush", *only_prefixes), ("fillseq,flush", *only_prefixes, *PARTITIONED),
                ("fillseq,flush", *only_prefixes, "--user_timestamp_size=8"))):
            with self.subTest(benchmarks=benchmarks, options=options):
                self.db_bench(benchmarks, *options)
                file, = self.check(10_000)
                self.assertEqual((file["keys_checked"], file["unchecked"]), (20_000, ""))
                if options:
                    self.assertLess(file["fpr_interval"][0], 0.02)
                if "--whole_key_filtering=false" in options:
                    self.assertEqual(file["filter"]["entries"], "prefixes")

    def test_merges(self):
        """RocksDB before 9.3 hides some of their entries, and verify reports that."""
        self.db_bench("mergerandom,deleterandom,flush", *BLOOM, "--merge_operator=put")
        file, = self.check()
        self.assertEqual(file["keys_checked"] < file["num_keys"], ROCKSDB < (9, 3))
        if ROCKSDB < (9, 3):
            self.assertIn(f"of {file['num_keys']:,} entries were checked", file["unchecked"])

    def test_meta_blocks_of_other_programs(self):
        """RocksDB with assertions, as Debian's, aborts when it checks one that it does not know."""
        self.db_bench("fillseq,flush", "--compression_type=none", "--format_version=2", "--checksum_type=0")
        path = self.table()
        table = path.read_bytes()
        for name, new in ((b"rocksdb.properties", b"pebble.properties_"), (b"", b"")):
            path.write_bytes(rename_meta_block(table, name, new) if name else table)
            if name and ROCKSDB >= (11, 0):  # which opens no table without its properties
                self.assertIn("Cannot find Properties", self.output_of(1, "verify", path))
                continue
            file, = self.verify()["files"]
            unchecked = f"meta blocks were not checked: RocksDB {ROCKSDB[0]}.*does not know {new.decode()}$"
            self.assertRegex(file["unchecked"], unchecked if name else "^$")
            self.assertEqual(file["keys_checked"], 20_000)
            self.succeed("inspect", path)

    def test_own_filters(self):
        rows = [(f"{i:05}", i % 100) for i in range(20_000)]
        for more in self.each(((), ("--no-compact",))):
            self.load(rows, "--index", "n=int:1", *more)
            self.check_rate()
        self.assertIsNone(self.verify("--db", self.db, "--probes", 0)["files"][0]["fpr_interval"])


class VerifyDamageTest(CommandTest):
    """Damages single bytes throughout files that are alike, each at another place."""

    ROWS = [(f"{i:05}", i % 50, "x" * 10) for i in range(3000)]
    SMALL_FILES = ("--target_file_size_base=40000", "--compression_type=none")

    def check_every_byte(self):
        paths = sorted(self.db.glob("*.sst"))
        self.assertGreater(len(paths), 50)
        for number, path in enumerate(paths):
            # RocksDB's footer has unused bytes.
            flip(path, (path.stat().st_size - 53) * number // len(paths), 0x10)
        verified = self.verify("--db", self.db, "--probes", 100, code=1)
        damaged = sum(file["problems"] != [] for file in verified["files"])
        self.assertEqual(damaged + len(verified["unopened"]), len(paths), verified)
        self.assertIn(run("inspect", "--db", self.db).code, (0, 1))
        said = b""
        for path in paths[::3]:
            self.assertIn(run("inspect", path).code, (0, 1), path)
            done = run("verify", "--probes", 100, path)
            self.assertEqual(done.code, 1, path)
            self.assertNotEqual(done.err, "")
            said += done.out
        return said.decode()

    def test_own_filter(self):
        self.db_bench("fillseq,flush", *self.SMALL_FILES, num=10)
        self.load([(f"{i:06}", i % 50, "x" * 10) for i in range(90_000)], "--index", "n=int:1")
        self.check_every_byte()

    def test_stock_filter(self):
        self.db_bench("fillseq,flush,compact", *RIBBON, *self.SMALL_FILES, num=60_000)
        self.check_every_byte()

    def test_stock_filter_in_partitions(self):
        """RocksDB's own check does not read their checksums, and an extra bit in a Bloom filter causes
        no false negative."""
        self.db_bench("fillseq,flush,compact", *BLOOM, *PARTITIONED, *self.SMALL_FILES, num=60_000)
        self.assertIn("unreadable filter: Corruption: block checksum mismatch",
                      self.check_every_byte())

    def test_other_files_are_verified_all_the_same(self):
        for _ in range(3):
            self.load(self.ROWS, "--no-compact")
        paths = sorted(self.db.glob("*.sst"))
        self.assertEqual(len(paths), 3)
        good = paths[1].read_bytes()
        for damaged in (b"", good[:-20], good[:-1] + b"?", None):
            if damaged is None:
                paths[1].unlink()
            else:
                paths[1].write_bytes(damaged)
            verified = self.verify(code=1)
            self.assertEqual(sorted(file["path"] for file in verified["files"]),
                             [str(paths[0]), str(paths[2])])
            self.assertEqual([file["keys_checked"] for file in verified["files"]], [len(self.ROWS)] * 2)
            self.assertEqual(verified["num_problems"], 1)
            self.assertIn(f"cannot open {paths[1]}: ", verified["unopened"][0])


class VerifyDamageThatNoBlockChecksumShowsTest(CommandTest):
    """Blocks without checksums: only the filters' own checksums and probes detect damage."""

    def damage_filter(self):
        """Clears bytes inside the filter, which is located by the problem that verify reports."""
        path = self.table()
        good = path.read_bytes()
        for position in range(len(good) // 2, len(good) - 600, 5000):
            path.write_bytes(good[:position] + bytes(200) + good[position + 200:])
            done = run("verify", path)
            self.assertIn(done.code, (0, 1))
            if b"filter" in b"".join(line for line in done.out.splitlines() if b"PROBLEM" in line):
                return path
        self.fail("no filter was found")

    def test_false_negatives_of_a_stock_filter(self):
        # Later formats detect damage to an unused checksum field.
        self.db_bench("fillseq,flush", *BLOOM, "--checksum_type=0", "--format_version=5")
        verified = self.verify(self.damage_filter(), code=1)
        file, = verified["files"]
        self.assertGreater(file["false_negatives"], 10)
        self.assertLess(file["false_negatives"], 20_000)
        self.assertEqual(file["problems"],
                         [f"the filter has false negatives for {file['false_negatives']:,} of the keys of the file"])
        self.assertEqual(verified["num_problems"], 1)

    def test_checksum_of_an_own_filter(self):
        self.db_bench("fillseq,flush", "--checksum_type=0", num=10)
        self.load([(f"{i:05}", i % 50, "x" * 10) for i in range(20_000)])
        file, = self.verify(self.damage_filter(), code=1)["files"]
        self.assertEqual(file["filter"]["origin"], "blocksieve")
        self.assertTrue(any("key filter checksum mismatch" in problem for problem in file["problems"]), file["problems"])
