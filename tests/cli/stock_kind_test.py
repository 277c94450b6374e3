# SPDX-License-Identifier: Apache-2.0
"""kind=stock, from advice to the result: RocksDB's own filters with blocksieve's rates by level."""

import json

from command import CommandTest

RUNS = ("3:60000", "2:16000", "1:4000", "0:2000")


class StockKindTest(CommandTest):
    def reads(self):
        """Wasted reads per lookup of an absent key."""
        return json.loads(self.level_tree("measure", "200000"))["wasted_reads_absent"] / 200_000

    def rewrite(self, *arguments):
        return self.json_of("rewrite", "--db", self.db, *arguments)

    def test_advice_is_kept_and_rewriting_comes_to_rest(self):
        for before in self.each(("bloomfilter:10:false", "blocksieve:0.01", "none")):
            self.build_runs(RUNS, before)
            advice = self.json_of("advise", "--db", self.db)
            proposal = advice["stock"]
            self.assertRegex(proposal["option"], r"bits_per_key=[\d.]+;kind=stock\}$")
            self.assertRegex(self.text_of("advise", "--db", self.db),
                             "programs that cannot all load the plug-in: [\\d.e-]+ wasted reads,"
                             "\n[\\d,]+ bytes of filters, with filter_policy={.*;kind=stock}\n")
            self.assertEqual(self.succeed("apply", "--db", self.db, "--option",
                                          proposal["option"]).err, "")
            # Also files with better filters, which do not work in RocksDB alone.
            self.assertGreaterEqual(self.rewrite()["files_rewritten"], len(RUNS))
            self.assertEqual(self.rewrite("--dry-run")["files"], [])
            files = self.inspect()["files"]
            self.assertLessEqual({file["filter"]["origin"] for file in files}, {"stock", "none"})
            self.assertAlmostEqual(self.reads() / proposal["wasted_reads_absent"], 1, delta=0.1)
            num_bytes = sum(file["filter"]["num_bytes"] for file in files)
            # Rewriting gives level 0 a Ribbon filter, which is smaller.
            self.assertAlmostEqual(num_bytes / proposal["filter_bytes"], 1, delta=0.03)
            self.assertEqual(self.json_of("check", "--db", self.db)["problems"], [])
            self.verify()

    def test_the_way_back(self):
        self.build_runs(RUNS, "{id=blocksieve;bits_per_key=10;kind=stock}")
        self.apply("{id=blocksieve;bits_per_key=10}")
        self.assertGreater(self.rewrite()["files_rewritten"], 0)
        self.assertIn("blocksieve", self.origins())
        self.apply("{id=blocksieve;bits_per_key=10;kind=stock}")
        self.assertGreater(self.rewrite()["files_rewritten"], 0)
        self.assertLessEqual(self.origins(), {"stock", "none"})
        self.succeed("revert", "--db", self.db, "--filter-policy", "bloomfilter:10:false")
        self.assertEqual(self.json_of("check", "--db", self.db)["problems"], [])
        self.assertLessEqual(self.origins(), {"stock", "none"})
