# SPDX-License-Identifier: Apache-2.0
"""Filter options written to the OPTIONS file of a database."""

import re

from command import FAMILY, CommandTest, run

SPREAD = "filter_policy={id=blocksieve;bits_per_key=10;kind=auto}"


class ApplyStockDatabaseTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.db_bench("fillseq,flush", "--bloom_bits=10", num=5000)


class ApplyTest(ApplyStockDatabaseTest):
    def test_tools_of_rocksdb_write_and_read_with_it(self):
        for partitioned in self.each(("false", "true")):
            self.db_bench("fillseq,flush")
            self.edit_options(("partition_filters=false", f"partition_filters={partitioned}"),
                              ("index_type=kBinarySearch", "index_type=kTwoLevelIndexSearch"))
            self.apply("blocksieve:0.01")
            said = self.with_plugin(
                "db_bench", f"--db={self.db}", f"--options_file={self.options_file()}", "--use_existing_db",
                "--num=20000", "--reads=10000", "--batch_size=32", "--statistics",
                "--benchmarks=overwrite,flush,compact,readrandom,readmissing,multireadrandom")
            self.assertIn("(10000 of 10000 found)", said)
            self.assertIn("(0 of 10000 found)", said)
            self.assertGreater(int(re.search(r"bloom\.filter\.useful COUNT : (\d+)", said)[1]), 9000)
            self.assertEqual(self.origins(), {"blocksieve"})
            self.with_plugin("ldb", f"--db={self.db}", "put", "a", "by ldb")
            self.assertEqual(self.with_plugin("ldb", f"--db={self.db}", "get", "a"), "by ldb\n")


class ApplyRevertTest(ApplyStockDatabaseTest):
    """The policy before apply comes back, whatever programs without the plug-in wrote since."""

    def take(self, step):
        if step == "compact":
            self.ldb("compact")
        else:
            option = ("--option", SPREAD) if step == "apply" else ()
            self.succeed(step, "--db", self.db, *option)

    def test_original_is_restored(self):
        for steps in self.copies(("apply rewrite compact revert", "apply compact apply rewrite revert",
                                  "apply compact apply revert revert", "apply revert apply compact revert")):
            for step in steps.split():
                self.take(step)
            self.assertEqual(self.option("filter_policy"), "bloomfilter:10:false")
            self.assertEqual(self.origins(), {"stock"})
            self.assertEqual(list(self.db.glob("blocksieve-*")), [])

    def test_every_way_back_is_shown(self):
        """Whatever step comes first: nobody reads the filters, every command says so, and revert ends it."""
        for steps in self.copies((("apply", "filter_policy=bloomfilter:10:false"), ("apply", "filter_policy=nullptr"),
                                  ("revert", "--level"))):
            self.db_bench("overwrite,compact,overwrite,flush", "--use_existing_db=1", "--bloom_bits=10", num=5000)
            self.take("apply")
            self.take("rewrite")
            if steps[0] == "revert":  # as one that was interrupted
                self.succeed(*steps, 0, "--db", self.db)
            else:
                self.assertIn("blocksieve revert --db", self.text_of("apply", "--db", self.db, "--option", steps[1]))
            policy = self.option("filter_policy")
            self.assertIn("blocksieve", self.origins())
            for code, *command in ((1, "check"), (0, "inspect"), (0, "advise", "--block-cache", 0), (1, "rewrite")):
                self.assertIn("blocksieve revert", self.output_of(code, *command, "--db", self.db), command)
            self.assertEqual(run("inspect", "--db", self.db, "--fail-if", "without-filter").code, 1)
            self.remove("*.bsx")
            self.take("revert")
            self.assertEqual(self.option("filter_policy"),
                             "bloomfilter:10:false" if policy == "nullptr" else policy)
            self.assertEqual(self.origins(), {"stock"})
            self.assertNotIn("blocksieve", self.options_file().read_text())
            self.succeed("check", "--db", self.db)
            self.succeed("inspect", "--db", self.db, "--fail-if", "without-filter")

    def test_few_keys_decide_nothing(self):
        """Nor does a database without filters get some."""
        for options, policy in self.each(((("--bloom_bits=10",), "bloomfilter:10:false"), ((), "nullptr"))):
            self.db_bench("fillseq,flush", *options, num=5000)
            self.take("apply")
            self.take("rewrite")
            if options:
                self.remove("blocksieve-*")  # as if it had been adopted in code
            self.db_bench("overwrite,flush", "--use_existing_db=1", *options, num=11)
            self.edit_options(("filter_policy=" + policy, "filter_policy=nullptr"))
            self.take("revert")
            self.assertEqual(self.option("filter_policy"), policy)
            self.assertEqual(self.origins(), {"stock" if options else "none"})

    def test_original_is_kept_until_it_is_restored(self):
        self.add_column_family()
        self.take("apply")
        kept, = self.db.glob("blocksieve-OPTIONS-*")
        self.succeed("revert", "--db", self.db, "--column-family", "other")
        self.assertTrue(kept.exists())
        self.take("compact")
        self.take("revert")
        self.assertFalse(kept.exists())
        self.assertEqual(self.option("filter_policy"), "bloomfilter:10:false")


class ApplyObjectsOfOtherProgramsTest(ApplyStockDatabaseTest):
    """Others: zoo.merge, zoo.reverse, zoo.objects."""

    def test_merge_operator_without_operands(self):
        """Files are rewritten, and OPTIONS name it as before."""
        self.edit_options(("merge_operator=nullptr", "merge_operator=TheirMergeOperator"))
        self.assertEqual(self.succeed("apply", "--db", self.db, "--option", SPREAD).err, "")
        for command in ("rewrite", "revert"):
            self.assertGreater(self.json_of(command, "--db", self.db)["files_rewritten"], 0)
            self.assertEqual(self.option("merge_operator", FAMILY), "TheirMergeOperator")
