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
        self.fails("unknown column 'v'", "scan", "--where", "v = '3'", code=2)
        for command in (("scan",), ("inspect",), ("verify",), ("index",), ("advise",), ("rewrite",),
                        ("revert", "--dry-run"), ("check",), ("apply", "--option", "listeners={blocksieve}")):
            self.fails("--column-family is third, which does not exist; allowed: default, other",
                       *command, "--column-family", "third")

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

    def test_places_of_something_else(self):
        (self.dir / "directory").mkdir()
        for name in ("file", "directory/letter.txt"):
            (self.dir / name).write_text("dear all")
        for place, said in (("file", " is neither a database nor an empty directory"),
                            ("directory", " is neither a database nor an empty directory"),
                            ("file/db", "")):
            self.db = self.dir / place
            self.assertIn(f"{self.db}{said}", self.load_lines(b"a\t1\n", code=1))
        self.assertEqual(os.listdir(self.dir / "directory"), ["letter.txt"])

    def test_database_of_keys_with_timestamps(self):
        self.db_bench("fillseq,flush", "--user_timestamp_size=8")
        self.assertIn("its keys have timestamps", self.load_lines(b"a\t1\n", code=1))


class LoadPolicyTest(CommandTest):
    def test_filters_of_rocksdb(self):
        """Databases as programs without blocksieve leave them."""
        for policy, origin in self.each((("bloomfilter:10:false", "stock"), ("ribbonfilter:12", "stock"), ("nullptr", "none"))):
            choice = ("--key", 1, "--filter-policy", policy)
            self.load_lines(b"a\t1\n", *choice[2:])
            self.load_lines(b"c\t1\n", *choice[2:], "--column-family", "other")
            self.assertEqual(self.origins(), {origin})
            self.refuses("; allowed: only with a new column family; default of ", "load", *choice, "-", code=2)
        for policy in ("nonsense:3", "blocksieve:0.01"):
            self.fails("allowed: policies of this RocksDB", "load", "--key", 1, "--filter-policy", policy, "-", code=2)


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

    def test_errors(self):
        for text, said in (
                (b'a,"b"c\n', ":1: invalid CSV (RFC 4180): byte 6 follows a closing quote"),
                (b'a,b\n\nc,"d\n"e\n', ":4: invalid CSV (RFC 4180): byte 2 follows a closing quote"),
                (b'a,b\nc,d"\n', ":2: invalid CSV (RFC 4180): byte 4 follows a closing quote, or is a quote"),
                (b'a,b\n\nc,"d""\ne,""\n', ":3: invalid CSV (RFC 4180): missing closing quote"),
                (b'"a\nb","c\n', ":2: invalid CSV (RFC 4180): missing closing quote"),
                (b'a,"b', ":1: invalid CSV (RFC 4180): missing closing quote"),
                (b"a,b\nc,d\te\n", ":2: field 2 contains TAB, the delimiter of the stored value; "
                                   "select another one with --store-delimiter")):
            self.assertIn("standard input" + said, self.load_lines(text, *self.CSV, code=1))
        self.fails("the record has 1 field; the key is field 2 (--key)",
                   "load", "--key", 2, *self.CSV, "-", stdin=b"a\n")
        self.assertIn("only with --format csv", self.load_lines(b"", "--store-delimiter", ",", code=2))
        self.assertIn("--format is tsv; allowed: text, json, csv",
                      self.load_lines(b"", "--format", "tsv", code=2))


class LoadLinesTest(CommandTest):

    def test_lines_with_cr(self):
        said = self.load_lines(b"a\t1\r\nb\t2\r\n", "--index", "n=int:1")
        self.assertIn("warning: no row has a value for the index n=int:1", said)
        self.assertIn("warning: 2 lines end with CR, which is stored in the last field; --format csv", said)

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

    def test_what_is_wrong(self):
        """Rows before the wrong line are loaded."""
        path = self.dir / "rows.tsv"
        many = b"".join(b"%06d\t%s\n" % (i, b"x" * 100) for i in range(30_000))  # beyond a batch
        for text, key, keys, *said in self.each((
                (b"a\tb\tk1\na\tb\tk2\tc\na\tb\nx\ty\tk3\n", 3, [b"k1", b"k2"],
                 "rows.tsv:3: the line has 2 fields", "separated by TAB; the key is field 3 (--key)",
                 "the first 2 rows of the file are in the database, not compacted; later rows are not in it"),
                (b"a\n", 3, [], "rows.tsv:1: the line has 1 field,", "the first 0 rows of the file are in the database"),
                (b"k\n\nl\n", 1, [b"k"], "rows.tsv:2: the line is empty", "the first 1 row of"),
                (many + b"\n", 1, [b"%06d" % i for i in range(30_000)],
                 "rows.tsv:30001: the line is empty", "the first 30,000 rows of the file"))):
            path.write_bytes(text)
            message = self.fail_with(1, "load", "--db", self.db, "--key", key, path)
            for part in said:
                self.assertIn(part, message)
            self.assertEqual([key for key, _ in self.scan("TRUE")], keys)

    def test_unreadable_files(self):
        for path, said in ((self.dir / "none", f"cannot open {self.dir}/none: No such file or directory"),
                           (self.dir, f"cannot read {self.dir}: it is a directory")):
            self.fails(said, "load", "--key", 1, path)
            self.assertFalse(self.db.exists())


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
