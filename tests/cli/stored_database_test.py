# SPDX-License-Identifier: Apache-2.0
"""Databases whose OPTIONS file holds for another machine or another program."""

import urllib.parse

from command import FAMILY, TABLE, CommandTest


class WorldTest(CommandTest):
    """A database made with RocksDB's tools, whose OPTIONS file is then edited."""

    def make(self, *options, num=3000):
        self.db_bench("fillrandom,flush", "--bloom_bits=10", *options, num=num)

    def set_policy(self, value, family="default"):
        self.set_option("filter_policy", value, TABLE.replace("default", family))


class DatabasePlaceTest(WorldTest):
    """Copies, moved databases and checkpoints: tests/zoo."""

    def test_wal_that_was_left_behind_is_not_read(self):
        """A program that moves its WAL leaves an old one in the directory of the database."""
        wal = self.dir / "wal"
        self.make("--disable_wal=0", num=9)
        self.db_bench("overwrite", "--use_existing_db=1", "--disable_wal=0", f"--wal_dir={wal}", num=500)
        self.assertNotEqual([*self.db.glob("0*.log")], [])
        done = self.succeed("scan", "--db", self.db, "--count")
        self.assertIn(f"also read from its wal_dir {wal}", done.err)
        self.assertEqual(done.out, self.succeed("scan", "--db", self.db, "--count", "--wal-dir", wal).out)
        self.assertNotEqual(done.out, self.succeed("scan", "--db", self.db, "--count", "--wal-dir", "none").out)


class StockPoliciesTest(WorldTest):
    """Policies that build no filter, though RocksDB knows them, are never written with."""

    def test_filters_come_back_with_the_bits_of_the_files(self):
        for policy, bits, back in self.each((
                ("rocksdb.BuiltinBloomFilter", 10, "bloomfilter:10:false"),
                ("bloomfilter", 7, "bloomfilter:7:false"), ("ribbonfilter", 14, "bloomfilter:14:false"),
                ("rocksdb.BloomFilter", 10, "bloomfilter:10:false"), ("nullptr", 5, "bloomfilter:5:false"))):
            with self.subTest(policy):
                self.db_bench("fillrandom,flush", f"--bloom_bits={bits}", num=3000)
                self.set_policy(policy)
                if policy != "nullptr":
                    self.assertIn("programs that load this file write files without filters",
                                  self.output_of(1, "check", "--db", self.db))
                before, rows = self.inspect()["total"]["filter_bytes"], self.ldb("scan", "--hex")
                self.apply("blocksieve:0.001")
                self.succeed("rewrite", "--db", self.db)
                self.assertEqual(self.origins(), {"blocksieve"})
                self.assertEqual(self.verify()["num_problems"], 0)
                said = self.succeed("revert", "--db", self.db)
                self.assertEqual(self.origins(), {"stock"})
                self.assertEqual(self.ldb("scan", "--hex"), rows)
                self.assertIn(f"filter_policy={back}, like the filters before blocksieve apply", said.err)
                self.assertIn(f"  filter_policy={back}\n", self.options_file().read_text())
                self.assertAlmostEqual(self.inspect()["total"]["filter_bytes"], before, delta=0.05 * before)
                self.assertEqual(list(self.db.glob("blocksieve-*")), [])

    def test_other_families_lose_no_filters(self):
        """Rows of the WAL are flushed when the database is opened to write."""
        for other in self.each(("rocksdb.BuiltinBloomFilter", "bloomfilter", "their_own_policy")):
            self.make("--disable_wal=0")
            self.ldb("create_column_family", "b")
            self.ldb("--column_family=b", "put", "key", "value")
            self.set_policy(other, "b")
            self.apply("blocksieve:0.001", "--column-family", "default")
            self.succeed("rewrite", "--db", self.db, "--column-family", "default")
            for file in self.json_of("inspect", "--db", self.db, "--column-family", "b")["files"]:
                self.assertEqual(file["filter"]["origin"], "stock", other)
            self.assertEqual(self.ldb("--column_family=b", "get", "key").strip(), b"value")
            self.assertIn(f"filter_policy={other}\n", self.options_file().read_text())
            self.succeed("revert", "--db", self.db, "--column-family", "default")
            self.assertEqual({file["filter"]["origin"] for file in self.json_of(
                "inspect", "--db", self.db, "--column-family", "default")["files"]}, {"stock"})


class SkipIndexDefinitionTest(WorldTest):
    """OPTIONS files define skip indexes; files only fill in what they lack."""

    ROWS = [(f"{i:06}", f"w{i // 700}", i % 10) for i in range(5000)]
    DEFINITION = "{{id=blocksieve.skip_index;columns=w=field:1;target_fpr=0.001;max_index_bytes=123456}}"

    def definition(self):
        return urllib.parse.unquote(self.option("table_properties_collectors", FAMILY))

    def test_is_kept_by_every_command(self):
        self.load(self.ROWS)
        self.succeed("apply", "--db", self.db, "--option", "table_properties_collectors=" + self.DEFINITION)
        self.succeed("index", "--db", self.db)
        self.apply("blocksieve:0.0001")
        self.load([("z", "w9", 1)])
        for command in (("rewrite",), ("index",), ("revert",)):
            self.succeed(*command, "--db", self.db)
            for text in ("columns=w=field:1", "target_fpr=0.001", "max_index_bytes=123456"):
                self.assertIn(text, self.definition(), command)
        self.load([("zz", "w9", 1)], "--index", "n=int:2")
        for text in ("w=field:1", "n=int:2", "target_fpr=0.001", "max_index_bytes=123456"):
            self.assertIn(text, self.definition())
        self.assertEqual(len(self.keys("w = 'w9' AND n = 1")), 2)

    def test_stands_beside_other_collectors(self):
        """Files get the index though OPTIONS have another collector, and the other stays."""
        other = "{id=CompactOnDeletionCollector;window_size=100;deletion_trigger=50}"
        self.load(self.ROWS, "--index", "w=field:1")
        self.set_option("table_properties_collectors", f"{{{other}}}", FAMILY)
        self.apply("blocksieve:0.0001")
        self.succeed("rewrite", "--db", self.db)
        for number in range(2):
            self.assertEqual([column["definition"] for file in self.inspect()["files"]
                              for column in file["index"]["columns"]], ["w=field:1"])
            self.assertIn("CompactOnDeletionCollector", self.definition())
            self.load([(f"z{number}", "w9", 1)])
