"""What advise says of databases, and whether it comes true."""

import json
import math
import re
import shutil

from command import CommandTest, run

BLOOM = "bloomfilter:10"
RIBBON = "ribbonfilter:10"
# Levels and keys of the runs, from the deepest to the newest.
RUNS = ("3:100000", "2:25000", "1:6250", "0:2000", "0:2000")
# Few lookups ask a run that has keys from a part of the range only.
PARTIAL_RUNS = ("3:100000", "2/2:25000", "1/16:6250", "0/4:2000")
LOOKUPS = 135_250  # each present key of RUNS once


class AdviseTest(CommandTest):
    def advise(self, *arguments):
        """Of the first column family."""
        return self.json_of("advise", "--db", self.db, *arguments)["families"][0]

    def proposal(self, name, *arguments):
        return next(one for one in self.advise(*arguments)["proposals"] if one["name"] == name)


class Prediction(AdviseTest):
    def measure(self):
        return json.loads(self.level_tree("measure", str(LOOKUPS)))

    def assert_within_tenth(self, events, predicted_rate):
        """Measured in LOOKUPS, against 10 % and four standard errors."""
        predicted = predicted_rate * LOOKUPS
        self.assertAlmostEqual(events, predicted, delta=0.1 * predicted + 4 * math.sqrt(predicted))

    def check(self, prediction, measured):
        """What is promised or said of absent keys and memory."""
        self.assert_within_tenth(measured["wasted_reads_absent"], prediction["wasted_reads_absent"])
        self.assertAlmostEqual(measured["filter_bytes"], prediction["filter_bytes"],
                               delta=0.1 * prediction["filter_bytes"])

    def check_today(self):
        measured = self.measure()
        today = self.advise()["today"]
        self.check(today, measured)
        self.assertEqual(measured["filter_bytes"], today["filter_bytes"])
        of_present_keys = self.advise("--absent-fraction", 0)["today"]
        self.assert_within_tenth(measured["wasted_reads_present"], of_present_keys["wasted_reads"])
        return today, measured

    def test_filters_of_all_kinds(self):
        for reads, *policies in self.each((
                ((0.045, 0.047), BLOOM), ((0, 1), RIBBON), ((0, 0.0101), "blocksieve:0.002"),
                ((0, 1), "{id=blocksieve;wasted_reads=0.02}"), ((4.99, 5.01), "none"),
                ((1, 2), "blocksieve:0.1", BLOOM, "none", RIBBON, "blocksieve:0.01"))):
            with self.subTest(policies=policies):
                self.build_runs(RUNS, *policies)
                today, _ = self.check_today()
                self.assertTrue(reads[0] < today["wasted_reads"] < reads[1], today)

    def test_partial_runs(self):
        for base, others in self.each((("blocksieve:0.01", "blocksieve:0.1"), ("none", BLOOM))):
            self.build_runs(PARTIAL_RUNS, base, others, others, others)
            self.check_today()
            shares = [run["share_of_lookups"] for run in self.advise()["runs"]]
            for share, expected in zip(shares, (1 / 4, 1 / 16, 1 / 2, 1)):
                self.assertAlmostEqual(share, expected, delta=0.02)

    def test_real_compactions(self):
        """They leave levels that are there in parts, which ones is a matter of their timing."""
        self.level_tree("fill", "250000", "blocksieve:0.01")
        today, _ = self.check_today()
        self.assertLess(today["wasted_reads_absent"],
                        sum(run["predicted_fpr"] for run in self.advise()["runs"]))

    def test_rewritten(self):
        """What lookups of which some are of present keys are told to waste, they do."""
        self.build_runs(RUNS, BLOOM)
        for name in ("same memory", "same reads", "one rate"):
            self.db, built = self.dir / name.replace(" ", ""), self.db
            shutil.copytree(built, self.db)
            proposal = self.proposal(name, "--absent-fraction", 0.4, "--block-cache", 0)
            self.succeed("apply", "--db", self.db, "--option", proposal["option"])
            self.succeed("rewrite", "--db", self.db)
            measured = self.measure()
            self.check(proposal, measured)
            self.assert_within_tenth(
                0.4 * measured["wasted_reads_absent"] + 0.6 * measured["wasted_reads_present"],
                proposal["wasted_reads"])
            self.db = built

    def test_proposals(self):
        """A database that is built with the option has what was promised. Its present keys are left
        out: the first file on level 0 is more precise than those that follow, for the policy does
        not know yet how large they are, and lookups of present keys waste most reads there."""
        for number, runs in enumerate((RUNS, ("3:100000", "2/4:25000", "1/16:6250"))):
            self.db = self.dir / str(number)
            self.build_runs(runs, BLOOM)
            proposals = self.advise("--wasted-reads", 0.005)["proposals"]
            self.assertEqual([proposal["name"] for proposal in proposals],
                             ["same memory", "same reads", "asked", "one rate"])
            for proposal in proposals:
                with self.subTest(runs=runs, option=proposal["option"]):
                    self.db = self.dir / f"{number} {proposal['name']}"
                    prefix, policy = proposal["option"].split("=", 1)
                    self.assertEqual(prefix, "filter_policy")
                    self.build_runs(runs, policy)
                    _, measured = self.check_today()
                    self.check(proposal, measured)


class Verdicts(AdviseTest):
    """The first line, and what is offered."""

    def first_line(self, *arguments):
        return self.text_of("advise", "--db", self.db, *arguments).splitlines()[0]

    def test_nothing_worse_is_offered(self):
        """Whatever the filters are now. Files that are as a proposal has them count as they are,
        so that one which changes nothing costs and wastes what today's filters do."""
        partial = ("3:100000", "2/4:25000", "1/16:6250", "0/2:2000")
        for policy, runs in self.each((
                (BLOOM, RUNS), (RIBBON, RUNS), (BLOOM, partial), ("blocksieve:0.01", partial),
                ("{id=blocksieve;bits_per_key=8}", RUNS),
                ("{id=blocksieve;bits_per_key=8}", partial),
                ("{id=blocksieve;wasted_reads=0.02}", partial),
                ("{id=blocksieve;wasted_reads=0.02}", RUNS), (BLOOM, ("0:4000",)))):
            self.build_runs(runs, policy)
            for fraction in (1, 0.5):
                family = self.advise("--absent-fraction", fraction)
                today = family["today"]
                for proposal in family["proposals"]:
                    with self.subTest(policy=policy, runs=runs, offer=proposal["name"]):
                        for name in ("wasted_reads", "wasted_reads_absent", "filter_bytes"):
                            self.assertLessEqual(proposal[name], today[name] * (1 + 1e-9))
                        if proposal["rewritten_files"] == 0:
                            self.assertEqual(proposal["filter_bytes"], today["filter_bytes"])
                reads = {one["name"]: one["wasted_reads"] for one in family["proposals"]}
                if "one rate" in reads:
                    self.assertLessEqual(reads["same memory"], 1.02 * reads["one rate"])

    def test_options_say_what_the_table_says(self):
        """Also where few lookups ask some levels, of which the listener tells the policy."""
        for runs in self.each((RUNS, PARTIAL_RUNS)):
            self.build_runs(runs, BLOOM)
            family = self.advise("--wasted-reads", 0.004)
            self.assertIn("asked", [one["name"] for one in family["proposals"]])
            for proposal in family["proposals"]:
                bits_per_key = 8 * proposal["filter_bytes"] / family["num_keys"]
                with self.subTest(option=proposal["option"]):
                    if "wasted_reads=" in proposal["option"]:
                        shown = proposal["wasted_reads_absent"]
                        self.assertAlmostEqual(float(re.search(r"wasted_reads=([\d.]+)",
                                                               proposal["option"]).group(1)),
                                               shown, delta=0.03 * shown)
                    if "bits_per_key=" in proposal["option"]:
                        self.assertAlmostEqual(proposal["bits_per_key"], bits_per_key,
                                               delta=0.02 * bits_per_key)

    def test_change(self):
        """It keeps what it says: the gain is that of the proposal that it names."""
        self.db_bench("fillrandom,compact", "--bloom_bits=10", "--value_size=100",
                      "--compression_type=none", num=600_000)  # beyond any version's block cache
        family = self.advise()
        best = next(one for one in family["proposals"] if one["name"] == "same memory")
        self.assertEqual(family["verdict"]["proposal"], "same memory")
        times = family["today"]["wasted_reads"] / best["wasted_reads"]
        self.assertRegex(family["verdict"]["words"],
                         rf"^Change to blocksieve's filters with [a-z_]+=[0-9.]+: {times:.1f} times "
                         "fewer wasted reads for the same memory\\.$")
        self.assertEqual(self.first_line(), family["verdict"]["words"])

    def test_leave_it(self):
        for policy in self.each(("{id=blocksieve;bits_per_key=9}",
                                 "{id=blocksieve;wasted_reads=0.03}")):
            self.build_runs(("2:600000", "1:60000"), policy)  # beyond the block cache
            self.assertEqual(self.first_line(),
                             "Leave it: your filters are within 5 % of the best.")
            text = self.text_of("advise", "--db", self.db)
            self.assertNotIn("How to change", text)
            done = run("advise", "--db", self.db, "--options-file", self.dir / "OPTIONS")
            self.assertEqual(done.code, 1)
            self.assertIn("there is nothing to change", done.err)
            self.assertFalse((self.dir / "OPTIONS").exists())

    def test_asked_where_no_filter_pays(self):
        """It says so, and does as it is asked."""
        self.build_runs(("2:60000",), BLOOM)
        path = self.dir / "OPTIONS"
        arguments = ("--wasted-reads", 0.001, "--block-cache", "1GiB")
        self.assertRegex(self.first_line(*arguments),
                         r"^Leave it\. No filter pays here: the files, [\d,]+ bytes, fit into a block cache of 1024 MiB\. "
                         r"What you ask for, wasted_reads=0\.001, means [\d.]+ times fewer wasted reads and .* memory\.$")
        self.succeed("advise", "--db", self.db, *arguments, "--options-file", path)
        self.assertIn("wasted_reads=0.001", path.read_text())
        done = run("advise", "--db", self.db, *arguments, "--options-file", self.dir / "none" / "OPTIONS")
        self.assertEqual(done.code, 1)
        self.assertIn(f"cannot write {self.dir}/none/OPTIONS", done.err)

    def test_without_filters(self):
        self.build_runs(("2:600000",), "none")
        self.assertRegex(self.first_line(), r"^Change to blocksieve's filters with bits_per_key=10: "
                                            r"\d+ times fewer wasted reads for [\d,]+ bytes of filters\.$")
        family = self.advise()
        self.assertEqual(family["today"], family["without"])
        self.assertEqual([one["name"] for one in family["proposals"]], ["usual", "one rate"])

    def test_asked(self):
        self.build_runs(("2:600000",), BLOOM)
        self.assertRegex(self.first_line("--wasted-reads", 0.001),
                         r"wasted_reads=0\.001: [\d.]+ times fewer wasted reads and .* memory, as asked\.$")

    def test_steps(self):
        """They name the option of the verdict, and the options file that they speak of loads."""
        self.db_bench("fillrandom,compact", "--bloom_bits=10", "--value_size=100",
                      "--compression_type=none", num=200_000)
        self.add_column_family()
        path = self.dir / "OPTIONS"
        text = self.text_of("advise", "--db", self.db, "--column-family", "default",
                            "--wasted-reads", 0.001, "--options-file", path)
        option = "filter_policy={id=blocksieve;wasted_reads=0.001;kind=auto}"
        for line in ("       [DBOptions]", "         listeners={blocksieve}",
                     '       [TableOptions/BlockBasedTable "default"]', "         " + option,
                     f"     blocksieve apply --db {self.db} --column-family default --option '{option}'",
                     f"     blocksieve rewrite --db {self.db} --column-family default",
                     "     blocksieve::EnableFilter(&options, {.wasted_reads = 0.001});"):
            self.assertIn(line + "\n", text)
        written = path.read_text()
        self.assertIn(f"\n  {option}\n", written)
        self.assertIn('[CFOptions "other"]', written)
        self.assertEqual(written.count("id=blocksieve"), 1)
        other = self.dir / "other"
        self.with_plugin("db_bench", f"--options_file={path}", f"--db={other}",
                         "--benchmarks=fillseq,flush", "--num=5000")
        self.assertEqual([file["filter"]["origin"] for file in
                          self.inspect("--db", other)["files"]], ["blocksieve"])


class Advice(AdviseTest):
    """Of one run of 20,000 keys, mostly."""

    def test_names(self):
        self.db_bench("fillseq,compact", "--bloom_bits=10")
        advice = self.json_of("advise", "--db", self.db)
        self.assertEqual(set(advice), {"version", "engine", "database", "absent_fraction", "families",
                                       "unopened", "vanished"})
        family = advice["families"][0]
        self.assertEqual(set(family), {"family", "num_keys", "runs", "without", "today", "proposals",
                                       "impossible", "no_filter_pays", "verdict", "parts"})
        self.assertEqual(set(family["runs"][0]),
                         {"level", "num_files", "num_keys", "share_of_lookups", "predicted_fpr"})
        self.assertEqual(set(family["today"]),
                         {"wasted_reads_absent", "wasted_reads", "filter_bytes"})
        self.assertEqual(set(family["proposals"][0]), {
            "name", "option", "target_fpr", "wasted_reads_absent", "wasted_reads", "filter_bytes",
            "levels", "rewritten_files", "rewritten_bytes", "rewritten_keys", "probe_ns",
            "build_cpu_seconds_per_million_keys"})
        self.assertEqual(set(family["proposals"][0]["levels"][0]), {"level", "kind", "target_fpr"})

    def test_rewriting(self):
        """Nothing is to be rewritten where all is as proposed."""
        self.build_runs(("1:20000",), "{id=blocksieve;wasted_reads=0.01}")
        file = self.inspect()["files"][0]
        proposal = self.proposal("asked", "--wasted-reads", 0.01)
        self.assertEqual((proposal["rewritten_files"], proposal["rewritten_keys"]), (0, 0))
        proposal = self.proposal("asked", "--wasted-reads", 0.001)
        self.assertEqual((proposal["rewritten_files"], proposal["rewritten_bytes"],
                          proposal["rewritten_keys"]), (1, file["num_bytes"], 20_000))

    def test_where_no_filter_pays(self):
        self.load([("key", "value")])
        for arguments, reason in (
                ((), "fit into a block cache of "),
                # Lookups of present keys in a single run waste nothing.
                (("--absent-fraction", 0), "without filters, a lookup wastes 0 reads of data blocks")):
            family = self.advise(*arguments)
            self.assertIn(reason, family["no_filter_pays"])
            text = self.text_of("advise", "--db", self.db, *arguments)
            self.assertIn("No filter pays here: ", text)
            self.assertIn(reason, text)

    def test_block_cache(self):
        self.db_bench("fillseq,compact", "--bloom_bits=10")
        num_bytes = self.inspect()["total"]["num_bytes"]
        for cache, pays in ((0, True), (num_bytes - 1, True), (num_bytes, False), ("1GB", False)):
            family = self.advise("--block-cache", cache)
            self.assertEqual(family["no_filter_pays"] == "", pays, cache)
        self.assertIn("fit into", self.advise()["no_filter_pays"])
        # The options say that there is none.
        self.db = self.dir / "uncached"
        self.db_bench("fillseq,compact", "--bloom_bits=10", "--cache_size=0")
        self.assertEqual(self.advise()["no_filter_pays"], "")

    def test_prices(self):
        self.build_runs(("1:20000", "0:20000"), "none")
        for reads in (0.001, 0.01, 1.2):
            proposal = self.proposal("asked", "--wasted-reads", reads)
            self.assertTrue(0 < proposal["probe_ns"] < 10_000, proposal)
            self.assertTrue(0 < proposal["build_cpu_seconds_per_million_keys"] < 10, proposal)
        nothing = self.proposal("asked", "--wasted-reads", 5)
        self.assertEqual((nothing["build_cpu_seconds_per_million_keys"], nothing["probe_ns"]), (0, 0))
        text = self.text_of("advise", "--db", self.db)
        self.assertRegex(text, "(?m)^price +million keys +probe +resident +rewrite +rewrite +hash$")
        self.assertRegex(text, r"(?m)^usual +\d\.\d{3} +[\d.]+ +[\d,]+ +2 +[\d,]+ +40,000$")

    def test_parts(self):
        """Another kind of filter, and rates by level: each for itself."""
        self.build_runs(("2:60000", "1:6000"), RIBBON)
        family = self.advise("--block-cache", 0)
        parts = family["parts"]
        reads = {one["name"]: one["wasted_reads"] for one in family["proposals"]}
        self.assertEqual(parts["today"], family["today"]["wasted_reads"])
        self.assertEqual(parts["other_kind"], reads["one rate"])
        self.assertEqual(parts["rates_by_level"], reads["same memory"])
        self.assertLess(parts["rates_by_level"], parts["other_kind"])
        self.assertLess(parts["other_kind"], parts["today"])

    def test_column_families(self):
        self.db_bench("fillseq,flush", "--bloom_bits=10")
        self.add_column_family()
        families = self.json_of("advise", "--db", self.db, "--memory", 40_002)["families"]
        self.assertEqual([family["family"] for family in families], ["default", "other"])
        asked = next(one for one in families[0]["proposals"] if one["name"] == "asked")
        # In proportion to the keys.
        self.assertAlmostEqual(asked["filter_bytes"], 40_000, delta=400)
        self.assertRegex(
            families[1]["impossible"][0],
            r"^asked: 2 bytes are too few for any filter; the least is \d+; this column family "
            "gets 2 of the 40002 asked for, by its keys$")
        self.assertEqual(self.advise("--column-family", "other")["family"], "other")
        said = self.fail_with(1, "advise", "--db", self.db, "--column-family", "third")
        self.assertIn("column family 'third' has no files; those that have some are: 'default', "
                      "'other'", said)
        self.assertIn("Column family other: 1 key in 1 sorted run",
                      self.text_of("advise", "--db", self.db))

    def test_overwritten_part(self):
        self.db_bench("fillseq,compact", num=300_000)
        self.db_bench("overwrite,flush", "--use_existing_db=1", num=30_000)
        shares = [run["share_of_lookups"] for run in self.advise()["runs"]]
        self.assertAlmostEqual(shares[0], 0.1, delta=0.005)
        self.assertAlmostEqual(shares[1], 1)

    def test_files_that_stay_on_level_0(self):
        """Under FIFO, where the policy builds ribbons of them."""
        for style, kind in self.each(((0, "bloom"), (2, "ribbon"))):
            self.db_bench("fillseq,flush", "--bloom_bits=10", f"--compaction_style={style}")
            levels = self.proposal("asked", "--wasted-reads", 0.02)["levels"]
            self.assertEqual([(level["level"], level["kind"]) for level in levels], [(0, kind)])

    def test_text(self):
        self.db_bench("fillseq,compact", "--bloom_bits=10")
        self.check_text(("advise", "--db", self.db, "--absent-fraction", 0.5),
                        " +wasted reads +per lookup +filter bytes +bits/key",
                        "no filters +1 +0.5 +0 ",
                        "level +runs +keys +lookups +today +same memory +same reads +one rate$",
                        "1 +1 +20,000 ",
                        r"  same memory +filter_policy=\{id=blocksieve;target_fpr=")
