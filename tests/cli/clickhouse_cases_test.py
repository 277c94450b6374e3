"""ClickHouse's own black-box cases of Bloom skip indexes, and answers that it once got wrong."""

import random
import unittest

from command import CommandTest, run


class Integers(CommandTest):
    """Keys 0 to 99 in granules of 6 rows, the last of 4."""

    def setUp(self):
        super().setUp()
        self.load([(f"{i:03}", i, i // 2) for i in range(100)], "--granule-rows", 6,
                  "--index", "n=int:2", "--index", "half=int:3", "--index", "s=field:2")

    def check(self, where, num_rows, most_read):
        self.assertEqual(len(self.keys(where)), num_rows)
        explanation = self.explain(where)
        self.assertEqual(explanation["num_granules"], 17)
        self.assertLessEqual(explanation["rows_read"], most_read)

    def test_equal(self):
        self.check("n = 1", 1, 6)

    def test_in(self):
        self.check("n IN (1, 2)", 2, 6)

    def test_pair_that_never_occurs_together(self):
        self.check("n = 1 AND half = 40", 0, 6)

    def test_text(self):
        self.check("s = '1'", 1, 12)

    def test_in_the_short_tail_granule(self):
        for i in range(96, 100):
            self.check(f"n = {i}", 1, 6)

    def test_absent(self):
        self.check("n = 1000", 0, 0)


class Arrays(CommandTest):
    def test_has(self):
        def numbers(begin):
            return ";".join(str(i) for i in range(begin, begin + 15))
        self.load([("a", numbers(0)), ("b", numbers(5)), ("c", numbers(10))], "--granule-rows", 1,
                  "--index", "n=int:field[;]:2")
        self.assertEqual(self.keys("n HAS 1"), ["a"])
        self.assertEqual(self.keys("n HAS 5"), ["a", "b"])
        self.assertEqual(self.keys("n HAS 10"), ["a", "b", "c"])
        self.assertEqual(self.keys("NOT n HAS 5"), ["c"])
        self.assertEqual(self.keys("n <> 5"), ["c"])
        self.assertEqual(self.keys("n NOT HAS 1 AND n HAS 5"), ["b"])


class TargetRates(CommandTest):
    ROWS = [(f"{i:05}", "x" if i % 2 else "y", i) for i in range(10_000)]

    def test_half_of_the_rows(self):
        self.load(self.ROWS, "--fpr", 0.5, "--index", "v=field:2")
        self.assertEqual(len(self.keys("v = 'x'")), 5000)

    def test_every_rate_is_met_or_refused(self):
        rates = ["1", "0.6", "0.5", "0.1"] + [f"1e-{i}" for i in range(2, 10)]
        accepted = []
        for number, rate in enumerate(rates):
            self.db = self.dir / f"db{number}"
            path = self.dir / "rows"
            path.write_bytes(b"".join(b"%s\t%s\t%d\n" % (k.encode(), v.encode(), n)
                                      for k, v, n in self.ROWS[:2000]))
            done = run("load", "--db", self.db, "--key", 1, "--index", "n=int:3", "--fpr", rate,
                       "--granule-rows", 64, path)
            if done.code == 0:
                accepted.append(rate)
                self.assertEqual(self.keys("n = 1234"), ["01234"])
            else:
                self.assertEqual(done.code, 2)
                self.assertIn(f"--fpr: {rate} is not in the range 1e-07 to 0.5", done.err)
                self.assertFalse(self.db.exists())
        self.assertEqual(accepted, ["0.5", "0.1"] + [f"1e-{i}" for i in range(2, 8)])


class Tokens(CommandTest):
    def test_words(self):
        texts = (["yyy,uuu"] * 1024 + ["abc,def,zzz"] * 8 + ["yyy,uuu"] * 1024 +
                 ["abcdefzzz"] * 1024)
        self.load([(f"{i:05}", text) for i, text in enumerate(texts)], "--granule-rows", 8,
                  "--index", "w=words:2")
        for word in ("abc", "def", "zzz"):
            where = f"w HAS '{word}'"
            self.assertEqual(self.keys(where), [f"{i:05}" for i in range(1024, 1032)])
            self.assertLessEqual(self.explain(where)["rows_read"], 16)
        self.assertEqual(self.keys("w HAS 'ABC'"), [])
        self.assertEqual(len(self.keys("w HAS 'yyy'")), 2048)
        self.assertGreaterEqual(self.explain("w HAS 'yyy'")["rows_read"], 2048)


class Granules(CommandTest):
    def test_value_in_a_later_granule_only(self):
        self.load([(i, "a" if i < 3 else "b") for i in range(1, 5)], "--granule-rows", 2,
                  "--index", "v=field:2", "--no-compact")
        self.assertEqual(self.keys("v = 'b'"), ["3", "4"])
        self.load([], "--granule-rows", 2)
        self.assertEqual(self.keys("v = 'b'"), ["3", "4"])
        self.assertEqual(self.explain("v = 'b'")["rows_read"], 2)

    def test_rows_read_fall_as_files_gain_the_index(self):
        def part(begin):
            return [(f"{i:04}", i % 50) for i in range(begin, begin + 500)]
        self.load(part(0), "--no-compact")
        self.load(part(1000), "--no-compact")
        self.load(part(2000), "--no-compact", "--index", "n=int:2", "--granule-rows", 5)
        expected = [f"{i:04}" for begin in (0, 1000, 2000) for i in range(begin, begin + 500)
                    if i % 50 == 7]
        self.assertEqual(self.keys("n = 7"), expected)
        mixed = self.explain("n = 7")
        self.assertEqual(mixed["files_without_index"], 2)
        self.assertLess(mixed["rows_read"], 1500)
        self.assertGreaterEqual(mixed["rows_read"], 1000)
        self.load([], "--granule-rows", 5)
        self.assertEqual(self.keys("n = 7"), expected)
        compacted = self.explain("n = 7")
        self.assertEqual(compacted["files_without_index"], 0)
        self.assertLessEqual(compacted["rows_read"], 30 * 5 * 1.2)

    def test_only_the_newest_version_counts(self):
        keys = [f"{i:03}" for i in range(200)]
        index = ("--index", "n=int:2", "--granule-rows", 10, "--no-compact")
        self.load([(key, i) for i, key in enumerate(keys)], *index)
        self.load([(key, i + 1) for i, key in enumerate(keys)], *index)
        self.assertEqual(self.keys("n = 0"), [])  # only an old version has it
        self.assertEqual(self.keys("n = 7"), ["006"])
        self.assertEqual(self.keys("n = 200"), ["199"])
        self.load([])
        self.assertEqual(self.keys("n = 0"), [])
        self.assertEqual(self.keys("n = 7"), ["006"])


class Patterns(CommandTest):
    TEXTS = ["hello world", "100% sure", "under_score", "back\\slash", "naïve café", "日本語の文字",
             "日本", "", "abc", "ab"]

    def setUp(self):
        super().setUp()
        self.load([(f"{i:02}", text) for i, text in enumerate(self.TEXTS)], "--granule-rows", 1,
                  "--index", "t=ngrams(3):2")

    def matches(self, where):
        return [self.TEXTS[int(key)] for key in self.keys(where)]

    def test_like(self):
        self.assertEqual(self.matches("t LIKE '%world%'"), ["hello world"])
        self.assertEqual(self.matches("t LIKE 'hel%rld'"), ["hello world"])
        self.assertEqual(self.matches("t LIKE 'abc'"), ["abc"])
        self.assertLessEqual(self.explain("t LIKE '%world%'")["rows_read"], 2)

    def test_needle_shorter_than_the_ngrams(self):
        self.assertEqual(self.matches("t LIKE '%ab%'"), ["abc", "ab"])
        self.assertEqual(self.matches("t LIKE 'ab%'"), ["abc", "ab"])
        self.assertEqual(self.matches("t HAS 'ab'"), ["abc", "ab"])
        self.assertEqual(self.matches("t LIKE '%'"), self.TEXTS)

    def test_escapes(self):
        self.assertEqual(self.matches("t LIKE '100\\% sure'"), ["100% sure"])
        self.assertEqual(self.matches("t LIKE '%0\\% s%'"), ["100% sure"])
        self.assertEqual(self.matches("t LIKE 'under\\_score'"), ["under_score"])
        self.assertEqual(self.matches("t LIKE 'back\\\\slash'"), ["back\\slash"])
        self.assertEqual(self.matches("t LIKE 'a__'"), ["abc"])

    def test_utf8(self):
        self.assertEqual(self.matches("t LIKE '%café%'"), ["naïve café"])
        self.assertEqual(self.matches("t LIKE '%本語の%'"), ["日本語の文字"])
        self.assertEqual(self.matches("t LIKE '日_'"), ["日本"])
        self.assertEqual(self.matches("t NOT LIKE '%a%'"),
                         [text for text in self.TEXTS if "a" not in text])


class OnceWrongAnswers(CommandTest):
    def test_negative_integers(self):
        self.load([(f"{i + 100:03}", i) for i in range(-100, 100)], "--index", "n=int:2",
                  "--granule-rows", 4)
        self.assertEqual(self.keys("n = -1"), ["099"])
        self.assertEqual(self.keys("n < -98"), ["000", "001"])
        self.assertEqual(self.keys("n BETWEEN -1 AND 1"), ["099", "100", "101"])
        self.assertLessEqual(self.explain("n = -1")["rows_read"], 4)

    def test_zeros_and_nan(self):
        values = ["0", "-0", "0.0", "-0.0", "1", "nan", "-nan", "inf", "-inf", "1e0"]
        self.load([(i, value) for i, value in enumerate(values)], "--index", "f=float:2",
                  "--granule-rows", 1)
        zeros = [str(i) for i, value in enumerate(values) if value.strip("-.0") == ""]
        self.assertEqual(self.keys("f = 0"), zeros)
        self.assertEqual(self.keys("f = -0.0"), zeros)
        self.assertEqual(self.keys("f = 1"), ["4", "9"])
        self.assertIn("5", self.keys("f = nan"))
        self.assertEqual(self.keys("f = -inf"), ["8"])
        self.assertEqual(self.keys("f < 0"), ["8"])

    def test_spelling_of_numbers(self):
        self.load([("a", "007"), ("b", "7"), ("c", "7.0"), ("d", "-7")],
                  "--index", "n=int:2", "--index", "f=float:2", "--index", "s=field:2")
        self.assertEqual(self.keys("n = 7"), self.keys("n = 7.0"))
        self.assertIn("b", self.keys("n = 7"))
        self.assertEqual(self.keys("s = '7'"), ["b"])
        self.assertEqual(self.keys("f = 7"), ["a", "b", "c"])

    def test_nested_not_and_or(self):
        random_numbers = random.Random(1)
        rows = [(f"{i:04}", i, random_numbers.choice(["red", "green", "blue", ""]),
                 " ".join(random_numbers.choices(["to", "be", "or", "not"], k=3)))
                for i in range(600)]
        self.load(rows[:400], "--index", "c=int:2", "colour=field:3", "w=words:4",
                  "--granule-rows", 8)
        self.load(rows[300:], "--granule-rows", 8, "--no-compact")

        def condition(depth):
            kind = random_numbers.randrange(7 if depth == 0 else 10)
            if kind < 4:
                number = random_numbers.randrange(-5, 610)
                return random_numbers.choice([f"c = {number}", f"c < {number}", f"c != {number}",
                                              f"c IN ({number}, 1)", f"c >= {number}"])
            if kind == 4:
                return random_numbers.choice(["colour = 'red'", "colour <> 'red'",
                                              "colour NOT IN ('red', 'blue')", "colour IS NULL"])
            if kind == 5:
                return random_numbers.choice(["w HAS 'be'", "w NOT HAS 'be'", "w LIKE 'to%'"])
            if kind == 6:
                return random_numbers.choice(["TRUE", "FALSE"])
            if kind == 7:
                return f"NOT ({condition(depth - 1)})"
            operator = "AND" if kind == 8 else "OR"
            return f"({condition(depth - 1)}) {operator} {condition(depth - 1)}"

        self.assertEqual(self.keys("c = 1 OR c = 9999"), ["0001"])
        self.assertEqual(len(self.keys("NOT (c = 1 OR c = 9999)")), 599)
        for _ in range(25):
            self.keys(condition(4))


if __name__ == "__main__":
    unittest.main()
