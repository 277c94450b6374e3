"""advise from RocksDB's info log and statistics, compared with RocksDB's counters and the files."""

import json
import pathlib
import re
import subprocess
import tempfile

from command import TIMEOUT_SECONDS, CommandTest

LEVELS = ("--bloom_bits=10", "--compression_type=none", "--write_buffer_size=2000000",
          "--target_file_size_base=2000000", "--max_bytes_for_level_base=8000000",
          "--value_size=100", "--num=300000", "--statistics", "--stats_dump_period_sec=1")
RECORDED = pathlib.Path(__file__).parent / "logs"


class Logs(CommandTest):
    """A database that stock RocksDB wrote, at rest, and the logs of reading it."""

    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory(prefix="blocksieve_cli.")
        cls.db = pathlib.Path(cls.built.name) / "db"
        cls.bench("--benchmarks=fillrandom,waitforcompaction")
        # Without the memtable: a filter of few keys is not like the average.
        for wal in cls.db.glob("*.log"):
            wal.unlink()

    @classmethod
    def tearDownClass(cls):
        cls.built.cleanup()

    def setUp(self):
        self.dir = pathlib.Path(self.built.name)
        self.db = self.dir / "db"

    @classmethod
    def bench(cls, *arguments):
        return subprocess.run(["db_bench", f"--db={cls.built.name}/db", *LEVELS, *arguments],
                              check=True, timeout=TIMEOUT_SECONDS, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.decode()

    def read(self, benchmark):
        """What db_bench prints, and arguments for the logs of the database until then. The last dump
        is up to a second old."""
        said = self.bench(f"--benchmarks={benchmark}", "--use_existing_db=1", "--duration=4",
                          "--disable_auto_compactions=1")
        logs = sorted(self.db.glob("LOG.old.*"), key=lambda path: path.name)
        # The first one has the tables that were written.
        return said, ["--log", self.db / "LOG", "--log", logs[0]]

    def count(self, said, name):
        return int(re.search(rf"rocksdb\.{re.escape(name)} COUNT : (\d+)", said).group(1))

    def blocks_read(self, said):
        return self.count(said, "block.cache.data.hit") + self.count(said, "block.cache.data.miss")

    def observed(self, *arguments):
        return self.json_of("advise", *arguments)["observed"]

    def test_absent_and_present_keys(self):
        for benchmark in ("readmissing", "readrandom"):
            said, logs = self.read(benchmark)
            found, lookups = map(int, re.search(r"\((\d+) of (\d+) found\)", said).groups())
            advice = self.json_of("advise", *logs)
            self.assertAlmostEqual(advice["absent_fraction"], 1 - found / lookups, delta=0.02)
            counted = (self.blocks_read(said) - found) / lookups
            for part in ("observed", "current"):
                self.assertAlmostEqual(advice[part]["wasted_reads"], counted, delta=0.1 * counted)
            text = self.text_of("advise", *logs)
            self.assertRegex(text, r"Observed: [\d,]+ lookups of files, \d+\.\d % of absent keys; 0 seeks")
            self.assertRegex(text, r"Wasted reads per lookup: 0\.0\d+ by RocksDB's counters of filters, "
                                   r"0\.0\d+ by the model")

    def test_seeks(self):
        said, logs = self.read("seekrandom")
        observed = self.observed(*logs)
        self.assertEqual((observed["seek_fraction"], observed["lookups"]), (1, 0))
        self.assertLessEqual(observed["seeks"], self.count(said, "number.db.seek"))
        if "rocksdb.last.level.seek.data " not in said:
            self.assertIsNone(observed["seek_blocks"])  # RocksDB before 8.3
        else:
            per_seek = self.blocks_read(said) / self.count(said, "number.db.seek")
            read = observed["seek_blocks"]["useful"] + observed["seek_blocks"]["useless"]
            self.assertAlmostEqual(read / observed["seeks"], per_seek, delta=0.1 * per_seek)

    def test_same_as_from_files(self):
        _, logs = self.read("readmissing")
        of_logs = self.json_of("advise", *logs)
        of_files = self.json_of("advise", "--db", self.db)
        def levels(advice):
            return [run["level"] for run in advice["families"][0]["runs"]]
        self.assertEqual(levels(of_logs), levels(of_files))
        for part in (lambda one: one["num_keys"],
                     lambda one: one["current"]["wasted_reads_absent"],
                     lambda one: one["current"]["filter_bytes"]):
            self.assertAlmostEqual(part(of_logs), part(of_files), delta=0.1 * part(of_files))
        self.assertEqual(of_logs["verdict"]["proposal"], of_files["verdict"]["proposal"])

    def test_statistics(self):
        said, logs = self.read("readrandom")
        found, lookups = map(int, re.search(r"\((\d+) of (\d+) found\)", said).groups())
        text = self.dir / "statistics.txt"
        text.write_text(said)
        tickers = dict(re.findall(r"(?m)^(rocksdb\.\S+) COUNT : (\d+)$", said))
        for name, document in (("nested.json", {"stats": {"rocksdb": tickers}}),
                               ("flat.json", {name: int(count) for name, count in tickers.items()}),
                               (None, None)):
            if name is not None:
                text = self.dir / name
                text.write_text(json.dumps(document))
            for source in (["--db", self.db], logs):
                observed = self.observed(*source, "--statistics", text)
                self.assertEqual(observed["lookups"], lookups)
                self.assertAlmostEqual(observed["absent_fraction"], 1 - found / lookups)

    def test_other_versions(self):
        """Recorded with db_bench: 200,000 keys at 10 bits per key, then random reads and seeks. The
        expected shares are from the counters that it printed at the end, after the last dump."""
        logs = sorted(RECORDED.glob("*.LOG"))
        self.assertGreater(len(logs), 0)
        for log in logs:
            with self.subTest(log.name):
                advice = self.json_of("advise", "--log", log)
                expected = json.loads(log.with_suffix(".json").read_text())
                observed = advice["observed"]
                blocks = observed["seek_blocks"]
                got = {"absent_fraction": observed["absent_fraction"],
                       "wasted_reads": observed["wasted_reads"],
                       "useful_per_seek": blocks["useful"] / observed["seeks"],
                       "useless_per_seek": blocks["useless"] / observed["seeks"]}
                self.assertEqual(got.keys(), expected.keys())
                for name, value in expected.items():
                    self.assertAlmostEqual(got[name], value, delta=0.05 * value, msg=name)
                current = advice["current"]["wasted_reads"]
                self.assertAlmostEqual(current, expected["wasted_reads"],
                                       delta=0.1 * expected["wasted_reads"])
                self.assertIn("of them without a row for the seek",
                              self.text_of("advise", "--log", log))

    def test_refused(self):
        empty = self.dir / "empty"
        empty.write_bytes(b"")
        newest = self.dir / "newest"
        lines = (RECORDED / "rocksdb_9.10.LOG").read_bytes().splitlines(keepends=True)
        newest.write_bytes(b"".join(line for line in lines if b"table_file_creation" not in line))
        for arguments, said in (
                (("--log", empty), "has no dump of statistics with files"),
                (("--log", self.dir / "none"), "cannot open"),
                (("--log", newest), "show no table that was written to column family default"),
                (("--db", self.db, "--statistics", empty), "has no counters"),
                (("--log", RECORDED / "rocksdb_9.10.LOG", "--column-family", "x"),
                 "--column-family is x")):
            self.assertIn(said, self.fail_with(1, "advise", *arguments))
        for arguments in ((), ("--log", empty, "--db", self.db),
                          ("--log", empty, "--seek-fraction", 0.1),
                          ("--log", empty, "--options-file", self.dir / "o")):
            self.fail_with(2, "advise", *arguments)
