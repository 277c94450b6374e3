# SPDX-License-Identifier: Apache-2.0
"""Names in OPTIONS files that RocksDB silently ignores."""

import json

from command import FAMILY, ROCKSDB, CommandTest, run


class CheckTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.db_bench("fillseq,flush", "--bloom_bits=10", num=1000)

    def test_objects_of_the_program_are_its_own(self):
        """They are no problem, unless RocksDB ignores blocksieve's with them."""
        self.set_option("prefix_extractor", "mine", FAMILY)
        self.set_option("listeners", "{Mine:Other}", "DBOptions")
        named = self.json_of("check", "--options-file", self.options_file())["named"]
        self.assertEqual([each["accepted"] for each in named if each["value"]], [False, False, True, False])
        self.set_option("listeners", "{Mine:blocksieve}", "DBOptions")
        # Later ones leave out only those that they do not know.
        self.assertEqual(run("check", "--options-file", self.options_file()).code, int(ROCKSDB < (11, 5)))

    def test_a_tool_without_the_policy_drops_it(self):
        """And writes files without filters."""
        self.apply("blocksieve:0.01")
        self.ldb("compact")
        said = run("check", "--db", self.db, "--format", "json")
        self.assertEqual((said.code, len(json.loads(said.out)["problems"])), (1, 2), said.out)

    def test_of_several_policies_the_last_one_counts(self):
        self.apply("nullptr")
        self.ldb("compact")  # writes no filters
        for policy in ("blocksieve:0.01", "bloomfilter:10:false"):
            self.apply(policy)
        self.assertRegex(self.output_of(1, "check", "--db", self.db),
                         "^(?s:(?!blocksieve apply).)*: blocksieve advise --db ")

    def test_small_databases_need_no_policy(self):
        """As advise says; but a policy that was lost, or that one family lacks, is a problem."""
        self.db = self.dir / "new"
        self.ldb("--create_if_missing", "put", "a", "b")
        for code, verdict in ((1, "No verdict"), (0, "(No change recommended. )?No filter pays here: ")):
            self.assertRegex(self.output_of(0, "check", "--db", self.db), verdict)
            self.assertRegex(self.output_of(code, "advise", "--db", self.db), verdict)
            self.ldb("compact")
        self.apply("blocksieve:0.01")
        self.ldb("compact")
        self.assertIn("default: filter_policy is nullptr", run("check", "--db", self.db).out.decode())
        self.db = self.dir / "large"
        # More than the default block cache has room for.
        self.db_bench("fillrandom,flush,overwrite,flush", "--block_size=4096", "--value_size=2000",
                      "--compression_type=none", num=20_000)
        self.assertIn("Change to", self.text_of("advise", "--db", self.db))
        self.assertIn("default: filter_policy is nullptr", run("check", "--db", self.db).out.decode())

    def test_one_column_family(self):
        self.add_column_family()
        self.assertEqual(run("check", "--db", self.db).code, 1)  # the other one has no policy
        named = self.json_of("check", "--db", self.db, "--column-family", "default")["named"]
        self.assertEqual({each["family"] for each in named}, {"", "default"})
