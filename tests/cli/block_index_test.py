# SPDX-License-Identifier: Apache-2.0
"""Block indexes, which RocksDB has from 11.2 on; before, what the command says of them."""

import unittest

from command import ROCKSDB, CommandTest, flip

OPTION = "user_defined_index_factory"
COLUMN = "n=int:1"
INDEX = OPTION + "={id=blocksieve.block_index;ranges=true;columns=" + COLUMN + "}"
HAS_INDEX = ROCKSDB >= (11, 2)


class BlockIndexTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.load([(f"k{i:05}", i // 100, "x" * 20) for i in range(5000)])

    def apply_index(self, *options, code=0, index=INDEX):
        return self.output_of(code, "apply", "--db", self.db, "--option", index, *options)

    def indexes(self):
        return [(file["index"]["place"], [column["definition"] for column in file["index"]["columns"]])
                for file in self.inspect()["files"]]

    @unittest.skipIf(HAS_INDEX, "has block indexes")
    def test_older_rocksdb_says_what_it_lacks(self):
        self.assertIn(OPTION, self.apply_index(code=2))
        # As a later RocksDB writes it.
        self.set_option("rocksdb_version", "11.9.0", "Version")
        self.edit_options(("  filter_policy=", f"  {INDEX}\n  filter_policy="))
        said = self.output_of(1, "check", "--db", self.db)
        self.assertRegex(said, f"{OPTION} +blocksieve.block_index +no\n")
        self.assertIn("ignores options of later versions", said)
        for command in ("load", "--key", 1, "-"), ("rewrite",), ("revert",):
            self.assertIn("RocksDB 11.9.0 wrote the options", self.fail_with(1, *command, "--db", self.db))
        self.assertEqual(len(self.scan("TRUE")), 5000)

    @unittest.skipUnless(HAS_INDEX, "RocksDB before 11.2")
    def test_index_comes_by_rewriting_and_goes_by_reverting(self):
        rows = self.scan("TRUE")
        expected = ("", [])
        for index, column in ((INDEX.replace(COLUMN, "t=field:2"), "t=field:2"), (INDEX.replace("ranges=true;", ""), COLUMN),
                              (INDEX, COLUMN)):
            self.assertIn("written", self.apply_index(index=index))
            self.assertEqual(self.indexes(), [expected])
            plan = self.json_of("rewrite", "--db", self.db, "--dry-run")
            self.assertEqual([file["new_parts"] for file in plan["files"]], ["block index"])
            self.succeed("rewrite", "--db", self.db)
            expected = ("block index", [column])
            self.assertEqual(self.indexes(), [expected])
            self.assertEqual(self.json_of("rewrite", "--db", self.db, "--dry-run")["files"], [])
        self.load([("l", 1)], "--no-compact")
        self.assertEqual(self.indexes(), [expected] * 2)
        self.assertEqual(self.verify()["num_problems"], 0)
        self.output_of(0, "check", "--db", self.db)
        self.set_option("use_udi_as_primary_index", "true")
        self.assertIn("the block index is primary", self.output_of(0, "check", "--db", self.db))
        self.assertEqual(self.scan("TRUE")[:-1], rows)
        self.succeed("revert", "--db", self.db)
        text = self.options_file().read_text()
        self.assertRegex(text, rf"{OPTION}=nullptr")
        self.assertRegex(text, "use_udi_as_primary_index=false")
        self.assertEqual(self.ldb("scan", "--hex").count(b"\n"), len(rows) + 1)

    @unittest.skipUnless(HAS_INDEX, "RocksDB before 11.2")
    def test_database_with_sidecars_takes_the_block_index(self):
        enable = ("enable", "--db", self.db, "--ranges", "--index", COLUMN)
        self.succeed(*enable, "--carrier", "filter_and_sidecar")
        self.succeed("index", "--db", self.db, "--index", COLUMN)
        self.load([("l", 1)], "--no-compact")
        self.assertIn(b"in the block index", self.succeed(*enable).out)
        self.load([("m", 2)], "--no-compact")
        self.assertEqual([place for place, _ in self.indexes()].count("block index"), 1)
        rows = self.scan("n = 1")
        self.assertEqual(len(rows), 101)
        refused = self.output_of(1, "load", "--db", self.db, "--key", 1, "--index", "t=field:2", "-")
        self.assertIn("columns is set, also of the skip index; allowed: none in one", refused)
        self.succeed("rewrite", "--db", self.db)
        self.assertEqual({place for place, _ in self.indexes()}, {"block index"})
        self.assertEqual(list(self.db.glob("*.bsx")), [])
        self.assertEqual(self.scan("n = 1"), rows)
        self.succeed(*enable, "--carrier", "filter_and_sidecar")  # and back
        self.load([("o", 1)])
        self.assertEqual(len(self.scan("n = 1")), 102)

    @unittest.skipUnless(HAS_INDEX, "RocksDB before 11.2")
    def test_what_the_interface_refuses_is_refused(self):
        before = self.files_of_database()
        said = self.apply_index("--option", "filter_policy={id=blocksieve;target_fpr=0.01;ranges=true}", code=1)
        self.assertIn("ranges is true, also of the block index", said)
        for value, reason in (("{id=blocksieve.block_index;range_fpr=2}", "range_fpr is 2"), ("nonsense", "nonsense"),
                              ("{id=blocksieve.block_index;columns=n=int}", "n=int")):
            self.assertIn(reason, self.output_of(2, "apply", "--db", self.db, "--option", f"{OPTION}={value}"))
        self.assertEqual(self.files_of_database(), before)
        # RocksDB would open none of the files.
        self.set_option("use_udi_as_primary_index", "true")
        self.assertIn("allowed before", self.apply_index(code=1))
        self.set_option(OPTION, "{id=blocksieve.block_index;ranges=true}")
        self.assertIn("1 file without the primary block index", self.output_of(1, "check", "--db", self.db))

    @unittest.skipUnless(HAS_INDEX, "RocksDB before 11.2")
    def test_damaged_index_is_reported(self):
        self.apply_index()
        self.succeed("rewrite", "--db", self.db)
        rows = self.scan("TRUE")
        flip(self.table(), self.table().read_bytes().index(b"\xb5bix") + 40)
        damaged, = self.verify(code=1)["files"]
        self.assertEqual(damaged["keys_checked"], len(rows))
        self.assertRegex(damaged["problems"][0], "unreadable block index: .*revert")
        self.succeed("revert", "--db", self.db)
        self.assertEqual(self.scan("TRUE"), rows)
