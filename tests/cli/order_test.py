"""ORDER BY and LIMIT: the same rows as sorting all of them, and few blocks; counts without reading."""

import json
import random

from command import CommandTest

ROWS = 30_000


def ordered(rows, column, descending=False, limit=10):
    """The result of SQL: by value, then by key, without rows that lack a value."""
    rows = [row for row in rows if row[column] != ""]
    sign = -1 if descending else 1
    return [row[0] for row in sorted(rows, key=lambda row: (sign * row[column], row[0]))[:limit]]


class OrderTest(CommandTest):
    INDEXES = ("--index", "ts=int:1", "n=int:2", "name=field:3")

    def setUp(self):
        super().setUp()
        self.random = random.Random(7)
        self.rows = [(f"k{i:06}", 1_000_000 + 10 * i + self.random.randrange(25),
                      self.random.randrange(500), f"name{self.random.randrange(ROWS):05}")
                     for i in range(ROWS)]


class Orders(OrderTest):
    def order(self, where, *arguments):
        return [key.decode() for key, _ in self.scan(where, *arguments)]

    def check(self, rows):
        for column, name in ((1, "ts"), (2, "n")):
            for descending in (False, True):
                for limit in (1, 10, 700):
                    word = "DESC" if descending else "ASC"
                    where = f"ORDER BY {name} {word} LIMIT {limit}"
                    expected = ordered(rows, column, descending, limit)
                    self.assertEqual(self.order(where), expected, where)
                    self.assertEqual(self.order(where, "--no-index"), expected, where)
        some = [row for row in rows if row[2] == 7]
        self.assertEqual(self.order("n = 7 ORDER BY ts DESC LIMIT 5"), ordered(some, 1, True, 5))
        self.assertEqual(self.order("n >= 7 AND n < 8 order by name limit 5"),
                         [row[0] for row in sorted(some, key=lambda row: (row[3], row[0]))][:5])

    def test_same_as_sorting(self):
        self.load(self.rows, *self.INDEXES)
        self.check(self.rows)

    def test_stale_rows_and_rows_without_a_value(self):
        """Newer versions in other files with other values, and rows without a value."""
        self.load(self.rows, *self.INDEXES)
        rows = {row[0]: row for row in self.rows}
        for round_number in range(3):
            some = []
            for key in self.random.sample(sorted(rows), 2000):
                ts = self.random.choice(["", 1_000_000 + self.random.randrange(10 * ROWS),
                                         self.random.randrange(100)])
                row = (key, ts, self.random.randrange(500), rows[key][3])
                rows[key] = row
                some.append(row)
            self.load(some, "--no-compact")
            self.check(list(rows.values()))
        self.load([])
        self.check(list(rows.values()))

    def test_files_without_the_index(self):
        self.load(self.rows[:20_000])
        self.load(self.rows[20_000:], *self.INDEXES, "--no-compact")
        self.check(self.rows)

    def test_few_blocks_are_read(self):
        self.load(self.rows, *self.INDEXES)
        for where, limit in (("ORDER BY ts LIMIT 10", 10), ("ORDER BY ts DESC LIMIT 10", 10),
                             ("ORDER BY ts LIMIT 2000", 2000)):
            # The blocks with the best rows are adjacent.
            explanation = self.explain(where)
            keys = ordered(self.rows, 1, "DESC" in where, limit)
            span = int(max(keys)[1:]) - int(min(keys)[1:]) + 1
            per_granule = ROWS / explanation["num_granules"]
            oracle = 1 + span / per_granule
            self.assertLessEqual(explanation["data_blocks_read"], 2 * oracle, where)
            self.assertLess(explanation["granules_read"], explanation["num_granules"] / 2)

    def test_limit_alone(self):
        self.load(self.rows[:100], *self.INDEXES)
        self.assertEqual(self.order("LIMIT 2"), ["k000000", "k000001"])
        self.assertEqual(self.order("ts > 1000500 LIMIT 1", "--reverse"), ["k000099"])
        self.assertEqual(self.scan("ORDER BY n LIMIT 7", "--count"), [(b"7",)])

    def test_what_is_wrong(self):
        self.load(self.rows[:100], *self.INDEXES)
        self.assertIn("position 12: expected LIMIT, which ORDER BY requires",
                      self.fail_with(2, "scan", "--db", self.db, "--where", "ORDER BY ts"))
        self.assertIn("ORDER BY ts DESC", self.fail_with(2, "scan", "--db", self.db, "--reverse",
                                                         "--where", "ORDER BY ts LIMIT 1"))
        self.assertIn("; allowed: one of them", self.fail_with(
            2, "scan", "--db", self.db, "--limit", 5, "--where", "LIMIT 1"))


class Counts(OrderTest):
    def count(self, where):
        done = self.succeed("scan", "--db", self.db, "--where", where, "--count", "--explain",
                            "--format", "json")
        explanation = json.loads(done.err)
        self.assertEqual(json.loads(done.out)["count"], explanation["rows_returned"])
        expected = len(self.scan(where, "--no-index"))
        self.assertEqual(explanation["rows_returned"], expected, where)
        return explanation

    def test_granules_in_which_all_rows_match_are_not_read(self):
        self.load(self.rows, *self.INDEXES)
        everything = self.count("TRUE")
        self.assertEqual((everything["rows_counted"], everything["rows_read"]), (ROWS, 0))
        most = self.count(f"ts > {1_000_000 + 1000}")
        self.assertGreater(most["rows_counted"], ROWS * 0.98)
        self.assertLess(most["data_blocks_read"], 10)
        self.assertGreater(self.count("ts BETWEEN 1000000 AND 1100000 AND n >= 0")["rows_counted"], 0)
        self.assertEqual(self.count("n = 7")["rows_counted"], 0)
        self.assertEqual(self.count("NOT ts < 1000000")["rows_counted"], ROWS)

    def test_rows_that_may_be_stale_are_read(self):
        self.load(self.rows, *self.INDEXES)
        self.load([(row[0], 5, row[2], row[3]) for row in self.rows[::50]], "--no-compact")
        for where in ("TRUE", "ts > 1001000", "ts < 100"):
            self.count(where)

    def test_rows_without_a_value(self):
        self.load([(f"k{i:05}", i if i % 1000 else "") for i in range(ROWS)], "--index", "n=int:1")
        for where in ("n >= 0", "n < 15000", "NOT n < 15000", "n IS NULL", "n IS NOT NULL", "n != 7"):
            self.count(where)
        self.assertGreater(self.count("n < 15000")["rows_counted"], 0)
