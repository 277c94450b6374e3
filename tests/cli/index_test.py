# SPDX-License-Identifier: Apache-2.0
"""Index while files vanish, and interrupted. What it makes: messages.golden."""

import pathlib
import re
import signal
import subprocess
import time

from command import PROGRAM, TIMEOUT_SECONDS, CommandTest

ROWS = 2000


class IndexTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.load([(f"k{i:04}", f"p{i // 10}", i, f"w{i % 5} word{i}") for i in range(ROWS)],
                  "--index", "p=field:1", "--index", "n=int:2", "--index", "w=words:3", "--granule-rows", "4")

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
        self.remove("*.bsx")
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
        self.assertLess(self.explain("p = 'p7'")["granules_selected"], 5)

    def test_interrupted(self):
        self.remove("*.bsx")
        process = self.begin("1kB")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn(b"interrupted; 0 files done, 1 left; run it again to continue", said)
        self.assertEqual(list(self.db.glob("*.bsx")), [])
