# SPDX-License-Identifier: Apache-2.0
"""Names in OPTIONS files that RocksDB silently ignores."""

import json
import re

from command import ROCKSDB, CommandTest, run

POLICY = "filter_policy"
COLLECTORS = "table_properties_collectors"


class CheckTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.db_bench("fillseq,flush", "--bloom_bits=10", num=1000)

    def check_file(self, code, **options):
        """The problems of an OPTIONS file with these values, and the objects that it names."""
        text = self.options_file().read_text().replace(
            "  prefix_extractor=", f"  {COLLECTORS}={{}}\n  prefix_extractor=")
        for name, value in options.items():
            text, changes = re.subn(rf"(?m)^  {name}=.*$", f"  {name}={value}", text)
            self.assertEqual(changes, 1, name)
        path = self.dir / "OPTIONS"
        path.write_text(text)
        done = run("check", "--options-file", path, "--format", "json")
        self.assertEqual(done.code, code, done.err)
        document = json.loads(done.out)
        return document["problems"], document["named"]

    def expect(self, problem, **options):
        """Expects exactly one problem."""
        (found,), _ = self.check_file(1, **options)
        self.assertRegex(found, problem)

    def test_registered_names(self):
        for options in ({}, {POLICY: "blocksieve:0.01"}, {POLICY: "ribbonfilter:10"},
                        {POLICY: "{id=blocksieve;bits_per_key=10;}", "listeners": "{blocksieve}"},
                        {POLICY: "{id=blocksieve;ranges=true;}",
                         "prefix_extractor": "blocksieve.range"},
                        {COLLECTORS: "{{id=blocksieve.skip_index;columns=v%3Dfield%3A1;}}"}):
            problems, named = self.check_file(0, **options)
            self.assertEqual(problems, [])
            ours = {each["option"] for each in named if "blocksieve" in each["value"]}
            self.assertEqual(ours, {name for name in options if "blocksieve" in options[name]})
            self.assertNotIn(False, [each["accepted"] for each in named if each["option"] in ours])

    def test_unregistered_names(self):
        self.expect("^default: filter_policy is blocksive:0.01, which is not registered: RocksDB "
                    "silently uses nullptr and writes files without filters. "
                    "Registered: blocksieve, bloomfilter, ribbonfilter$",
                    filter_policy="blocksive:0.01")
        self.expect("filter_policy is mine, .* without filters. Registered: ", filter_policy="mine")
        self.expect("prefix_extractor is blocksieve.rang, .* Registered: .*blocksieve.range",
                    prefix_extractor="blocksieve.rang")
        self.expect("no skip indexes. Registered: .*blocksieve.skip_index",
                    table_properties_collectors="{blocksieve.skipindex}")
        self.expect("^listeners is blocksive, .* Registered: ", listeners="{blocksive}")

    def test_objects_of_the_program_are_its_own(self):
        """They are no problem, unless RocksDB ignores blocksieve's with them."""
        problems, named = self.check_file(0, prefix_extractor="mine", listeners="{Mine:Other}")
        self.assertEqual(problems, [])
        self.assertEqual([each["accepted"] for each in named if each["value"]],
                         [False, False, True, False])
        if ROCKSDB < (11, 5):  # later ones leave out only those that they do not know
            self.expect("listeners is Mine, .* silently creates no listener, not even blocksieve's",
                        listeners="{Mine:blocksieve}")

    def test_ignored_options(self):
        for policy, problem in (("{id=blocksieve;target_fr=0.1}", "target_fr"),
                                ("blocksieve:7", "target_fpr is 7; allowed: 1e-07 to 0.5"),
                                ("{id=blocksieve;target_fpr=0.1;wasted_reads=1}", "exclude")):
            self.expect("silently ignores part of it: .*" + problem,
                        filter_policy=policy)
        self.expect("cannot read OPTIONS: RocksDB [0-9.]+ says: .*no_such_option",
                    prefix_extractor="nullptr\n  no_such_option=1")

    def test_options_that_a_policy_needs(self):
        self.expect("filter_policy is nullptr, so new files get no filters", filter_policy="nullptr")
        self.expect("has wasted_reads, which needs the listener blocksieve, but listeners is {E",
                    filter_policy="{id=blocksieve;wasted_reads=1}")
        self.expect("prefix_extractor is not set; allowed: blocksieve.range",
                    filter_policy="{id=blocksieve;ranges=true}")
        extractor = {"prefix_extractor": "blocksieve.range"}
        for options in ({}, {"prefix_extractor": "rocksdb.FixedPrefix.4"}, {"whole_key_filtering": "false", **extractor},
                        {"index_type": "kHashSearch", **extractor}):
            self.expect(r"does not open the database: .* allowed: .* \(with prefixes=delimiter:/\)$",
                        filter_policy="{id=blocksieve;prefixes=delimiter:/}", **options)

    def test_database(self):
        """A tool without the policy ignores it and writes files without filters."""
        check = ("check", "--db", self.db)
        self.check_text(check, "default +filter_policy +bloomfilter:10:false +yes$", "No problem")
        self.apply("blocksieve:0.01")
        self.check_text(check, "default +filter_policy +blocksieve:0.01 +yes$", "No problem")
        self.ldb("compact")
        self.assertRegex(self.output_of(1, *check), "\ndefault: filter_policy is nullptr, .*"
                         "\n1 file with 1,000 keys without filters, written before .*: blocksieve apply .*"
                         f" && blocksieve rewrite --only-unfiltered --db {self.db}\n"
                         "(?s:.*)blocksieve check: 2 problems found\n")

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
            self.check_text(("check", "--db", self.db), "default +filter_policy +- +-$", "No problem found", verdict)
            self.assertRegex(self.output_of(code, "advise", "--db", self.db), verdict)
            self.ldb("compact")
        self.apply("blocksieve:0.01")
        self.ldb("compact")
        self.assertIn("default: filter_policy is nullptr", run("check", "--db", self.db).out.decode())
        self.db = self.dir / "large"
        self.db_bench("fillrandom,flush,overwrite,flush", "--block_size=4096", "--value_size=2000",
                      num=30_000)  # more than RocksDB's default block cache has room for
        self.assertIn("Change to", self.text_of("advise", "--db", self.db))
        self.assertIn("default: filter_policy is nullptr", run("check", "--db", self.db).out.decode())

    def test_one_column_family(self):
        self.add_column_family()
        self.assertEqual(run("check", "--db", self.db).code, 1)  # the other one has no policy
        named = self.json_of("check", "--db", self.db, "--column-family", "default")["named"]
        self.assertEqual({each["family"] for each in named}, {"", "default"})
