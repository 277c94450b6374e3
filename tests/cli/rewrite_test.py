# SPDX-License-Identifier: Apache-2.0
"""rewrite and revert, from advice to the result, on databases that stock RocksDB wrote."""

import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from command import PROGRAM, TIMEOUT_SECONDS, CommandTest

LEVELS = ("--compression_type=none", "--write_buffer_size=200000", "--target_file_size_base=300000",
          "--max_bytes_for_level_base=1000000", "--disable_auto_compactions=0", "--value_size=100")


class RewriteRewritingTest(CommandTest):
    BENCHMARKS = "fillrandom,flush,waitforcompaction"
    IS_AT_REST = True

    @classmethod
    def setUpClass(cls):
        cls.built = None

    @classmethod
    def tearDownClass(cls):
        if cls.built is not None:
            cls.built.cleanup()

    def build(self):
        """Several levels with stock Bloom filters, made once for all tests."""
        if self.built is None:
            type(self).built = tempfile.TemporaryDirectory(prefix="blocksieve_cli.")
            self.db, place = pathlib.Path(self.built.name) / "db", self.db
            self.db_bench(self.BENCHMARKS, *LEVELS, "--bloom_bits=10", num=60_000)
            self.db = place
        shutil.rmtree(self.db, ignore_errors=True)
        shutil.copytree(f"{self.built.name}/db", self.db)
        if self.IS_AT_REST:  # pending compactions depend on timing
            self.edit_options(("disable_auto_compactions=false", "disable_auto_compactions=true"))

    def rewrite(self, *arguments):
        return self.json_of("rewrite", "--db", self.db, *arguments)

    def would_rewrite(self, *arguments):
        return self.rewrite("--dry-run", *arguments)["files"]

    def rows(self):
        return self.ldb("dump", "--count_only")

    def begin(self, *arguments):
        """Starts a rewrite and returns while only some files are rewritten."""
        before = set(self.db.glob("*.sst"))
        process = subprocess.Popen([PROGRAM, "rewrite", "--db", str(self.db), *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_until(lambda: len(before - set(self.db.glob("*.sst"))) >= 2)
        self.assertIsNone(process.poll())
        return process


class RewritesTest(RewriteRewritingTest):
    def test_from_advice_to_done_and_back(self):
        """All steps, with a rewrite that is killed."""
        self.build()
        rows = self.rows()
        family = self.json_of("advise", "--db", self.db, "--block-cache", 0)
        self.assertEqual(family["verdict"]["proposal"], "same memory")
        proposal = next(one for one in family["proposals"] if one["name"] == "same memory")
        times = family["current"]["wasted_reads"] / proposal["wasted_reads"]
        self.assertIn(f": {times:.2g} times fewer wasted reads", family["verdict"]["text"])

        self.apply(proposal["option"].removeprefix("filter_policy="))
        num_files = len(self.would_rewrite())
        self.assertEqual(num_files, proposal["rewritten_files"])

        killed = self.begin("--bytes-per-second", "2MB")
        killed.kill()
        killed.wait()
        left = len(self.would_rewrite())
        self.assertTrue(0 < left < num_files, (left, num_files))
        self.assertEqual(self.origins(), {"stock", "blocksieve"})

        said = self.rewrite()
        self.assertEqual(said["files_rewritten"], left)
        self.assertEqual(self.would_rewrite(), [])
        self.assertLessEqual(self.inspect()["total"]["filter_bytes"],
                             1.02 * proposal["filter_bytes"])
        reported = said["families"][0]["after"]
        after = reported["wasted_reads_absent"]  # measured: AdvisePredictionTest
        self.assertAlmostEqual(after, proposal["wasted_reads_absent"], delta=0.05 * after)
        self.assertLess(10 * after, 1.5 * family["current"]["wasted_reads_absent"])
        self.assertEqual(reported["filter_bytes"], self.inspect()["total"]["filter_bytes"])

        self.assertEqual(self.origins(), {"blocksieve"})
        self.assertEqual(self.verify()["num_problems"], 0)
        self.assertIsNone(self.json_of("advise", "--db", self.db, "--block-cache", 0)["verdict"]["option"])

        family = self.json_of("revert", "--db", self.db, "--dry-run")["families"][0]
        self.assertAlmostEqual(family["before"]["wasted_reads_absent"], after)
        self.assertIsNone(family["after"])  # stock policies build what they like
        self.assertEqual(family["before"]["filter_bytes"], reported["filter_bytes"])
        said = self.json_of("revert", "--db", self.db)["families"][0]
        self.assertEqual(self.origins(), {"stock"})
        self.assertEqual(said["after"]["filter_bytes"], self.inspect()["total"]["filter_bytes"])
        self.assertIn("\n  filter_policy=bloomfilter:10:false\n", self.options_file().read_text())
        self.assertNotIn("blocksieve", self.options_file().read_text())
        self.assertEqual(list(self.db.glob("blocksieve*")), [])
        self.assertEqual(self.rows(), rows)

    def test_one_level(self):
        self.build()
        self.apply("blocksieve:0.0097")
        self.assertEqual(self.would_rewrite("--only-unfiltered"), [])
        for command, origin in (("rewrite", "blocksieve"), ("revert", "stock")):
            self.json_of(command, "--db", self.db, "--level", 1)
            for file in self.inspect()["files"]:
                self.assertEqual(file["filter"]["origin"] == origin, file["level"] == 1, file)
            self.succeed(command, "--db", self.db)
            self.assertEqual(self.origins(), {origin})

    def test_interrupted(self):
        self.build()
        self.apply("blocksieve:0.001")
        process = self.begin("--bytes-per-second", "1MB")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(TIMEOUT_SECONDS), 130)
        said = process.stderr.read().decode()
        self.assertRegex(said, r"interrupted; \d+ files? done, \d+ left; run it again to continue")
        self.assertNotIn("\x1b", said)  # no progress without a terminal
        left = len(self.would_rewrite())
        self.assertEqual(left, int(re.search(r"(\d+) left", said).group(1)))
        self.assertEqual(self.rewrite()["files_rewritten"], left)


class RewriteUnrestTest(RewriteRewritingTest):
    """RocksDB has pending compactions, and starts them when the command opens the database."""

    BENCHMARKS = "fillrandom"
    IS_AT_REST = False

    def test_before_is_before_the_compactions(self):
        self.build()
        self.apply("{id=blocksieve;bits_per_key=10}")
        promised = self.rewrite("--dry-run")["families"][0]["before"]["wasted_reads_absent"]
        before = self.rewrite()["families"][0]["before"]
        self.assertEqual(before["wasted_reads_absent"], promised)
        self.assertEqual(self.would_rewrite(), [])
