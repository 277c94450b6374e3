# SPDX-License-Identifier: Apache-2.0
"""The indexes of load: field numbers, parts of an index, existing indexes."""

import random
import re

from command import CommandTest, lines_of


class IndexesRenumberingTest(CommandTest):
    def test_delimiters(self):
        for name, byte in self.each(((",", b","), ("\\t", b"\t"), ("\\x01", b"\x01"), ("1", b"1"),
                                     ("\\\\", b"\\"), (";", b";"), ("\\x00", b"\0"),
                                     ("\\xff", b"\xff"))):
            with self.subTest(delimiter=name):
                text = byte.join((b"x", b"k", b"7")) + b"\n" + byte.join((b"y", b"l", b"8")) + b"\n"
                self.load(text, "--delimiter", name, "--index", "n=int:2", "--index", "s=field:1",
                          key=2)
                self.assertEqual(self.scan("n = 8"), [(b"l", byte.join((b"y", b"8")))])
                self.assertEqual(self.keys("s = 'x'"), ["k"])

    def test_load_counts_as_index_does(self):
        """Fields of the value, whichever field of the file is the key."""
        for key in self.each((1, 2, 3)):
            self.load([("a", "b", "c"), ("d", "e", "f")], "--index", "v=field:1", key=key)
            self.succeed("index", "--db", self.db, "--index", "w=field:1")
            first = "a" if key > 1 else "b"
            self.assertEqual(self.keys(f"v = '{first}'"), self.keys(f"w = '{first}'"))
            self.assertEqual(len(self.keys(f"v = '{first}'")), 1)

class IndexesManyIndexesTest(CommandTest):
    def test_forms(self):
        path = self.dir / "rows"
        path.write_bytes(b"k\t1\t2\n")
        common = ("load", "--db", self.db, "--key", 1)
        for arguments in (("--index", "a=int:1", "--index", "b=int:2", path),
                          ("--index", "a=int:1", "--index", "b=int:2", "--fpr", 0.1, path),
                          (path, "--index", "a=int:1", "--index", "b=int:2")):
            self.succeed(*common, *arguments)
            self.assertEqual(self.keys("a = 1 AND b = 2"), ["k"])


class IndexesExistingDatabaseTest(CommandTest):
    def test_rows_are_added_and_the_index_kept(self):
        self.load([("a", 1), ("b", 2)], "--index", "n=int:1")
        said = self.load_lines(b"b\t5\nc\t2\n")
        self.assertIn("keeping the existing index n=int:1", said)
        self.assertEqual(self.keys("n = 2"), ["c"])
        self.assertEqual(self.scan("TRUE"), [(b"a", b"1"), (b"b", b"5"), (b"c", b"2")])
        self.assertEqual(self.explain("n = 2")["files_without_index"], 0)

    def test_index_of_another_column_is_added(self):
        self.load([("a", 1, 5), ("b", 2, 6)], "--index", "n=int:1")
        self.load([("c", 3, 7)], "--index", "m=int:2")
        self.assertEqual(self.keys("n = 1 OR m = 7"), ["a", "c"])
        self.assertEqual(self.keys("m = 6"), ["b"])  # the old file was compacted
        self.assertEqual(self.explain("m = 6")["files_without_index"], 0)

    def test_index_of_the_same_name_is_replaced(self):
        self.load([("a", 1, 5), ("b", 2, 1)], "--index", "n=int:1")
        said = self.load_lines(b"", "--index", "n=int:2")
        self.assertIn("existing index n=int:1 by n=int:2", said)
        self.assertEqual(self.keys("n = 1"), ["b"])

    def test_same_definition_says_nothing(self):
        for _ in range(2):
            self.assertEqual(self.load_lines(b"a\t1\n", "--index", "n=int:1"), "")


class IndexesPartsTest(CommandTest):
    ROWS = 20_000

    def setUp(self):
        super().setUp()
        generator = random.Random(1)
        scattered = list(range(self.ROWS))
        generator.shuffle(scattered)
        # key, ascending time, scattered number, text
        self.rows = [(f"k{i:06}", 1_700_000_000_000 + 1000 * i + generator.randrange(900),
                      scattered[i], f"name{scattered[i]}") for i in range(self.ROWS)]

    def columns(self, *arguments):
        options = [word for definition in arguments for word in ("--index", definition)]
        self.load(self.rows, *options)
        return {column["definition"].split("=")[0]: column for column in self.inspect()["skip_indexes"]}

    def test_nearly_unique_numbers_get_bounds_alone(self):
        columns = self.columns("ts=int:1", "id=int:2", "name=field:3")
        self.assertEqual(columns["ts"]["filter_bytes"], 0)
        self.assertGreater(columns["ts"]["bounds_bytes"], 0)
        # Bounds of scattered numbers prune nothing, so these keep filters.
        self.assertGreater(columns["id"]["filter_bytes"], 0)
        self.assertGreater(columns["name"]["filter_bytes"], 0)
        ts = self.rows[777][1]
        self.assertEqual(self.keys(f"ts = {ts}"), ["k000777"])
        self.assertLessEqual(self.explain(f"ts = {ts}")["granules_selected"], 3)
        self.assertEqual(self.keys("id = 5"), [row[0] for row in self.rows if row[2] == 5])
        self.assertLessEqual(self.explain("id = 5")["granules_selected"], 3)


class IndexesBudgetTest(IndexesPartsTest):
    def test_dropped_filters_are_said_with_the_size_needed(self):
        rows = lines_of((row[0], row[3]) for row in self.rows)
        said = self.load_lines(rows, "--index", "name=field:1", "--max-index-bytes", "20kB")
        size = re.search(r"warning: filters, bounds or whole indexes were left out because of their size; "
                         r"--max-index-bytes (\d+) would keep everything", said)
        self.assertTrue(size, said)
        self.db = self.dir / "enough"
        self.assertEqual(self.load_lines(rows, "--index", "name=field:1", "--max-index-bytes", size[1]), "")
        self.db = self.dir / "too little"
        self.assertIn("warning", self.load_lines(rows, "--index", "name=field:1",
                                                 "--max-index-bytes", int(size[1]) * 9 // 10))
        # index says it, too.
        index = ("index", "--db", self.db, "--index", "name=field:1", "--max-index-bytes")
        size = re.search(r"column name=field:1 has no filters and scans by it read more; max_index_bytes=(\d+) keeps all",
                         self.succeed(*index, "20kB").err)
        self.assertEqual(self.succeed(*index, size[1]).err, "")
        comparison, = self.explain("name = 'name5'")["comparisons"]
        self.assertTrue(comparison["is_used"])

    def test_explain_never_calls_it_used(self):
        self.load(self.rows, "--index", "name=filters:field:3", "--index", "w=words:3",
                  "--index", "id=int:2", "--max-index-bytes", "20kB")
        for where, lacks in (("name = 'name5'", "neither filters nor bounds"),
                             ("w HAS 'name5'", "no filters")):
            explanation = self.explain(where)
            comparison, = explanation["comparisons"]
            self.assertFalse(comparison["is_used"], where)
            self.assertIn(f"has {lacks}", comparison["reason"])
            self.assertTrue(explanation["is_full_scan"])
            text = self.succeed("scan", "--db", self.db, "--where", where, "--explain").err
            self.assertIn(f"comparison {where}: not used, ", text)
        # Its bounds are still in the index and are used.
        comparison, = self.explain("id = 5")["comparisons"]
        self.assertTrue(comparison["is_used"])
        self.assertEqual(comparison["reason"], "bounds, 1 value")
