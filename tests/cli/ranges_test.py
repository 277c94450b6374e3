# SPDX-License-Identifier: Apache-2.0
"""Range filters and prefixes in load, inspect, verify, advise, apply, rewrite and revert."""

import json
import math
import random

from command import FAMILY, CommandTest
from inspect_test import PARTITIONED

RANGE_FPR = 0.02


def rows_of(number, seed=1):
    """Rows with dissimilar keys."""
    source = random.Random(seed)
    return sorted((f"user{source.randrange(10 ** 12):012}", i) for i in range(number))


class RangesTest(CommandTest):
    ROWS = rows_of(20_000)

    def test_inspect_and_verify(self):
        self.load(self.ROWS, "--range-fpr", RANGE_FPR)
        shown = self.only_filter()
        self.assertEqual(shown["entries"], "keys and ranges")
        self.assertEqual(shown["num_range_filters"], shown["num_filters"])
        self.assertAlmostEqual(shown["range_fpr"], RANGE_FPR, delta=0.3 * RANGE_FPR)
        self.assertLess(shown["range_bytes"], shown["num_bytes"])
        self.assertGreater(shown["range_bytes"], 15_000)
        file, = self.verify()["files"]
        # Once for the key, once for the range from the previous key.
        self.assertEqual((file["ranges"]["ranges_checked"], file["ranges"]["false_negatives"]), (40_000, 0))
        self.assertGreater(file["ranges"]["num_probes"], 99_000)
        low, high = file["ranges"]["fpr_interval"]
        self.assertLess(low, 1.2 * shown["range_fpr"])
        self.assertGreater(high, 0.8 * shown["range_fpr"])

    def test_the_database_gets_and_keeps_them(self):
        """Its options have the policy and the extractor."""
        self.load(self.ROWS)
        shown = self.only_filter()
        self.assertEqual((shown["entries"], shown["num_range_filters"], shown["range_fpr"]), ("keys", 0, 1))
        # Later files replace the current ones.
        for seed, more, fpr in ((2, ("--range-fpr", RANGE_FPR), RANGE_FPR), (3, (), RANGE_FPR),
                                (4, ("--range-fpr", 0.1), 0.1)):
            self.load(rows_of(1000, seed), *more)
            self.assertAlmostEqual(self.only_filter()["range_fpr"], fpr, delta=0.3 * fpr)
            self.assertEqual(self.option("prefix_extractor", FAMILY), "blocksieve.range")
        self.assertEqual(len(self.scan("TRUE")), 23_000)


class RangesAdviceTest(CommandTest):
    """The advice on range filters, and whether its predictions hold."""

    RUNS = ("3:50000", "2/4:12500", "0:12500", "0:12500")
    SEEKS = 20_000

    def advise(self, *arguments, part="ranges"):
        return self.json_of("advise", "--db", self.db, "--seek-fraction", 0.5, *arguments)[part]

    def blocks_per_seek(self):
        seeks = json.loads(self.level_tree("seek", str(self.SEEKS)))
        self.assertEqual(seeks["found"], 0)
        return seeks["blocks"] / self.SEEKS

    def test_prediction(self):
        self.build_runs(self.RUNS, "bloomfilter:10")
        advice = self.advise()
        # Each seek checks all runs, except the run with a fourth of the key range.
        self.assertAlmostEqual(advice["current_blocks_per_empty_seek"], 3.25, delta=0.02)
        self.assertAlmostEqual(self.blocks_per_seek(), 3.25, delta=0.02)
        self.assertEqual([run["current_range_fpr"] for run in advice["runs"]], [1] * 4)
        # Of a run with several files, up to three are read.
        self.assertGreater(max(run["sampled_files"] for run in advice["runs"]), 1)
        current = self.json_of("advise", "--db", self.db)["current"]["wasted_reads"]
        self.assertAlmostEqual(advice["current_wasted_reads"],
                               0.5 * current + 0.5 * math.exp(-0.01) * advice["current_blocks_per_empty_seek"])
        policy, extractor = advice["options"]
        self.assertEqual(extractor, "prefix_extractor=blocksieve.range")
        self.assertRegex(policy, r"^filter_policy=\{id=blocksieve;target_fpr=0\.\d+;kind=auto;ranges=true;range_fpr=0\.011\}$")
        self.db = self.dir / "with ranges"
        self.build_runs(self.RUNS, policy.removeprefix("filter_policy="))
        self.assertAlmostEqual(self.blocks_per_seek(), advice["blocks_per_empty_seek"],
                               delta=0.15 * advice["blocks_per_empty_seek"])
        range_bytes = sum(file["filter"]["range_bytes"] for file in self.inspect()["files"])
        self.assertAlmostEqual(range_bytes, advice["range_bytes"], delta=0.02 * range_bytes)
        again = self.advise()
        self.assertAlmostEqual(again["current_blocks_per_empty_seek"],
                               advice["blocks_per_empty_seek"], delta=0.002)

    def test_partitions(self):
        """Each partition has its own range filter."""
        sizes = []
        for more in self.each(((), PARTITIONED)):
            self.db_bench("fillrandom,flush,compact", "--bloom_bits=10", *more)
            sizes.append(self.advise()["range_bytes"])
        self.assertGreater(sizes[1], 1.04 * sizes[0])

    def test_where_they_pay(self):
        self.db_bench("fillrandom,flush,compact", "--compression_type=none", num=60_000)
        cache = ("--block-cache", 100_000)
        ranges = self.advise(*cache)
        self.assertEqual(ranges["do_not_pay"], "")
        self.assertIn("they would save", self.advise(*cache, "--range-width", 7)["do_not_pay"])
        # The verdict is on the options shown, with their key filters; the database has none.
        self.assertLess(ranges["wasted_reads"], 0.01)
        verdict = self.advise(*cache, part="verdict")
        self.assertIn("range filters: ", verdict["text"])
        self.assertEqual(verdict["option"], ranges["options"][0])
        # Both kinds of filters are within a limit.
        for memory, has_ranges in ((90_000, True), (20_000, False)):
            verdict = self.advise(*cache, "--memory", memory, part="verdict")
            self.assertEqual("ranges=true" in verdict["option"], has_ranges)

    def test_keys_too_much_alike(self):
        """Neighbors differ in one of few words after a long common prefix."""
        source = random.Random(1)
        def key():
            return "".join(source.choice(("north", "south", "east", "west")) for _ in range(40))
        keys = {first[:60] + key()[:5] + first[65:] for first in (key() for _ in range(5))
                for _ in range(400)}
        self.load([(key, 1) for key in sorted(keys)])
        advice = self.advise()
        self.assertGreater(advice["runs"][0]["estimated_fpr"], 0.2)
        self.assertEqual(advice["do_not_pay"], "neighboring keys are too similar")
        self.assertEqual((advice["range_bytes"], advice["options"]), (0, []))
        # And where the cache holds all.
        self.db = self.dir / "small"
        self.load(rows_of(2000))
        advice = self.advise()
        self.assertIn("fit into a block cache", advice["do_not_pay"])
        self.assertEqual(advice["runs"][0]["sampled_keys"], 2000)


def prefixes_of(keys, delimiter):
    """All that end at a delimiter."""
    return {key[:i + 1] for key in keys for i, byte in enumerate(key) if byte == delimiter}


def below(prefix):
    """The range of all keys with this prefix, as a line for level_tree."""
    return f"{prefix} {prefix[:-1]}{chr(ord(prefix[-1]) + 1)}\n".encode()


def paths(number):
    source = random.Random(7)
    return sorted({f"/usr/{source.choice('abc')}/d{source.randrange(900):03}/{source.randrange(9**9)}"
                   for _ in range(number)})


def events(number):
    source = random.Random(8)
    return sorted({f"account{source.randrange(100):03}:u{source.randrange(3)}:"
                   f"{source.randrange(9**9)}" for _ in range(number)})


class RangesPrefixesTest(CommandTest):
    PATHS = paths(20_000)
    EVENTS = events(20_000)

    def seek_below(self, prefixes):
        done = json.loads(self.level_tree("seek", "-", stdin=b"".join(map(below, prefixes))))
        return done["found"], done["blocks"]

    def test_from_advice_to_revert(self):
        for keys, delimiter, partitioned in self.each(((self.PATHS, "/", False), (self.EVENTS, ":", True))):
            rule = "delimiter:" + ("%3A" if delimiter == ":" else delimiter)
            present = prefixes_of(keys, delimiter)
            absent = {f"{prefix[:-1]}{i}{delimiter}" for prefix in present for i in range(3)} - present
            self.load([(key, 1) for key in keys])
            found, blocks = self.seek_below(absent)
            self.assertEqual(found, 0)
            self.assertGreater(blocks, 0.99 * len(absent))
            advice = self.json_of("advise", "--db", self.db, "--seek-fraction", 0.5,
                                  "--block-cache", 0)["prefixes"]
            self.assertEqual((advice["rule"], advice["do_not_pay"]), (rule, ""))
            self.assertEqual(advice["runs"][0]["num_prefixes"], len(present))
            if partitioned:
                self.edit_options(("partition_filters=false", "partition_filters=true"),
                                  ("index_type=kBinarySearch", "index_type=kTwoLevelIndexSearch"))
            self.assertIn(f";prefixes={rule}", advice["options"][0])
            self.apply(f"{{id=blocksieve;prefixes={rule}}}")
            self.succeed("rewrite", "--db", self.db)

            shown = self.only_filter()
            self.assertEqual(shown["entries"], "keys and prefixes")
            self.assertEqual((shown["shape"] == "partitioned", shown["num_filters"] > 3),
                             (partitioned, partitioned))
            self.assertEqual((shown["prefix_rules"], shown["num_keys"]), ([rule], len(keys)))
            self.assertAlmostEqual(shown["num_prefixes"], len(present), delta=3 * shown["num_filters"])
            self.assertEqual(shown["num_prefix_filters"], shown["num_filters"])
            if not partitioned:
                self.assertAlmostEqual(shown["prefix_bytes"], advice["prefix_bytes"],
                                       delta=0.03 * advice["prefix_bytes"] + 20)
            file, = self.verify()["files"]
            self.assertEqual((file["prefixes"]["prefixes_checked"], file["prefixes"]["false_negatives"]),
                             (len(present), 0))
            self.assertEqual((file["unchecked"], file["ranges"]["ranges_checked"]), ("", 0))
            low, high = file["prefixes"]["fpr_interval"]
            self.assertLess(low, 2 * shown["prefix_fpr"])  # some four of them pass
            self.assertGreater(high, 0.8 * shown["prefix_fpr"])
            found, blocks = self.seek_below(absent)
            self.assertEqual(found, 0)
            self.assertLess(blocks, 0.03 * len(absent))
            self.assertEqual(self.seek_below(present)[0], len(present))

            self.succeed("revert", "--db", self.db)
            self.assertIn("prefix_extractor=nullptr\n", self.options_file().read_text())
            shown = self.only_filter()
            self.assertEqual((shown["origin"], shown["num_prefix_filters"]), ("stock", 0))

    def test_which_files_are_rewritten(self):
        """Those with other parts than the policy's, but none whose keys give none."""
        rows = [(key, 1) for key in self.EVENTS]
        # Policy, and the parts of the file afterwards.
        for options, changes, rules in (
                ("prefixes=lengths:10", True, ["lengths:10"]),
                ("prefixes=lengths:10;prefix_fpr=0.5", False, ["lengths:10"]),
                ("prefixes=lengths:1000", True, []),
                ("prefixes=lengths:1000", False, []),
                ("prefixes=auto", True, ["delimiter:%3A"]),
                ("bits_per_key=8;prefixes=delimiter:%3A", True, ["delimiter:%3A"]),
                ("bits_per_key=8;prefixes=delimiter:%3A", False, ["delimiter:%3A"]),
                ("ranges=true;range_fpr=0.05", True, [])):
            with self.subTest(options):
                if not self.db.exists():
                    self.load(rows)
                self.apply(f"{{id=blocksieve;{options}}}")
                plan = self.json_of("rewrite", "--db", self.db, "--dry-run")
                parts = [file["new_parts"] for file in plan["files"]]
                self.assertEqual(len(parts), changes)
                self.succeed("rewrite", "--db", self.db)
                self.assertEqual(self.only_filter()["prefix_rules"], rules)
