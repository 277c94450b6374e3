# SPDX-License-Identifier: Apache-2.0
"""The reports of advise, and whether its predictions hold."""

import json
import math
import re

from command import CommandTest

BLOOM = "bloomfilter:10"
RIBBON = "ribbonfilter:10"
# Levels and keys of the runs, from the deepest to the newest.
RUNS = ("3:30000", "2:8000", "1:2500", "0:1000", "0:1000")
# Few lookups check a run with keys from a part of the key range.
PARTIAL_RUNS = ("3:30000", "2/2:8000", "1/16:2500", "0/4:1000")
BEYOND_CACHE = ("--block-cache", 100_000)


class AdviseTest(CommandTest):
    def advise(self, *arguments):
        """The advice, with the runs of the only column family."""
        document = self.json_of("advise", "--db", self.db, *arguments)
        return {**document["families"][0], **document}

    def proposal(self, name, *arguments):
        return next(one for one in self.advise(*arguments)["proposals"] if one["name"] == name)


class AdvisePredictionTest(AdviseTest):
    def measure(self, rate):
        """With so many lookups that four standard errors of this rate are some 8 %."""
        self.lookups = min(135_000, math.ceil(2500 / rate))
        return json.loads(self.level_tree("measure", str(self.lookups)))

    def assert_within_tenth(self, events, predicted_rate):
        """Within 10 % plus four standard errors; `events` were counted in self.lookups."""
        predicted = predicted_rate * self.lookups
        self.assertAlmostEqual(events, predicted, delta=0.1 * predicted + 4 * math.sqrt(predicted))

    def check(self, prediction, measured):
        """Compares a prediction for absent keys and memory with the measurement."""
        self.assert_within_tenth(measured["wasted_reads_absent"], prediction["wasted_reads_absent"])
        self.assertAlmostEqual(measured["filter_bytes"], prediction["filter_bytes"],
                               delta=0.1 * prediction["filter_bytes"])

    def check_current(self):
        current = self.advise()["current"]
        measured = self.measure(current["wasted_reads_absent"])
        self.check(current, measured)
        self.assertEqual(measured["filter_bytes"], current["filter_bytes"])
        of_present_keys = self.advise("--absent-fraction", 0)["current"]
        self.assert_within_tenth(measured["wasted_reads_present"], of_present_keys["wasted_reads"])
        return current, measured

    def test_filters_of_all_kinds(self):
        for reads, *policies in self.each((
                ((0.045, 0.047), BLOOM), ((0, 1), RIBBON), ((0, 0.0101), "blocksieve:0.002"),
                ((0.01, 0.03), "{id=blocksieve;wasted_reads=0.02}"), ((4.99, 5.01), "none"),
                ((1, 2), "blocksieve:0.1", BLOOM, "none", RIBBON, "blocksieve:0.01"))):
            with self.subTest(policies=policies):
                self.build_runs(RUNS, *policies)
                if len(policies) > 1:
                    self.apply("blocksieve:0.01")  # which reads them all
                current, _ = self.check_current()
                self.assertTrue(reads[0] < current["wasted_reads"] < reads[1], current)

    def test_proposals(self):
        """After rewriting with the option, lookups, some of present keys, waste what was predicted."""
        self.build_runs(PARTIAL_RUNS, BLOOM)
        for run, share in zip(self.advise()["runs"], (1 / 4, 1 / 16, 1 / 2, 1)):
            self.assertAlmostEqual(run["lookup_share"], share, delta=0.02)
        lookups = ("--absent-fraction", 0.4, "--block-cache", 0)
        proposals = [self.proposal("requested", "--wasted-reads", 0.005, *lookups),
                     *self.advise(*lookups)["proposals"]]
        self.assertEqual([proposal["name"] for proposal in proposals],
                         ["requested", "same memory", "same reads", "one rate"])
        for proposal in self.copies(proposals):
            with self.subTest(option=proposal["option"]):
                self.apply(proposal["option"].removeprefix("filter_policy="))
                self.succeed("rewrite", "--db", self.db)
                _, measured = self.check_current()
                self.check(proposal, measured)
                self.assert_within_tenth(
                    0.4 * measured["wasted_reads_absent"] + 0.6 * measured["wasted_reads_present"],
                    proposal["wasted_reads"])


class AdviseVerdictsTest(AdviseTest):
    """The first line, and the proposals."""

    def test_nothing_worse_is_offered(self):
        """Whatever the current filters are. Files that match a proposal keep their filters, so a
        proposal that changes nothing has the costs and reads of the current filters."""
        for policy, runs in self.each((
                (RIBBON, RUNS), (BLOOM, PARTIAL_RUNS), ("blocksieve:0.01", PARTIAL_RUNS), (BLOOM, ("0:4000",)),
                ("{id=blocksieve;bits_per_key=8}", PARTIAL_RUNS), ("{id=blocksieve;wasted_reads=0.02}", RUNS))):
            self.build_runs(runs, policy)
            for fraction in (1, 0.5):
                family = self.advise("--absent-fraction", fraction)
                current = family["current"]
                for proposal in family["proposals"]:
                    with self.subTest(policy=policy, runs=runs, offer=proposal["name"]):
                        for name in ("wasted_reads", "wasted_reads_absent", "filter_bytes"):
                            self.assertLessEqual(proposal[name], current[name] * (1 + 1e-9))
                        if proposal["rewritten_files"] == 0:
                            self.assertEqual(proposal["filter_bytes"], current["filter_bytes"])
                reads = {one["name"]: one["wasted_reads"] for one in family["proposals"]}
                if "one rate" in reads:
                    self.assertLessEqual(reads["same memory"], 1.02 * reads["one rate"])

    def test_leave_it(self):
        for policy, option in self.each((("{id=blocksieve;bits_per_key=9}", None), ("none", "usual"),
                                         ("{id=blocksieve;wasted_reads=0.03}", None))):
            self.build_runs(("2:60000", "1:6000"), policy)
            family = self.advise(*BEYOND_CACHE)
            self.assertEqual(family["verdict"]["proposal"], option)
            self.assertEqual(family["current"] == family["no_filters"], policy == "none")

    def test_asked(self):
        """The first proposal is within the limit, and no other one exceeds it, for seeks neither; the verdict says
        if no filter pays."""
        self.build_runs(RUNS, BLOOM)
        for option, limit, cache, text in (
                ("--wasted-reads", 0.001, 0, "=0.001: "), ("--memory", 25_300, 0, "2.1 times less memory,"),
                ("--wasted-reads", 0.001, "1GiB", "The requested wasted_reads=0.001 gives "),
                ("--memory", 6_300, 0, "more wasted reads and 8."),
                ("--memory", 1, 0, "No change recommended: memory is 1 byte")):
            arguments = ("--block-cache", cache, option, limit)
            seeks = self.advise(*arguments, "--seek-fraction", 0.3)
            family = self.advise(*arguments)
            self.assertIn(text, family["verdict"]["text"])
            self.assertEqual(family["no_filter_pays"] == "", cache == 0)
            is_possible = limit != 1
            self.assertTrue(is_possible or seeks["verdict"] == family["verdict"])
            self.assertEqual(family["verdict"]["proposal"], "requested" if is_possible else None)
            self.assertEqual([proposal["name"] for proposal in family["proposals"]][:1], ["requested"] * is_possible)
            member = "filter_bytes" if option == "--memory" else "wasted_reads_absent"
            for proposal in family["proposals"] + seeks["proposals"]:
                self.assertLessEqual(proposal[member], limit)


class AdviseAdviceTest(AdviseTest):
    """Mostly for one run of 20,000 keys."""

    def test_block_cache(self):
        self.db_bench("fillseq,compact", "--bloom_bits=10")
        num_bytes = self.inspect()["total"]["num_bytes"]
        for cache, pays in ((0, True), (num_bytes - 1, True), (num_bytes, False), ("1GB", False)):
            family = self.advise("--block-cache", cache)
            self.assertEqual(family["no_filter_pays"] == "", pays, cache)
        self.assertIn("fit into", self.advise()["no_filter_pays"])
        # Column families share it.
        self.add_column_family()
        self.assertEqual(self.advise("--block-cache", num_bytes)["no_filter_pays"], "")
        # The options disable the block cache.
        self.db = self.dir / "uncached"
        self.db_bench("fillseq,compact", "--bloom_bits=10", "--cache_size=0")
        self.assertEqual(self.advise()["no_filter_pays"], "")

    def test_column_families(self):
        """One plan for all, with one limit, that one command applies, rewrites and reverts."""
        self.build_runs(("2:60000", "1:6000"), BLOOM)
        self.succeed("load", "--db", self.db, "--column-family", "other", "--key", 1, "-",
                     stdin=b"".join(b"key%06d\tvalue\n" % i for i in range(30_000)))
        default, other, both = (
            self.json_of("advise", "--db", self.db, "--memory", memory, "--block-cache", 0, *more)
            for memory, more in ((66_000, ("--column-family", "default")),
                                 (30_000, ("--column-family", "other")), (96_000, ())))
        self.assertEqual([family["family"] for family in both["families"]], ["default", "other"])
        self.assertEqual(both["num_keys"], 96_000)
        for name in ("no_filters", "current"):
            self.assertEqual(both[name]["filter_bytes"],
                             default[name]["filter_bytes"] + other[name]["filter_bytes"])
            # Lookups are distributed as the keys are.
            self.assertAlmostEqual(both[name]["wasted_reads"],
                                   (66 * default[name]["wasted_reads"] + 30 * other[name]["wasted_reads"]) / 96)
        proposal = both["proposals"][0]
        self.assertEqual(proposal["name"], "requested")
        self.assertTrue(0.97 * 96_000 < proposal["filter_bytes"] <= 96_000)
        self.assertEqual([level["family"] for level in proposal["levels"]], ["default", "default", "other"])
        self.apply(proposal["option"].removeprefix("filter_policy="))
        self.assertEqual({family["family"] for family in self.json_of("rewrite", "--db", self.db)["families"]},
                         {"default", "other"})
        total = self.inspect()["total"]
        self.assertAlmostEqual(total["filter_bytes"], proposal["filter_bytes"],
                               delta=0.02 * proposal["filter_bytes"])
        self.succeed("revert", "--db", self.db)
        self.assertEqual(self.origins(), {"stock"})

    def test_files_that_stay_on_level_0(self):
        """Under FIFO, the policy builds ribbons for them."""
        for style, kind in self.each(((0, "bloom"), (2, "ribbon"))):
            self.db_bench("fillseq,flush", "--bloom_bits=10", f"--compaction_style={style}")
            levels = self.proposal("requested", "--wasted-reads", 0.02)["levels"]
            self.assertEqual([(level["level"], level["kind"]) for level in levels], [(0, kind)])


class AdviseWindowTest(AdviseTest):
    def test_blocks_of_a_window_are_as_predicted(self):
        times = [bytes([64, 64, 64 + a, 64 + b]) for a in range(20) for b in range(25)]
        rows = [b"s%02d%b\t%b" % (series, time, b"v" * 60) for series in range(40) for time in times]
        self.load(b"\n".join(rows), "--index", "t=bounds:key:uint32be(-4)")
        best = self.advise("--window", 0.01)["windows"]["columns"][0]
        self.assertEqual(best["column"], "key:uint32be(-4)")
        low, high = (int.from_bytes(times[i], "big") for i in (248, 252))
        done = self.succeed("scan", "--db", self.db, "--where", f"t BETWEEN {low} AND {high}", "--count", "--explain")
        read, known = map(int, re.search(r"granules: (\d+)/(\d+)", done.err).groups())
        self.assertAlmostEqual(read / known / best["blocks_read"], 1, delta=0.15)
        self.assertIn("--index 'NAME=bounds:key:uint32be(-4)'", self.text_of("advise", "--db", self.db, "--window", 0.01))

    def test_keys_in_order_need_no_column(self):
        self.db_bench("fillseq,flush")
        self.assertEqual(self.advise("--window", 0.1)["windows"]["columns"], [])
