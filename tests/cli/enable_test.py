# SPDX-License-Identifier: Apache-2.0
"""Features that `blocksieve enable` writes to the OPTIONS file of a database, as Enable sets them."""

from command import CommandTest

SIDECAR = ("--carrier", "filter_and_sidecar")


class EnableTest(CommandTest):
    def enable(self, *arguments):
        return self.text_of("enable", "--db", self.db, *arguments)

    def test_a_ceiling_lets_every_command_open(self):
        self.db_bench("fillseq,flush", "--bloom_bits=10", num=5000)
        self.enable("--filter-memory", "10kB", "--budget", "node")
        self.assertRegex(self.option("filter_policy"), "^{id=blocksieve;.*filter_memory=10000;")
        self.assertEqual(self.text_of("scan", "--db", self.db, "--count"), "5000\n")
        self.text_of("rewrite", "--db", self.db)
        self.text_of("check", "--db", self.db)
        self.assertLess(sum(file["filter"]["num_bytes"] for file in self.inspect()["files"]), 10_000)

    def test_files_have_what_was_enabled(self):
        self.load([(f"k{i:05}", i // 100, "x" * 20) for i in range(5000)])
        self.enable("--target-fpr", 0.01, "--prefixes", "lengths:3", "--index", "n=int:1", *SIDECAR)
        self.with_plugin("ldb", f"--db={self.db}", "put", "l", "7")
        self.with_plugin("ldb", f"--db={self.db}", "compact")
        self.assertEqual(len(self.keys("n = 7")), 101)
        self.assertLess(self.explain("n = 7")["rows_read"], 1000)
        self.assertEqual(self.verify()["num_problems"], 0)
        self.assertEqual(self.json_of("check", "--db", self.db)["problems"], [])
