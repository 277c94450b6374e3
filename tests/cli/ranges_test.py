"""Filters that answer for ranges: how load makes them, what inspect and verify see of them."""

import random
import shutil
import unittest

from command import CommandTest, flip, run

RANGE_FPR = 0.02


def rows_of(number, seed=1):
    """Keys that are not alike."""
    source = random.Random(seed)
    return sorted((f"user{source.randrange(10 ** 12):012}", i) for i in range(number))


class Ranges(CommandTest):
    ROWS = rows_of(20_000)

    def options(self):
        return max(self.db.glob("OPTIONS-*")).read_text()

    def filter_of_only_file(self):
        file, = self.inspect()["files"]
        return file["filter"]

    def test_inspect_and_verify(self):
        for _ in self.engines():
            self.load(self.ROWS, "--range-fpr", RANGE_FPR)
            shown = self.filter_of_only_file()
            self.assertEqual(shown["of"], "keys and ranges")
            self.assertEqual(shown["num_range_filters"], shown["num_filters"])
            self.assertAlmostEqual(shown["range_fpr"], RANGE_FPR, delta=0.3 * RANGE_FPR)
            self.assertLess(shown["range_bytes"], shown["num_bytes"])
            self.assertGreater(shown["range_bytes"], 15_000)
            file, = self.verify()["files"]
            # By the key alone, and with all that is between it and the one before.
            self.assertEqual((file["ranges_asked"], file["false_ranges"]), (40_000, 0))
            self.assertGreater(file["num_range_probes"], 99_000)
            low, high = file["range_fpr_interval"]
            self.assertLess(low, 1.2 * shown["range_fpr"])
            self.assertGreater(high, 0.8 * shown["range_fpr"])

    def test_text(self):
        for _ in self.engines():
            self.load(self.ROWS, "--range-fpr", RANGE_FPR)
            lines = self.succeed("inspect", "--db", self.db).out.decode()
            self.assertRegex(lines, "(?m)^ranges +level +filters +bytes +range bits/key +estimated range FPR$")
            self.assertRegex(lines, r"(?m)^\d{6}\.sst +1 +\d+ +\d\d,\d{3} +\d\.\d\d +0\.02\d*$")
            lines = self.succeed("verify", "--db", self.db).out.decode()
            self.assertRegex(lines, "(?m)^file +level +ranges asked +denied +probes +measured range FPR")
            self.assertRegex(lines, r"(?m)^\d{6}\.sst +1 +40,000 +0 +9\d,\d{3} +0\.02\d* \(")

    def test_without(self):
        for _ in self.engines():
            self.load(self.ROWS)
            shown = self.filter_of_only_file()
            self.assertEqual((shown["of"], shown["num_range_filters"], shown["range_fpr"]),
                             ("keys", 0, 1))
            file, = self.verify()["files"]
            self.assertEqual((file["ranges_asked"], file["range_fpr_interval"]), (0, None))
            for command in ("inspect", "verify"):
                self.assertNotIn(b"ranges", self.succeed(command, "--db", self.db).out)

    def test_keys_too_much_alike(self):
        """Filters are for points alone then."""
        rows = [(f"{'/'.join('abc'[i >> shift & 1] * 9 for shift in range(10))}", i)
                for i in range(1000)]
        for _ in self.engines():
            self.load(sorted(rows), "--range-fpr", 1e-5)
            self.verify()
            self.assertEqual(self.filter_of_only_file()["origin"], "blocksieve")

    def test_the_database_keeps_them(self):
        """RocksDB only: policy and extractor are in its options."""
        self.load(self.ROWS, "--range-fpr", RANGE_FPR)
        self.assertIn("prefix_extractor=blocksieve.range", self.options())
        self.assertIn("ranges=true", self.options())
        self.load(rows_of(1000, seed=2))
        self.assertGreater(self.filter_of_only_file()["num_range_filters"], 0)
        self.assertEqual(len(self.scan("TRUE")), 21_000)
        # Later ones take the place of those that it has.
        self.load(rows_of(10, seed=3), "--range-fpr", 0.1)
        self.assertAlmostEqual(self.filter_of_only_file()["range_fpr"], 0.1, delta=0.03)

    def test_a_database_gets_them(self):
        for _ in self.engines():
            self.load(self.ROWS)
            self.assertEqual(self.filter_of_only_file()["num_range_filters"], 0)
            self.load(rows_of(1000, seed=2), "--range-fpr", RANGE_FPR)
            self.assertGreater(self.filter_of_only_file()["num_range_filters"], 0)
            self.assertEqual(len(self.scan("TRUE")), 21_000)
            self.verify()

    def test_indexes_beside_them(self):
        for _ in self.engines():
            self.load(self.ROWS, "--range-fpr", RANGE_FPR, "--index", "n=int:2")
            self.assertEqual(self.keys("n = 77"), [key for key, n in self.ROWS if n == 77])
            self.verify()

    def test_out_of_range(self):
        for value in ("0", "1e-6", "0.31", "nan", "x"):
            self.assertIn(f"--range-fpr: {value} is not in the range 1e-05 to 0.3",
                          self.load_lines(b"a\t1\n", "--range-fpr", value, code=2))
        self.assertFalse(self.db.exists())

    def test_another_prefix_extractor(self):
        self.db_bench("fillseq,flush", "--prefix_size=8", num=100)
        said = self.load_lines(b"a\t1\n", "--range-fpr", "0.01", code=2)
        self.assertIn("--range-fpr 0.01: the database cannot have range filters: ", said)
        self.assertIn("prefix extractor", said)


class Damage(CommandTest):
    ROWS = rows_of(5000)

    def problems(self, positions):
        """What verify says of the only file with each of these bytes damaged."""
        path = self.table()
        good = path.read_bytes()
        for position in positions:
            path.write_bytes(good)
            flip(path, position)
            done = run("verify", "--probes", 100, "--db", self.db)
            problems = [line for line in done.out.decode().splitlines() if "PROBLEM" in line]
            self.assertEqual(done.code, 1 if problems else 0, done.err)
            yield "; ".join(problems)
        path.write_bytes(good)

    def test_a_byte_of_ranges(self):
        """Without checksums of blocks those of the filters are all there is."""
        self.db_bench("fillseq,flush", "--checksum_type=0", num=1)
        with_ranges = self.dir / "with ranges"
        shutil.copytree(self.db, with_ranges)
        self.load(self.ROWS)
        without = self.table().read_bytes()
        self.db = with_ranges
        self.load(self.ROWS, "--range-fpr", RANGE_FPR)
        shown = self.inspect()["files"][0]["filter"]
        size = shown["range_bytes"]
        # The data is the same. The filter behind it is not, from its first bytes on, for RocksDB
        # adds the prefix of all keys to it; it ends with the ranges.
        filter_begin = next(i for i, bytes in enumerate(zip(without, self.table().read_bytes()))
                            if bytes[0] != bytes[1])
        begin = filter_begin + shown["num_bytes"] - size
        for problems in self.problems(begin + size * i // 10 for i in range(1, 9)):
            self.assertIn("checksum of the ranges does not fit", problems)

    def test_a_byte_of_ranges_of_toylsm(self):
        """There a filter has the checksum of its block."""
        self.engine = "toylsm"
        self.load(self.ROWS, "--range-fpr", RANGE_FPR)
        file_size = self.table().stat().st_size
        shown = self.inspect()["files"][0]["filter"]
        step = shown["range_bytes"] // shown["num_range_filters"] // 3
        found = list(self.problems(range(0, file_size // 2, step)))
        self.assertNotIn("", found)
        hits = [problem for problem in found if "a filter cannot be read" in problem]
        self.assertGreater(len(hits), 0.1 * len(found), found)


if __name__ == "__main__":
    unittest.main()
