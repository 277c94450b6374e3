# SPDX-License-Identifier: Apache-2.0
"""Several processes on one database, and signals."""

import signal
import subprocess

from command import PROGRAM, TIMEOUT_SECONDS, CommandTest, run


class ProcessesLoadingTest(CommandTest):
    """A load that waits for more lines."""

    def test_scan_while_files_come_and_go(self):
        """Compactions remove files that a scan has just listed."""
        self.load([("a", 1)], "--index", "n=int:1")
        script = """
            for i in $(seq 15); do printf 'k%s\\t%s\\n' $i $i | "$1" load --db "$2" --key 1 - || exit; done
        """
        loads = subprocess.Popen(["bash", "-c", script, "-", PROGRAM, self.db],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(loads.wait)
        before = 1
        while loads.poll() is None:
            count = len(self.scan("n >= 0"))
            self.assertGreaterEqual(count, before)
            before = count
        self.assertEqual(loads.returncode, 0)
        self.assertEqual(len(self.scan("n >= 0")), 16)

    def test_locked(self):
        """One text for every command that writes, also for the database of a sieve."""
        self.load([("a", 1)], "--index", "n=int:1")
        self.open_in_another_process()
        options = self.options_file()
        for command in (("load", "--key", 1, "-"), ("apply", "--option", "listeners={}"), ("rewrite",), ("revert",)):
            self.assert_locked(*command)
        self.assertEqual(self.options_file(), options)
        self.db = self.dir / "sieve"
        process = subprocess.Popen([PROGRAM, "sieve", "--db", self.db, "push", "-"], stdin=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        # The sieve's settings follow RocksDB's files.
        self.wait_until(lambda: "in use" in run("sieve", "--db", self.db, "stats").err)
        self.assert_locked("sieve", "compact")

    def assert_locked(self, name, *arguments):
        self.assertRegex(self.fail_with(1, name, "--db", self.db, *arguments),
                         f"blocksieve {name}: database {self.db} is in use; close it in the other process: .*LOCK")

    def test_interrupted(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            self.db = self.dir / f"db{code}"
            process = self.open_in_another_process("--index", "n=int:1", lines=b"a\t1\nb\t2\nc")
            process.send_signal(number)
            self.assertEqual(process.wait(TIMEOUT_SECONDS), code)
            self.assertIn(b"interrupted; the first 2 rows of the file are in the database", process.stderr.read())
            self.assertEqual(self.keys("n > 0"), ["a", "b"])

    def test_killed(self):
        process = self.open_in_another_process("--index", "n=int:1", lines=b"a\t1\n")
        process.kill()
        process.wait()
        self.load([("b", 2)], "--index", "n=int:1")
        self.assertEqual(self.keys("n = 2"), ["b"])
