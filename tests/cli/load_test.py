# SPDX-License-Identifier: Apache-2.0
"""The input, report, counters, target and failures of load."""

import json
import os
import pty
import re
import subprocess

from command import CommandTest, PROGRAM, TIMEOUT_SECONDS, lines_of


class LoadReportTest(CommandTest):
    ROWS = [(f"{i:04}", i) for i in range(1000)]

    def test_rows_with_the_same_key(self):
        """Without a word, a wrong --key would lose nearly all rows."""
        def rows_of(*arguments, rows=self.ROWS):
            report = self.load(rows, *arguments)
            return report["rows_read"], report["rows_replaced"], report["rows_kept"]
        self.assertEqual(rows_of(rows=[("a", i) for i in range(9)] + [("b", 1)]), (10, 8, 2))
        self.assertEqual(self.scan("TRUE"), [(b"a", b"8"), (b"b", b"1")])
        self.assertEqual(rows_of(), (1000, 0, 1002))
        self.ldb("delete", "b")
        self.assertEqual(rows_of(), (1000, 1000, 1001))
        self.assertEqual(rows_of("--no-compact"), (1000, None, None))
        self.assertEqual(rows_of(rows=[]), (0, 0, 1001))

    def test_smaller_rates_and_granules_take_more(self):
        sizes = []
        for options in self.each((("--fpr", 0.1), ("--fpr", 0.001), ("--fpr", 1e-6))):
            self.load(self.ROWS, "--index", "n=int:1", *options)
            sizes.append(self.inspect()["files"][0]["index"]["num_bytes"])
        self.assertEqual(sizes, sorted(set(sizes)))

    def test_column_families(self):
        """Commands about rows take one, default if none is named; those about files all."""
        self.load([("a", 1), ("b", 2)], "--index", "n=int:1")
        other = ("--column-family", "other")
        self.load([("c", 2), ("d", 3), ("e", 2)], "--index", "n=int:1", *other)
        self.load([("f", 2)], *other)
        self.assertEqual(self.scan("n = 2"), [(b"b", b"2")])
        self.assertEqual(self.scan("n = 2", *other), [(b"c", b"2"), (b"e", b"2"), (b"f", b"2")])
        self.assertEqual(self.explain("n = 3", *other)["files_without_index"], 0)
        for command in ("inspect", "verify"):
            files = self.json_of(command, "--db", self.db)["files"]
            self.assertEqual({file["family"] for file in files}, {"default", "other"})
            files = self.json_of(command, "--db", self.db, *other)["files"]
            self.assertEqual([(file["family"], file["num_keys"]) for file in files], [("other", 4)])
        self.assertEqual(self.json_of("index", "--db", self.db, "--index", "v=value", *other)["files_indexed"], 1)
        self.assertEqual(self.scan("v = '3'", *other), [(b"d", b"3")])

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


class LoadPlacesTest(CommandTest):
    def test_the_directory_is_made(self):
        """Those above it are not: a typing error would load into a tree of its own."""
        (self.dir / "empty").mkdir()
        for place in ("db", "empty", "slash/"):
            self.db = f"{self.dir}/{place}"
            self.load_lines(b"a\t1\n")
            self.assertEqual(self.scan("TRUE"), [(b"a", b"1")])
        self.db = self.dir / "typo/db"
        self.assertIn(f"{self.dir}/typo is no directory; create it first", self.load_lines(b"a\t1\n", code=1))
        self.assertFalse(self.db.parent.exists())


class LoadPolicyTest(CommandTest):
    def test_filters_of_rocksdb(self):
        """Databases as programs without blocksieve leave them."""
        for policy, origin in self.each((("bloomfilter:10:false", "stock"), ("ribbonfilter:12", "stock"), ("nullptr", "none"))):
            for more in ((), ("--column-family", "other")):
                self.load_lines(b"a\t1\n", "--filter-policy", policy, *more)
            self.assertEqual(self.origins(), {origin})


class LoadCsvTest(CommandTest):
    CSV = ("--format", "csv")

    def test_rfc_4180(self):
        said = self.load(b'k1,"one, two",5\r\nk2,"say ""hi""",6\r\n"k,3","line\none",7\r\n',
                         *self.CSV, "--index", "s=field:1", "--index", "n=int:2")
        self.assertEqual(said["rows_read"], 3)
        self.assertEqual(self.keys("s = 'one, two'"), ["k1"])
        self.assertEqual(self.keys("s = 'say \"hi\"'"), ["k2"])
        done = self.succeed("scan", "--db", self.db, "--where", "n = 7", "--format", "json")
        self.assertEqual(json.loads(done.out), {"key": "k,3", "value": "line\none\t7"})

    def test_blanks_empty_fields_and_line_ends(self):
        self.load(b"\xef\xbb\xbf k , v ,\r\n\r\nl,,x\rm,\"\",y\nn,1,2", *self.CSV)
        self.assertEqual(self.scan("TRUE"), [(b" k ", b" v \t"), (b"l", b"\tx"), (b"m", b"\ty"),
                                             (b"n", b"1\t2")])

    def test_header_mark_and_delimiters(self):
        said = self.load(b"\xef\xbb\xbfid;name\n1;a\tb\n", *self.CSV, "--header", "--delimiter", ";",
                         "--store-delimiter", "\\x1f", "--index", "name=field:1")
        self.assertEqual(said["rows_read"], 1)
        self.assertEqual(self.keys("name = 'a\tb'"), ["1"])


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
