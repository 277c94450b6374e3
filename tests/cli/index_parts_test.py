"""Which parts an index has: those asked for, those that are of use, those that fit."""

import random
import re

from command import CommandTest

ROWS = 20_000


class Parts(CommandTest):
    def setUp(self):
        super().setUp()
        generator = random.Random(1)
        scattered = list(range(ROWS))
        generator.shuffle(scattered)
        # key, ascending time, scattered number, text
        self.rows = [(f"k{i:06}", 1_700_000_000_000 + 1000 * i + generator.randrange(900),
                      scattered[i], f"name{scattered[i]}") for i in range(ROWS)]

    def columns(self, *arguments):
        said = self.load(self.rows, "--index", *arguments)
        return {column["definition"].split("=")[0]: column for column in said["columns"]}

    def test_nearly_unique_numbers_get_bounds_alone(self):
        columns = self.columns("ts=int:2", "id=int:3", "name=field:4")
        self.assertEqual(columns["ts"]["filter_bytes"], 0)
        self.assertGreater(columns["ts"]["bounds_bytes"], 0)
        self.assertEqual(columns["ts"]["files_with_bounds_chosen"], 1)
        # Bounds of scattered numbers find nothing, so these keep filters.
        self.assertGreater(columns["id"]["filter_bytes"], 0)
        self.assertGreater(columns["name"]["filter_bytes"], 0)
        ts = self.rows[777][1]
        self.assertEqual(self.keys(f"ts = {ts}"), ["k000777"])
        self.assertLessEqual(self.explain(f"ts = {ts}")["granules_selected"], 3)
        self.assertEqual(self.keys("id = 5"), [row[0] for row in self.rows if row[2] == 5])
        self.assertLessEqual(self.explain("id = 5")["granules_selected"], 3)

    def test_load_says_so(self):
        done = self.succeed("load", "--db", self.db, "--key", 1, "--index", "ts=int:2", "-",
                            stdin=b"".join(b"%s\t%d\n" % (row[0].encode(), row[1])
                                           for row in self.rows))
        self.assertIn(b"ts=int:1 (of the value): filters 0 bytes, bounds ", done.out)
        self.assertIn(b"; bounds only in 1 file, as they find nearly every value alone", done.out)

    def test_they_can_be_asked_for(self):
        columns = self.columns("a=both:int:2", "b=bounds:int:3", "c=filters:int:2",
                               "d=bounds:field:4", "e=filters:words:4")
        has = {name: (column["filter_bytes"] > 0, column["bounds_bytes"] > 0)
               for name, column in columns.items()}
        self.assertEqual(has, {"a": (True, True), "b": (False, True), "c": (True, False),
                               "d": (False, True), "e": (True, False)})
        self.assertEqual(columns["b"]["files_with_bounds_chosen"], 0)
        self.assertEqual(columns["a"]["definition"], "a=both:int:1")

    def test_what_they_are_good_for(self):
        self.columns("b=bounds:int:2", "c=filters:int:2")
        ts = self.rows[777][1]
        for where, is_used, reason in (
                (f"b = {ts}", True, "min/max, 1 value"), (f"b > {ts}", True, "min/max"),
                (f"c = {ts}", True, "filter, 1 value"), (f"c > {ts}", False, "has no bounds")):
            comparison, = self.explain(where)["comparisons"]
            self.assertEqual(comparison["is_used"], is_used, where)
            self.assertIn(reason, comparison["reason"])
            self.keys(where)

    def test_tokens_have_no_bounds(self):
        self.assertIn("before words and n-grams only filters:",
                      self.load_lines(b"", "--index", "w=bounds:words:2", code=2))


class Budget(Parts):
    def test_dropped_filters_are_said_with_the_size_needed(self):
        rows = b"".join(b"%s\t%s\n" % (row[0].encode(), row[3].encode()) for row in self.rows)
        said = self.load_lines(rows, "--index", "name=field:2", "--max-index-bytes", "20kB")
        size = re.search(r"warning: the index lacks filters or bounds of name=field:1, for its size; "
                         r"--max-index-bytes (\d+) would keep all", said)
        self.assertTrue(size, said)
        self.db = self.dir / "enough"
        self.assertEqual(self.load_lines(rows, "--index", "name=field:2", "--max-index-bytes", size[1]), "")
        self.db = self.dir / "too little"
        self.assertIn("warning", self.load_lines(rows, "--index", "name=field:2",
                                                 "--max-index-bytes", int(size[1]) * 9 // 10))

    def test_dropped_index_is_said(self):
        rows = b"".join(b"%s\t%d\n" % (row[0].encode(), row[1]) for row in self.rows)
        said = self.load_lines(rows, "--index", "ts=int:2", "--max-index-bytes", 100)
        self.assertIn("warning: ", said)
        self.assertIn("--max-index-bytes ", said)

    def test_explain_never_calls_it_used(self):
        self.load(self.rows, "--index", "name=filters:field:4", "w=words:4", "id=int:3",
                  "--max-index-bytes", "20kB")
        for where, lacks in (("name = 'name5'", "neither filters nor bounds"),
                             ("w HAS 'name5'", "no filters")):
            explanation = self.explain(where)
            comparison, = explanation["comparisons"]
            self.assertFalse(comparison["is_used"], where)
            self.assertIn(f"has {lacks}; filters left out for size in 1 of 1 files",
                          comparison["reason"])
            self.assertTrue(explanation["is_full_scan"])
            text = self.succeed("scan", "--db", self.db, "--where", where, "--explain").err
            self.assertIn(f"comparison {where}: not used, ", text)
        # Its bounds are still there, and it is they that are used.
        comparison, = self.explain("id = 5")["comparisons"]
        self.assertTrue(comparison["is_used"])
        self.assertTrue(comparison["reason"].startswith("min/max, 1 value; filters left out"),
                        comparison["reason"])

    def test_index_says_it_too(self):
        self.load(self.rows)
        said = self.succeed("index", "--db", self.db, "--index", "name=field:3", "--max-index-bytes",
                            "20kB").err
        size = re.search(r"column name=field:3 gets no filters; max_index_bytes=(\d+) would keep all", said)
        self.assertTrue(size, said)
        self.assertEqual(self.succeed("index", "--db", self.db, "--index", "name=field:3",
                                      "--max-index-bytes", size[1]).err, "")
        comparison, = self.explain("name = 'name5'")["comparisons"]
        self.assertTrue(comparison["is_used"])
