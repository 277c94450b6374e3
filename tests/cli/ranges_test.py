"""Range filters in load, inspect, verify and advise."""

import json
import random

from command import CommandTest, run
from inspect_test import PARTITIONED

RANGE_FPR = 0.02


def rows_of(number, seed=1):
    """Rows with dissimilar keys."""
    source = random.Random(seed)
    return sorted((f"user{source.randrange(10 ** 12):012}", i) for i in range(number))


class Ranges(CommandTest):
    ROWS = rows_of(20_000)

    def options(self):
        return max(self.db.glob("OPTIONS-*")).read_text()

    def filter_of_only_file(self):
        file, = self.inspect()["files"]
        return file["filter"]

    def test_inspect_and_verify(self):
        self.load(self.ROWS, "--range-fpr", RANGE_FPR)
        shown = self.filter_of_only_file()
        self.assertEqual(shown["entries"], "keys and ranges")
        self.assertEqual(shown["num_range_filters"], shown["num_filters"])
        self.assertAlmostEqual(shown["range_fpr"], RANGE_FPR, delta=0.3 * RANGE_FPR)
        self.assertLess(shown["range_bytes"], shown["num_bytes"])
        self.assertGreater(shown["range_bytes"], 15_000)
        file, = self.verify()["files"]
        # Once for the key, once for the range from the previous key.
        self.assertEqual((file["ranges_checked"], file["false_negative_ranges"]), (40_000, 0))
        self.assertGreater(file["num_range_probes"], 99_000)
        low, high = file["range_fpr_interval"]
        self.assertLess(low, 1.2 * shown["range_fpr"])
        self.assertGreater(high, 0.8 * shown["range_fpr"])

    def test_text(self):
        self.load(self.ROWS, "--range-fpr", RANGE_FPR)
        self.check_text(("inspect", "--db", self.db),
                        "range filters +level +filters +bytes +range bits/key +estimated range FPR$",
                        r"\d{6}\.sst +\d +\d+ +\d\d,\d{3} +\d\.\d\d +0\.02\d*$")
        self.check_text(("verify", "--db", self.db),
                        "file +level +ranges checked +false negatives +probes +measured range FPR",
                        r"\d{6}\.sst +\d +40,000 +0 +9\d,\d{3} +0\.0(19|2)\d* \(")

    def test_without(self):
        self.load(self.ROWS)
        shown = self.filter_of_only_file()
        self.assertEqual((shown["entries"], shown["num_range_filters"], shown["range_fpr"]),
                         ("keys", 0, 1))
        file, = self.verify()["files"]
        self.assertEqual((file["ranges_checked"], file["range_fpr_interval"]), (0, None))
        for command in ("inspect", "verify"):
            self.assertNotIn(b"ranges", self.succeed(command, "--db", self.db).out)

    def test_keys_too_much_alike(self):
        """The filters have keys only."""
        rows = [(f"{'/'.join('abc'[i >> shift & 1] * 9 for shift in range(10))}", i)
                for i in range(1000)]
        self.load(sorted(rows), "--range-fpr", 1e-5)
        self.verify()
        self.assertEqual(self.filter_of_only_file()["origin"], "blocksieve")

    def test_the_database_keeps_them(self):
        """Its options have the policy and the extractor."""
        self.load(self.ROWS, "--range-fpr", RANGE_FPR)
        self.assertIn("prefix_extractor=blocksieve.range", self.options())
        self.assertIn("ranges=true", self.options())
        self.load(rows_of(1000, seed=2))
        self.assertGreater(self.filter_of_only_file()["num_range_filters"], 0)
        self.assertEqual(len(self.scan("TRUE")), 21_000)
        # Later files replace the current ones.
        self.load(rows_of(10, seed=3), "--range-fpr", 0.1)
        self.assertAlmostEqual(self.filter_of_only_file()["range_fpr"], 0.1, delta=0.03)

    def test_a_database_gets_them(self):
        self.load(self.ROWS)
        self.assertEqual(self.filter_of_only_file()["num_range_filters"], 0)
        self.load(rows_of(1000, seed=2), "--range-fpr", RANGE_FPR)
        self.assertGreater(self.filter_of_only_file()["num_range_filters"], 0)
        self.assertEqual(len(self.scan("TRUE")), 21_000)
        self.verify()

    def test_indexes_beside_them(self):
        self.load(self.ROWS, "--range-fpr", RANGE_FPR, "--index", "n=int:2")
        self.assertEqual(self.keys("n = 77"), [key for key, n in self.ROWS if n == 77])
        self.verify()

    def test_another_prefix_extractor(self):
        self.db_bench("fillseq,flush", "--prefix_size=8", num=100)
        said = self.load_lines(b"a\t1\n", "--range-fpr", "0.01", code=2)
        self.assertIn("--range-fpr is 0.01, but the database cannot have range filters: ", said)
        self.assertIn("option prefix_extractor is rocksdb.FixedPrefix", said)


class Advice(CommandTest):
    """The advice on range filters, and whether its predictions hold."""

    RUNS = ("3:200000", "2/4:50000", "0:50000", "0:50000")
    SEEKS = 50_000

    def advise(self, *arguments):
        family, = self.json_of("advise", "--db", self.db, "--seek-fraction", 0.5,
                               *arguments)["families"]
        return family["ranges"]

    def blocks_per_seek(self):
        return json.loads(self.level_tree("seek", str(self.SEEKS)))["blocks"] / self.SEEKS

    def test_prediction(self):
        self.build_runs(self.RUNS, "bloomfilter:10")
        advice = self.advise()
        # Each seek checks all runs, except the run with a fourth of the key range.
        self.assertAlmostEqual(advice["current_blocks_per_empty_seek"], 3.25, delta=0.02)
        self.assertAlmostEqual(self.blocks_per_seek(), 3.25, delta=0.02)
        self.assertEqual([run["current_range_fpr"] for run in advice["runs"]], [1] * 4)
        policy, extractor = advice["options"]
        self.assertEqual(extractor, "prefix_extractor=blocksieve.range")
        self.db = self.dir / "with ranges"
        self.build_runs(self.RUNS, policy.removeprefix("filter_policy="))
        self.assertAlmostEqual(self.blocks_per_seek(), advice["blocks_per_empty_seek"],
                               delta=0.15 * advice["blocks_per_empty_seek"])
        range_bytes = sum(file["filter"]["range_bytes"] for file in self.inspect()["files"])
        self.assertAlmostEqual(range_bytes, advice["range_bytes"], delta=0.02 * range_bytes)
        again = self.advise()
        self.assertAlmostEqual(again["current_blocks_per_empty_seek"],
                               advice["blocks_per_empty_seek"], delta=0.002)
        self.assertIn(b"\nThese options drop the range filters of the files",
                      self.succeed("advise", "--db", self.db).out)

    def test_names(self):
        self.load(rows_of(2000))
        advice = self.advise()
        self.assertEqual(set(advice), {
            "seek_fraction", "range_width", "empty_seek_share", "current_blocks_per_empty_seek",
            "blocks_per_empty_seek", "current_wasted_reads", "wasted_reads", "range_bytes", "runs",
            "options", "do_not_pay"})
        self.assertEqual(set(advice["runs"][0]), {
            "level", "num_keys", "sampled_files", "sampled_keys", "current_range_fpr",
            "estimated_fpr", "range_fpr", "range_bytes"})

    def test_options(self):
        options = [r"filter_policy=\{id=blocksieve;target_fpr=0\.\d+;kind=auto;ranges=true;"
                   r"range_fpr=0\.011\}", r"prefix_extractor=blocksieve\.range"]
        self.load(rows_of(20_000))
        advice = self.advise()
        self.assertAlmostEqual(advice["current_blocks_per_empty_seek"], 1, delta=0.001)
        self.assertAlmostEqual(advice["runs"][0]["estimated_fpr"], 0.011, delta=0.003)
        self.assertEqual(advice["runs"][0]["sampled_keys"], 20_000)
        self.assertEqual(len(advice["options"]), len(options))
        for option, expected in zip(advice["options"], options):
            self.assertRegex(option, f"^{expected}$")
        self.assertIn("fit into a block cache", advice["do_not_pay"])
        before = advice["range_bytes"]
        self.load([], "--range-fpr", 0.011)
        self.assertAlmostEqual(self.inspect()["files"][0]["filter"]["range_bytes"], before,
                               delta=0.1 * before)

    def test_partitions(self):
        """Each partition has its own range filter."""
        sizes = []
        for more in self.each(((), PARTITIONED)):
            self.db_bench("fillrandom,flush,compact", "--bloom_bits=10", *more)
            sizes.append(self.advise()["range_bytes"])
        self.assertGreater(sizes[1], 1.04 * sizes[0])

    def test_where_they_pay(self):
        # Larger than any version's default cache.
        self.db_bench("fillrandom,flush,compact", "--compression_type=none",
                      "--write_buffer_size=67108864", "--value_size=200", num=300_000)
        self.assertEqual(self.advise()["do_not_pay"], "")
        self.assertIn("they would save", self.advise("--range-width", 7)["do_not_pay"])
        text = self.text_of("advise", "--db", self.db, "--seek-fraction", 0.5)
        self.assertNotIn("No range filter pays", text)

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
        text = self.text_of("advise", "--db", self.db, "--seek-fraction", 0.5)
        self.assertIn("\nNo range filter pays here: neighboring keys are too similar.\n", text)
        self.assertNotIn("Options for range filters", text)

    def test_text(self):
        self.load(rows_of(2000))
        self.check_text(
            ("advise", "--db", self.db, "--seek-fraction", 0.5, "--range-width", 1),
            "level +runs +keys +seeks +current range FPR +estimated +filter bytes +bits/key$",
            r"\d +1 +2,000 +100.0 % +- +0.01\d* +\d,\d{3} +\d.\d\d$",
            r"Data blocks read by a seek that finds nothing: 1 with the current filters,$", r"0\.01",
            "With 1 keys per range on average, 36.8 % of the seeks find nothing",
            "  prefix_extractor=blocksieve.range$")
