"""Names in OPTIONS files that RocksDB drops in silence."""

import json
import re
import subprocess

from command import CommandTest, run

POLICY = "filter_policy"
COLLECTORS = "table_properties_collectors"


class Check(CommandTest):
    def setUp(self):
        super().setUp()
        self.db_bench("fillseq,flush", "--bloom_bits=10", num=1000)

    def check_file(self, code, **options):
        """The problems of an OPTIONS file with these values, and what options name."""
        text = max(self.db.glob("OPTIONS-*")).read_text().replace(
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
        """This problem, and no other."""
        (found,), _ = self.check_file(1, **options)
        self.assertRegex(found, problem)

    def test_what_rocksdb_knows(self):
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

    def test_names_that_nobody_registered(self):
        self.expect("^default: filter_policy is blocksive:0.01, which is not registered here: "
                    "RocksDB takes it for nullptr and writes files without filters, in silence. "
                    "Did you mean blocksieve[?] Known are blocksieve, bloomfilter, ribbonfilter$",
                    filter_policy="blocksive:0.01")
        self.expect("filter_policy is mine, .* in silence. Known are", filter_policy="mine")
        self.expect("prefix_extractor is blocksieve.rang, .* Did you mean blocksieve.range[?]",
                    prefix_extractor="blocksieve.rang")
        self.expect("no skip indexes, in silence. Did you mean blocksieve.skip_index[?]",
                    table_properties_collectors="{blocksieve.skipindex}")
        self.expect("^listeners is blocksive, .* mean blocksieve[?]", listeners="{blocksive}")

    def test_objects_of_the_program_are_its_own(self):
        """Unless RocksDB drops blocksieve's with them."""
        problems, named = self.check_file(0, prefix_extractor="mine", listeners="{Mine:Other}")
        self.assertEqual(problems, [])
        self.assertEqual([each["accepted"] for each in named if each["value"]],
                         [False, False, True, False])
        self.expect("listeners is Mine, .* makes no listener, blocksieve's neither",
                    listeners="{Mine:blocksieve}")

    def test_options_that_rocksdb_drops(self):
        for policy, problem in (("{id=blocksieve;target_fr=0.1}", "target_fr"),
                                ("blocksieve:7", "target_fpr is 7; allowed: 1e-07 to 0.5"),
                                ("{id=blocksieve;target_fpr=0.1;wasted_reads=1}", "exclude")):
            self.expect("drops in silence what it does not take: .*" + problem,
                        filter_policy=policy)
        self.expect("RocksDB [0-9.]+ does not load it: .*no_such_option",
                    prefix_extractor="nullptr\n  no_such_option=1")

    def test_what_has_to_stand_beside_a_policy(self):
        self.expect("filter_policy is nullptr, which RocksDB also writes", filter_policy="nullptr")
        self.expect("has wasted_reads, which needs the listener blocksieve, and listeners is {E",
                    filter_policy="{id=blocksieve;wasted_reads=1}")
        self.expect("prefix_extractor is not set; allowed: blocksieve.range",
                    filter_policy="{id=blocksieve;ranges=true}")

    def test_database(self):
        """A tool that knows no policy drops it, and writes files without filters."""
        check = ("check", "--db", self.db)
        self.check_text(check, "default +filter_policy +bloomfilter:10:false +yes$", "Nothing is")
        self.succeed("apply", "--db", self.db, "--option", "filter_policy=blocksieve:0.01")
        self.check_text(check, "default +filter_policy +blocksieve:0.01 +yes$", "Nothing is")
        subprocess.run(["ldb", f"--db={self.db}", "compact"], check=True, stdout=subprocess.DEVNULL)
        done = run(*check)
        self.assertEqual(done.code, 1)
        self.assertEqual(done.err, "blocksieve check: 2 problems found\n")
        self.assertRegex(done.out.decode(), "\ndefault: filter_policy is nullptr, .*"
                         "\n1 file with 1,000 keys written without the plug-in, .*"
                         f"blocksieve rewrite --db {self.db} --only-without\n")

    def test_one_column_family(self):
        self.add_column_family()
        self.assertEqual(run("check", "--db", self.db).code, 1)  # the other one has no policy
        named = self.json_of("check", "--db", self.db, "--column-family", "default")["named"]
        self.assertEqual({each["family"] for each in named}, {"", "default"})
        self.assertIn("there is no column family 'none'; there are: 'default', 'other'",
                      self.fail_with(1, "check", "--db", self.db, "--column-family", "none"))

    def test_arguments(self):
        self.assertIn("either --db or --options-file is required", self.fail_with(2, "check"))
        self.assertIn("excludes", self.fail_with(2, "check", "--db", "a", "--options-file", "b"))
        none = self.dir / "none"
        self.assertIn("cannot read", self.fail_with(1, "check", "--options-file", none))
        self.assertIn("there is no database", self.fail_with(1, "check", "--db", none))
