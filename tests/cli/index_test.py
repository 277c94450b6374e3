# SPDX-License-Identifier: Apache-2.0
"""The indexes of load, and sidecars: copied, rebuilt and missing."""

import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

from command import PROGRAM, TIMEOUT_SECONDS, CommandTest, flip, lines_of

ROWS = 2000


class IndexTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.load([(f"k{i:04}", f"p{i // 10}", i, f"w{i % 5} word{i}") for i in range(ROWS)],
                  "--index", "p=field:1", "--index", "n=int:2", "--index", "w=words:3",
                  "--granule-rows", "4")

    def sidecars(self):
        return sorted(path.name for path in self.db.glob("*.bsx"))

    def lose(self):
        self.remove("*.bsx")

    def selected(self, where="p = 'p7'"):
        """The granules that a scan selects by index."""
        return self.explain(where)["granules_selected"]

    def index(self, *arguments):
        return self.json_of("index", "--db", self.db, *arguments)

    def test_load_makes_them_and_all_commands_read_them(self):
        self.assertEqual(len(self.sidecars()), 1)
        file, = self.inspect()["files"]
        self.assertEqual(file["index"]["place"], "sidecar")
        self.assertEqual(len(file["index"]["columns"]), 3)
        self.assertEqual(self.verify()["num_problems"], 0)
        self.assertLess(self.selected(), 5)
        why = "postings (exact for values that occur"
        self.assertIn("filters: " + why, self.succeed("scan", "--db", self.db, "--where", "p = 'p7'",
                                                      "--explain").err)

    def test_damaged_sidecars_are_replaced(self):
        path, = self.db.glob("*.bsx")
        for part in (0.1, 0.5, 0.9):
            flip(path, int(path.stat().st_size * part))
            verified = self.verify(code=1)
            self.assertEqual(verified["num_problems"], 1)
            self.assertIn("index unusable", verified["files"][0]["problems"][0])
            self.assertEqual(self.index()["files_indexed"], 1)
            self.assertEqual(self.verify()["num_problems"], 0)
            self.assertLess(self.selected(), 5)

    def test_missing_sidecars_are_no_damage_and_are_rebuilt(self):
        self.assertEqual(self.index()["files_indexed"], 0)
        time_of_table = self.table().stat().st_mtime_ns
        self.lose()
        file, = self.inspect()["files"]
        self.assertIn("is missing", file["index"]["note"])
        self.assertEqual(file["index"]["problem"], "")
        self.assertEqual(self.verify()["num_problems"], 0)
        self.assertEqual(self.selected(), 0)
        self.assertEqual(self.index()["files_indexed"], 1)
        self.assertEqual(self.table().stat().st_mtime_ns, time_of_table)
        self.assertLess(self.selected(), 5)
        self.assertIn("indexed: 0 files", self.text_of("index", "--db", self.db))

    def test_they_are_copied(self):
        saved = self.dir / "saved"
        shutil.copytree(self.db, saved, ignore=shutil.ignore_patterns("[!0-9]*"))
        self.lose()
        self.assertEqual(self.index("--copy-from", saved)["num_copied"], 1)
        self.assertLess(self.selected(), 5)
        self.assertEqual(self.index("--copy-from", saved)["num_copied"], 0)
        other = self.dir / "other"
        shutil.copytree(self.db, other, ignore=shutil.ignore_patterns("*.bsx"))
        copied = self.json_of("index", "--db", other, "--copy-from", self.db)
        self.assertEqual(copied["num_copied"], 1)

    def begin(self, rate):
        """Starts an index, and returns while it works."""
        process = subprocess.Popen([PROGRAM, "index", "--db", self.db, "--bytes-per-second", rate],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        status = pathlib.Path(f"/proc/{process.pid}/status")
        def catches_interrupts():
            caught = re.search(r"SigCgt:\s+(\w+)", status.read_text()).group(1)
            return int(caught, 16) >> (signal.SIGINT - 1) & 1
        self.wait_until(catches_interrupts)
        return process

    def test_files_that_vanish(self):
        """It lists the files again, and ends."""
        self.load([(f"k{i:04}", "p", i, "w") for i in range(0, ROWS, 2)], "--no-compact")
        self.lose()
        self.assertGreater(len(list(self.db.glob("*.sst"))), 1)
        process = self.begin("30kB")
        time.sleep(0.5)  # until it has opened the database
        # A key before and one after all others, so that every file is compacted.
        self.ldb("batchput", " ", "first", "~", "last")
        self.ldb("compact")
        _, said = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual((process.returncode, said), (0, b""))
        self.assertEqual({path.stem for path in self.db.glob("*.bsx")},
                         {path.stem for path in self.db.glob("*.sst")})
        self.assertLess(self.selected(), 5)

    def test_interrupted(self):
        self.lose()
        process = self.begin("1kB")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn(b"interrupted; 0 files done, 1 left; run it again to continue", said)
        self.assertEqual(self.sidecars(), [])


class IndexPartsTest(CommandTest):
    def setUp(self):
        super().setUp()
        scattered = random.Random(1).sample(range(10 * ROWS), 10 * ROWS)
        self.rows = [(f"k{i:06}", number, f"name{number}") for i, number in enumerate(scattered)]

    def test_dropped_filters_are_said_with_the_size_needed(self):
        rows = lines_of((row[0], row[2]) for row in self.rows)
        said = self.load_lines(rows, "--index", "name=field:1", "--max-index-bytes", "20kB")
        size = re.search(r"warning: filters, bounds or whole indexes were left out because of their size; "
                         r"--max-index-bytes (\d+) would keep everything", said)
        self.assertTrue(size, said)
        self.db = self.dir / "enough"
        self.assertEqual(self.load_lines(rows, "--index", "name=field:1", "--max-index-bytes", size[1]), "")
        self.db = self.dir / "too little"
        self.assertIn("warning", self.load_lines(rows, "--index", "name=field:1",
                                                 "--max-index-bytes", int(size[1]) * 9 // 10))
        # index says it, too.
        index = ("index", "--db", self.db, "--index", "name=field:1", "--max-index-bytes")
        size = re.search(r"column name=field:1 has no filters and scans by it read more; max_index_bytes=(\d+) keeps all",
                         self.succeed(*index, "20kB").err)
        self.assertEqual(self.succeed(*index, size[1]).err, "")
        comparison, = self.explain("name = 'name5'")["comparisons"]
        self.assertTrue(comparison["is_used"])

    def test_explain_never_calls_it_used(self):
        self.load(self.rows, "--index", "name=filters:field:2", "--index", "w=words:2",
                  "--index", "id=int:1", "--max-index-bytes", "20kB")
        for where, lacks in (("name = 'name5'", "neither filters nor bounds"),
                             ("w HAS 'name5'", "no filters")):
            explanation = self.explain(where)
            comparison, = explanation["comparisons"]
            self.assertFalse(comparison["is_used"], where)
            self.assertIn(f"has {lacks}", comparison["reason"])
            self.assertTrue(explanation["is_full_scan"])
            text = self.succeed("scan", "--db", self.db, "--where", where, "--explain").err
            self.assertIn(f"comparison {where}: not used, ", text)
        # Its bounds are still in the index and are used.
        comparison, = self.explain("id = 5")["comparisons"]
        self.assertTrue(comparison["is_used"])
        self.assertEqual(comparison["reason"], "bounds, 1 value")
