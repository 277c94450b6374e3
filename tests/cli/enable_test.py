# SPDX-License-Identifier: Apache-2.0
"""Features that `blocksieve enable` writes to the OPTIONS file of a database, as Enable sets them."""

from command import FAMILY, TABLE, CommandTest

SIDECAR = ("--carrier", "filter_and_sidecar")
FEATURES = ("--bits-per-key", 10, "--ranges", "--index", "n=field:1", "--drop-properties", *SIDECAR)
COLLECTORS = "table_properties_collectors"
EXTRACTOR = "  prefix_extractor=nullptr"


class EnableTest(CommandTest):
    def enable(self, *arguments):
        return self.text_of("enable", "--db", self.db, *arguments)


class EnableStockDatabaseTest(EnableTest):
    def setUp(self):
        super().setUp()
        self.db_bench("fillseq,flush", "--bloom_bits=10", num=5000)

    def test_a_ceiling_lets_every_command_open(self):
        self.enable("--filter-memory", "10kB", "--budget", "node")
        self.assertRegex(self.option("filter_policy"), "^{id=blocksieve;.*filter_memory=10000;")
        self.assertEqual(self.text_of("scan", "--db", self.db, "--count"), "5000\n")
        self.text_of("rewrite", "--db", self.db)
        self.text_of("check", "--db", self.db)
        self.assertLess(sum(file["filter"]["num_bytes"] for file in self.inspect()["files"]), 10_000)

    def test_features_come_are_replaced_and_go(self):
        """Beside a collector and listeners of other programs."""
        self.edit_options((EXTRACTOR, f"  {COLLECTORS}={{TheirCollector}}\n" + EXTRACTOR))
        listeners = self.option("listeners", "DBOptions").strip("{}")
        before = self.files_of_database()
        planned = self.enable(*FEATURES, "--dry-run")
        self.assertEqual(self.files_of_database(), before)
        self.assertTrue(planned.startswith("column family default: ranges, columns in filters and sidecars, as "))
        said = self.enable(*FEATURES)
        self.assertEqual(said.split("written: ")[0], planned.split("Nothing was")[0])
        self.assertRegex(said, rf"written: {self.options_file().name}\n(?s:.*)blocksieve index --db")
        self.assertRegex(self.option("filter_policy"), r"^{id=blocksieve;(?=.*ranges=true;).*bits_per_key=10;")
        self.assertEqual(self.option("prefix_extractor", FAMILY), "blocksieve.range")
        collectors = self.option(COLLECTORS, FAMILY)
        self.assertRegex(collectors, "^TheirCollector:{id=blocksieve.skip_index;.*columns=n%3Dfield%3A1;")
        self.assertEqual(self.option("listeners", "DBOptions"), f"{listeners}:blocksieve")
        self.assertIn("has these options already", self.enable(*FEATURES))
        self.enable("--kind", "stock", "--index", "m=int:2", *FEATURES[-3:])
        self.assertRegex(self.option("filter_policy"), "^{id=blocksieve;.*kind=stock;")
        self.assertEqual(self.option("prefix_extractor", FAMILY), "nullptr")
        self.assertEqual(self.option(COLLECTORS, FAMILY), collectors.replace("n%3Dfield%3A1", "m%3Dint%3A2"))
        self.enable("--nothing", "--drop-properties")
        self.assertEqual(self.option(COLLECTORS, FAMILY), "{TheirCollector}")
        self.assertEqual(self.option("listeners", "DBOptions"), listeners)
        self.assertNotIn("blocksieve", self.options_file().read_text())

    def test_families(self):
        """The listener stays while one of them needs it."""
        self.add_column_family()
        self.enable("--bits-per-key", 10, "--column-family", "default", "--column-family", "other")
        self.enable("--nothing", "--column-family", "other")
        self.assertIn("blocksieve", self.option("filter_policy"))
        self.assertEqual(self.option("filter_policy", TABLE.replace("default", "other")), "nullptr")
        self.assertIn("blocksieve", self.option("listeners", "DBOptions"))


class EnableUseTest(EnableTest):
    def test_files_have_what_was_enabled(self):
        self.load([(f"k{i:05}", i // 100, "x" * 20) for i in range(5000)])
        self.enable("--target-fpr", 0.01, "--prefixes", "lengths:3", "--index", "n=int:1", *SIDECAR)
        self.with_plugin("ldb", f"--db={self.db}", "put", "l", "7")
        self.with_plugin("ldb", f"--db={self.db}", "compact")
        self.assertEqual(len(self.keys("n = 7")), 101)
        self.assertLess(self.explain("n = 7")["rows_read"], 1000)
        self.assertEqual(self.verify()["num_problems"], 0)
        self.assertEqual(self.json_of("check", "--db", self.db)["problems"], [])
