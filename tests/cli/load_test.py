# SPDX-License-Identifier: Apache-2.0
"""The input, report, counters, target and failures of load."""

import os
import pty
import re
import subprocess

from command import CommandTest, PROGRAM, TIMEOUT_SECONDS, lines_of


class LoadReportTest(CommandTest):
    ROWS = [(f"{i:04}", i) for i in range(1000)]

    def on_terminal(self, *arguments, stdin=b""):
        """Output on standard error, if that is a terminal."""
        terminal, its_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        subprocess.run([PROGRAM, *map(str, arguments)], check=True, input=stdin,
                       stdout=subprocess.DEVNULL, stderr=its_end, timeout=TIMEOUT_SECONDS)
        os.close(its_end)
        return os.read(terminal, 1 << 16).decode()

    def test_progress_on_a_terminal(self):
        said = self.on_terminal("load", "--db", self.dir / "other", "--key", 1, "-",
                                stdin=lines_of(self.ROWS * 20))
        self.assertIn("loading: ", said)
        self.assertIn("compacting", said)
        self.assertTrue(said.endswith("\r\x1b[K"), said)  # the line is erased
        self.load([(f"{i:05}", i) for i in range(20_000)], "--index", "n=int:1")
        said = self.on_terminal("scan", "--db", self.db, "--no-index", "--where", "n >= 0")
        self.assertRegex(said, r"scanning: 1,0\d\d rows, 5 %")
        self.assertTrue(said.endswith("\r\x1b[K"), said)
        self.assertIn("indexing, 0 of 1 file: 0.0 MB, 0 %",
                      self.on_terminal("index", "--db", self.db, "--index", "v=value"))
        self.assertIn("verifying: 0 files, 0 %", self.on_terminal("verify", "--db", self.db))


class LoadLinesTest(CommandTest):

    def test_odd_bytes(self):
        everything = bytes(byte for byte in range(256) if byte not in b"\t\n")
        rows = [(b"\0", everything), (b"\r", b"\r"), (everything, b""), (b"", b"empty key"),
                (b"\xff\xfe", b"\0\0")]
        self.load(rows, "--index", "v=field:1")
        self.assertEqual(self.scan("TRUE"), sorted(rows))
        self.assertEqual(self.scan("v = ''"), [(everything, b"")])

    def test_long_lines(self):
        rows = [(f"k{size}", "x" * size + "y") for size in (0, 10, (1 << 20) - 5, 1 << 20, 5 << 20)]
        self.assertEqual(self.load(rows, "--index", "v=field:1")["rows_read"], len(rows))
        self.assertEqual(sorted(self.scan("TRUE")),
                         sorted((key.encode(), value.encode()) for key, value in rows))


class LoadFullDiskTest(CommandTest):
    ROWS = [(f"{i:06}", os.urandom(500).hex()) for i in range(150_000)]

    def test_reports_exactly_the_durable_rows(self):
        """The flushed file is too large."""
        path = self.dir / "rows"
        path.write_bytes(lines_of(self.ROWS))
        # Memtables of 64 MiB become files of 33 MiB: hexadecimal digits compress to half.
        for kilobytes in self.each((1000, 20_000)):
            said = self.fail_on_full_disk(kilobytes, "load", "--db", self.db, "--key", 1, path)
            kept = re.search(r"cannot write database .*; the first ([\d,]+) rows? of the file are in the database, not compacted; "
                             r"later rows are not", said)
            self.assertTrue(kept, said)
            count = int(kept[1].replace(",", ""))
            self.assertEqual([key for key, _ in self.scan("TRUE")],
                             [key.encode() for key, _ in self.ROWS[:count]])
