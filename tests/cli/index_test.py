# SPDX-License-Identifier: Apache-2.0
"""Indexes in sidecars: copied, rebuilt and missing."""

import pathlib
import re
import shutil
import signal
import subprocess
import time

from command import PROGRAM, TIMEOUT_SECONDS, CommandTest, flip, run

ROWS = 2000


class IndexOfNoFileTest(CommandTest):
    def test_rows_in_the_wal(self):
        """Neither success, nor advice to do the same again."""
        self.ldb("--create_if_missing", "put", "a", "b")
        said = "its rows are only in its WAL; call DB::Flush in the program that writes them first"
        self.assertIn(said, self.output_of(1, "index", "--db", self.db, "--index", "f=field:1"))
        error = self.output_of(2, "scan", "--db", self.db, "--where", "f = 'b'")
        self.assertIn(said, error)
        self.assertNotIn("blocksieve index", error)


class IndexTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.load([(f"k{i:04}", f"p{i // 10}", i, f"w{i % 5} word{i}") for i in range(ROWS)],
                  "--index", "p=field:1", "--index", "n=int:2", "--index", "w=words:3",
                  "--granule-rows", "4")

    def sidecars(self):
        return sorted(path.name for path in self.db.glob("*.bsx"))

    def lose(self):
        for path in self.db.glob("*.bsx"):
            path.unlink()

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

    def test_indexes_without_values_are_named(self):
        self.db = self.dir / "commas"
        self.load(b"k1,a,5\nk2,b,6\n", "--delimiter", ",")
        for definition, values in (("x=field:2", 0), ("x=bounds:int:2", 0), ("x=json:/a", 0),
                                   ("x=field(,):2", 1), ("x=bounds:int:field(,):2", 1)):
            said = self.succeed("index", "--db", self.db, "--index", definition).err
            self.assertEqual("warning: no row has a value for the index x=" in said, values == 0, said)
            self.assertEqual("as in field(,):2" in said, values == 0)
        self.assertIn("field(,):2", self.text_of("index", "--help").split("Examples")[0])

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
        self.check_text(("verify", "--db", self.db),
                        r"\d+\.sst: index unusable: sidecar \d+\.bsx is missing$")
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
        self.compact_all_without_plugin()
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

    def test_errors(self):
        for missing in (self.dir / "x", self.table()):
            self.assertIn(f"cannot read directory {missing}: ",
                          self.fail_with(1, "index", "--db", self.db, "--copy-from", missing))
        self.db = self.dir / "x"
        self.assertIn("does not exist", self.fail_with(1, "index", "--db", self.db))
        self.load([("a", "b")])
        self.assertIn("define one with --index", self.fail_with(2, "index", "--db", self.db))
