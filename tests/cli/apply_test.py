"""Filter options written to the OPTIONS file of a database."""

import json
import re

from command import CommandTest, run

SPREAD = "filter_policy={id=blocksieve;bits_per_key=10;kind=auto}"


class Apply(CommandTest):
    def setUp(self):
        super().setUp()
        self.db_bench("fillseq,flush", "--bloom_bits=10", num=5000)

    def latest(self):
        return max(self.db.glob("OPTIONS-*[0-9]"), key=lambda path: int(path.name.split("-")[1]))

    def apply(self, *arguments):
        return self.text_of("apply", "--db", self.db, *arguments)

    def value(self, name, section='TableOptions/BlockBasedTable "default"'):
        text = self.latest().read_text()
        part = text.split(f"[{section}]")[1].split("\n[")[0]
        return re.search(rf"(?m)^ *{name}=(.*)$", part).group(1)

    def test_next_file(self):
        old = self.latest()
        before = old.read_text()
        said = self.apply("--option", SPREAD)
        new = self.latest()
        self.assertGreater(new.name, old.name)
        self.assertEqual(old.read_text(), before)
        self.assertIn(f"written: {new.name}", said)
        # Nothing else changes, and all changes are printed.
        changed = set(new.read_text().splitlines()) ^ set(before.splitlines())
        self.assertEqual(len(changed), 4)
        for line in changed:
            self.assertRegex(said, "(?m)^[-+]" + re.escape(line) + "$")
        self.assertEqual(self.value("filter_policy"), SPREAD.split("=", 1)[1])
        self.assertIn("blocksieve", self.value("listeners", "DBOptions"))
        self.assertIn("ErrorHandlerListener", self.value("listeners", "DBOptions"))

    def test_rocksdb_loads_it(self):
        """Programs that load the file build the filters, and their OPTIONS files still name the policy."""
        self.apply("--option", "filter_policy=blocksieve:0.02")
        number = int(self.latest().name.split("-")[1])
        for _ in range(3):
            self.with_plugin("ldb", f"--db={self.db}", "compact")
            new = int(self.latest().name.split("-")[1])
            self.assertGreater(new, number)
            number = new
            self.assertIn("target_fpr=0.02", self.value("filter_policy"))
            origins = {file["filter"]["origin"] for file in self.inspect()["files"]}
            self.assertEqual(origins, {"blocksieve"})

    def test_old_file_outlives_rocksdb(self):
        """RocksDB removes all but two."""
        before = self.latest().read_text()
        name = self.latest().name
        self.apply("--option", SPREAD)
        for _ in range(2):
            self.with_plugin("ldb", f"--db={self.db}", "compact")
        self.assertFalse((self.db / name).exists())
        self.assertEqual((self.db / f"blocksieve-{name}").read_text(), before)

    def test_dry_run(self):
        before = self.files_of_database()
        said = self.apply("--option", SPREAD, "--dry-run")
        self.assertEqual(self.files_of_database(), before)
        self.assertIn("-  filter_policy=bloomfilter:10:false\n+  " + SPREAD, said)
        self.assertIn("Nothing was written.", said)

    def test_nothing_to_change(self):
        self.apply("--option", SPREAD)
        before = self.files_of_database()
        self.assertIn("has these options already", self.apply("--option", SPREAD))
        self.assertEqual(self.files_of_database(), before)

    def test_json(self):
        old = self.latest().name
        said = json.loads(self.apply("--option", SPREAD, "--format", "json"))
        self.assertEqual((said["read"], said["written"]), (old, self.latest().name))
        self.assertIn("+  " + SPREAD, said["changes"])

    def test_open_elsewhere(self):
        self.db = self.dir / "open"
        self.load([("a", 1)])
        process = self.open_in_another_process(lines=b"b\t2\n")
        before = self.latest()
        said = self.fail_with(1, "apply", "--db", self.db, "--option", SPREAD, "--format", "json")
        self.assertIn(f"database {self.db} is in use; close it in the other process", said)
        self.assertEqual(self.latest(), before)
        self.apply("--option", SPREAD, "--dry-run")
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)

    def test_column_families(self):
        self.add_column_family()
        self.apply("--option", "filter_policy=blocksieve:0.01", "--column-family", "other")
        self.assertEqual(self.value("filter_policy"), "bloomfilter:10:false")
        other = 'TableOptions/BlockBasedTable "other"'
        self.assertEqual(self.value("filter_policy", other), "blocksieve:0.01")
        self.apply("--option", "filter_policy=blocksieve:0.03")
        for section in ('TableOptions/BlockBasedTable "default"', other):
            self.assertEqual(self.value("filter_policy", section), "blocksieve:0.03")
        said = self.fail_with(1, "apply", "--db", self.db, "--option", SPREAD, "--column-family", "x",
                              "--dry-run", "--format", "json")
        self.assertIn("--column-family is x, which does not exist; allowed: default, other", said)

    def test_options_of_ranges_and_indexes(self):
        collector = "table_properties_collectors={{id=blocksieve.skip_index;columns=a=field:1}}"
        self.apply("--option", "filter_policy={id=blocksieve;ranges=true}",
                   "--option", "prefix_extractor=blocksieve.range", "--option", collector,
                   "--option", "listeners={blocksieve}")
        family = 'CFOptions "default"'
        self.assertEqual(self.value("prefix_extractor", family), "blocksieve.range")
        self.assertIn("skip_index", self.value("table_properties_collectors", family))
        self.assertEqual(self.value("listeners", "DBOptions"), "{blocksieve}")

    def test_refusals(self):
        before = self.files_of_database()
        for option, message in (
                ("filter_policy=blocksieve:7", "target_fpr is 7"),
                ("filter_policy=blocksive:0.01", "blocksive:0.01"),
                ("filter_policy={id=blocksieve;bits_per_kay=9}", "bits_per_kay"),
                ("filter_policy=", "allowed: NAME=VALUE, with NAME one of "),
                ("write_buffer_size=7", "; allowed names: filter_policy, "),
                ("prefix_extractor=blocksieve.rang", "blocksieve.rang"),
                ("filter_policy=blocksieve:0.01\n  x=1", "allowed: a value without line breaks")):
            done = run("apply", "--db", self.db, "--option", option)
            self.assertEqual((done.code, done.out), (2, b""), option)
            self.assertIn(message, done.err)
        self.assertEqual(self.files_of_database(), before)
