"""The lines that load reads."""

from command import CommandTest


class Lines(CommandTest):
    def test_file_and_standard_input(self):
        path = self.dir / "rows"
        path.write_bytes(b"a\t1\n")
        self.succeed("load", "--db", self.db, "--key", 1, "--index", "n=int:2", path)
        self.load_lines(b"b\t2\n")
        self.assertEqual(self.scan("TRUE"), [(b"a", b"1"), (b"b", b"2")])

    def test_odd_bytes(self):
        everything = bytes(byte for byte in range(256) if byte not in b"\t\n")
        rows = [(b"\0", everything), (b"\r", b"\r"), (everything, b""), (b"", b"empty key"),
                (b"\xff\xfe", b"\0\0")]
        self.load(rows, "--index", "v=field:2")
        self.assertEqual(self.scan("TRUE"), sorted(rows))
        self.assertEqual(self.scan("v = ''"), [(everything, b"")])

    def test_long_lines(self):
        rows = [(f"k{size}", "x" * size + "y") for size in (0, 10, (1 << 20) - 5, 1 << 20, 5 << 20)]
        self.assertEqual(self.load(rows, "--index", "v=field:2")["rows_read"], len(rows))
        self.assertEqual(sorted(self.scan("TRUE")),
                         sorted((key.encode(), value.encode()) for key, value in rows))

    def test_many_rows_in_any_order(self):
        count = 200_000
        rows = [(f"{i * 7919 % count:06}", i % 1000) for i in range(count)]
        self.load(rows, "--index", "n=int:2")
        expected = sorted(key.encode() for key, n in rows if n == 123)
        self.assertEqual([key for key, _ in self.scan("n = 123")], expected)


class WrongLines(CommandTest):
    def check(self, text, *said, key=3, rows=()):
        path = self.dir / "rows.tsv"
        path.write_bytes(text)
        message = self.fail_with(1, "load", "--db", self.db, "--key", key, path)
        for part in said:
            self.assertIn(part, message)
        self.assertEqual([key for key, _ in self.scan("TRUE")], list(rows))

    def test_too_few_fields(self):
        self.check(b"a\tb\tk1\na\tb\tk2\tc\na\tb\nx\ty\tk3\n", "rows.tsv:3: the line has 2 fields",
                   "separated by TAB; the key is field 3 (--key)",
                   "the 2 rows before are loaded and flushed, not compacted; nothing after is",
                   rows=[b"k1", b"k2"])

    def test_in_the_first_line(self):
        self.check(b"a\n", "rows.tsv:1: the line has 1 field,", "the 0 rows before are loaded")

    def test_empty_line(self):
        self.check(b"k\n\nl\n", "rows.tsv:2: the line is empty", "the 1 row before", key=1,
                   rows=[b"k"])

    def test_standard_input_is_named(self):
        message = self.fail_with(1, "load", "--db", self.db, "--key", 2, "-", stdin=b"a\n")
        self.assertIn("standard input:1: the line has 1 field", message)

    def test_beyond_a_batch(self):
        rows = b"".join(b"%06d\t%s\n" % (i, b"x" * 100) for i in range(30_000))
        self.check(rows + b"\n", "rows.tsv:30001: the line is empty",
                   "the 30,000 rows before are loaded", key=1,
                   rows=[b"%06d" % i for i in range(30_000)])


class UnreadableFiles(CommandTest):
    def check(self, path, said):
        message = self.fail_with(1, "load", "--db", self.db, "--key", 1, path)
        self.assertIn(said, message)
        self.assertFalse(self.db.exists())

    def test_missing(self):
        self.check(self.dir / "none", f"cannot open {self.dir}/none: No such file or directory")

    def test_directory(self):
        self.check(self.dir, f"cannot read {self.dir}: it is a directory")
