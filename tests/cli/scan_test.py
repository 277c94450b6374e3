# SPDX-License-Identifier: Apache-2.0
"""The rows, order, format and explanation of scan."""

from command import CommandTest


class ScanTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.load([(f"{i:03}", "even" if i % 2 == 0 else "odd", i, f"word{i % 10} all")
                   for i in range(100)], "--granule-rows", 10,
                  "--index", "kind=field:1", "--index", "n=int:2", "--index", "words=words:3")

    def test_no_rows_without_files(self):
        """Files define the columns, so a database without files has none."""
        self.db = self.dir / "new"
        self.ldb("--create_if_missing", "put", "a", "b")
        self.fails("unknown column", "scan", "--where", "n = 5", code=2)
        self.remove("*.log")
        for where in ("n = 5", "n = 5 ORDER BY n LIMIT 1", "TRUE"):
            self.assertEqual(self.scan(where), [])
            self.assertEqual(self.scan(where, "--count"), [(b"0",)])
            self.assertEqual(self.explain(where)["num_files"], 0)

    def test_limit(self):
        for direction, expected in (((), [b"011", b"013"]), (("--reverse",), [b"099", b"097"])):
            for index in ((), ("--no-index",)):
                rows = self.scan("n > 10 AND kind = 'odd'", "--limit", 2, *direction, *index)
                self.assertEqual([key for key, _ in rows], expected)
        self.assertEqual(len(self.scan("TRUE", "--limit", 1000)), 100)
        self.assertEqual(self.scan("kind = 'odd'", "--count", "--limit", 7), [(b"7",)])
        done = self.succeed("scan", "--db", self.db, "--where", "n BETWEEN 15 AND 84", "--count", "--explain")
        self.assertIn(b"granules counted without reading: 6\n", done.err)
        self.assertEqual(self.scan("n < 9 order by n desc LIMIT 1"), [(b"008", b"even\t8\tword8 all")])
        self.assertEqual(self.keys("kind = 'even' AND words HAS 'word4' AND n > 50"),
                         ["054", "064", "074", "084", "094"])

    def test_json_explanation(self):
        explanation = self.explain("n = 42 AND NOT words HAS 'word1'")
        for name, value in (("is_full_scan", False), ("rows_read", 10), ("rows_returned", 1),
                            ("num_granules", 10), ("granules_selected", 1), ("data_blocks_read", 1)):
            self.assertEqual(explanation[name], value, name)
        used = {each["comparison"]: each["is_used"] for each in explanation["comparisons"]}
        self.assertEqual(list(used.values()), [True, False])
        explanation = self.explain("n = 42", "--no-index")
        self.assertTrue(explanation["is_full_scan"])
        self.assertEqual(explanation["rows_read"], 100)
        self.assertLessEqual(self.explain("n >= 0", "--limit", 1)["rows_read"], 20)

    def test_what_is_wrong(self):
        for message, *arguments in (
                ("position 11: expected LIMIT, which ORDER BY requires", "ORDER BY n"),
                ("ORDER BY n DESC", "ORDER BY n LIMIT 1", "--reverse"),
                ("; allowed: one of them", "LIMIT 1", "--limit", 5),
                ("--where, position 11: expected a column, NOT or '(', found '='\n", "n = 1 AND = 2"),
                ("found the end\n", "n ="), ("--where, position 1: ", ""),
                ("found 'odd, which has no closing quote", "n = 'odd")):
            self.fails(message, "scan", "--where", *arguments, code=2)


class ScanTextTest(CommandTest):
    def test_words_in_any_case(self):
        texts = ("“ERROR” in Straße—ΟΔΟΣ", "error:\u00a0STRASSE", "οδος I ı", "terror", b"\xffError")
        self.load(enumerate(texts), "--index", "plain=words:1")
        self.succeed("index", "--db", self.db, "--index", "w=words:folded:1", "--index", "t=ngrams(3):folded:1")
        for where, keys in (("w HAS 'Error'", "01"), ("w HAS 'STRAẞE'", "0"), ("w HAS 'Οδος'", "02"),
                            ("w HAS 'i' AND w HAS 'ı'", "2"), ("t LIKE '%RRO_%'", "0134"),
                            ("plain HAS 'ERROR'", "0"), ("plain HAS 'Error'", ""),
                            ("w NOT HAS 'STRASSE'", "0234"), ("w = 'TERROR'", "3")):
            self.assertEqual("".join(self.keys(where)), keys, where)
        self.assertTrue(self.explain("w HAS 'Straße'")["comparisons"][0]["is_used"])


class ScanNamesTest(CommandTest):
    def test_words_of_the_language(self):
        said = self.load_lines(b"a\t1\nb\t2\n", "--index", "in=int:1", "--index", "two words=field:1")
        self.assertIn('in conditions, write the column in double quotes: "in"', said)
        self.assertEqual(self.keys('"in" = 1'), ["a"])
        self.assertEqual(self.keys('"two words" = \'2\''), ["b"])
        self.fails("position 1: 'in' is a keyword; write the column as \"in\", in double quotes",
                   "scan", "--where", "in = 1", code=2)

    def test_database_without_indexes(self):
        self.load([("a", 1)])
        self.fails(f"Database {self.db} has no skip indexes; to add one: "
                   f"blocksieve index --db {self.db} --index NAME=EXTRACTOR",
                   "scan", "--where", "n = 1", code=2)
        self.succeed("index", "--db", self.db, "--index", "n=int:1")
        self.assertEqual(self.keys("n = 1"), ["a"])
