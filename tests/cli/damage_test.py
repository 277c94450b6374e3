# SPDX-License-Identifier: Apache-2.0
"""Damaged databases: a message and exit code 1, never wrong rows."""

from command import CommandTest, flip, run


class DamagedTest(CommandTest):
    ROWS = [(f"{i:03}", i, "x" * 20) for i in range(300)]

    def setUp(self):
        super().setUp()
        self.load(self.ROWS, "--index", "n=int:1", "--granule-rows", 10)

    def check(self, *said):
        done = run("scan", "--db", self.db, "--where", "n >= 0")
        self.assertEqual(done.code, 1, done.err)
        for part in (str(self.db), *said):
            self.assertIn(part, done.err)
        return done

    def test_table_of_a_later_rocksdb(self):
        path = self.table()
        flip(path, path.stat().st_size - 12, 64)  # the format_version
        for arguments in ((path,), ("--db", self.db)):
            self.assertRegex(run("inspect", *arguments).err, f"{path.name}: .*format_version:? [0-9]+.*; "
                             "this command has RocksDB [0-9.]+; use one with the RocksDB that wrote")

    def test_rows_before_the_damage_are_printed(self):
        self.load([(f"{i:05}", i, "x" * 20) for i in range(10_000, 20_000)])
        flip(self.table(), 60_000)
        done = self.check("Corruption", "cannot read database")
        rows = done.out.count(b"\n")
        self.assertGreater(rows, 0)
        self.assertIn(f"after {rows:,} rows", done.err)
        counted = run("scan", "--db", self.db, "--where", "n >= 0", "--count", "--no-index")
        self.assertEqual((counted.code, counted.out), (1, b""))  # no wrong number

    def test_any_byte_of_a_table(self):
        path = self.table()
        good = path.read_bytes()
        expected = run("scan", "--db", self.db, "--where", "n = 77").out
        self.assertEqual(expected, b"077\t77\t" + b"x" * 20 + b"\n")
        for position in range(0, len(good), max(1, len(good) // 60)):
            path.write_bytes(good)
            flip(path, position, 0x40)
            done = run("scan", "--db", self.db, "--where", "n = 77")
            with self.subTest(position=position):
                self.assertIn(done.code, (0, 1), done.err)
                self.assertEqual(done.out, expected if done.code == 0 else b"")
                self.assertEqual(done.err != "", done.code == 1)

    def test_shortened_and_missing_files(self):
        path = self.table()
        good = path.read_bytes()
        for length in (0, 10, len(good) // 2, len(good) - 1):
            path.write_bytes(good[:length])
            self.check(path.name)
        path.unlink()
        self.check(path.name.removesuffix(".sst"))
        path.write_bytes(good)
        self.assertEqual(len(self.keys("n >= 0")), 300)

    def test_manifest(self):
        path, = self.db.glob("MANIFEST-*")
        flip(path, path.stat().st_size // 2)
        self.check()
        path.unlink()
        self.check(path.name)

    def test_current(self):
        (self.db / "CURRENT").write_text("nonsense")
        self.check("CURRENT")
