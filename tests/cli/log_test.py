# SPDX-License-Identifier: Apache-2.0
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


class LogsTest(CommandTest):
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
        said = self.bench(f"--benchmarks={benchmark}", "--use_existing_db=1", "--duration=2",
                          "--benchmark_read_rate_limit=20000", "--disable_auto_compactions=1")
        logs = sorted(self.db.glob("LOG.old.*"), key=lambda path: path.name)
        # The first one has the tables that were written.
        return said, ["--log", self.db / "LOG", "--log", logs[0]]

    def count(self, said, name):
        return int(re.search(rf"rocksdb\.{re.escape(name)} COUNT : (\d+)", said).group(1))

    def blocks_read(self, said):
        return self.count(said, "block.cache.data.hit") + self.count(said, "block.cache.data.miss")

    def test_absent_and_present_keys(self):
        for benchmark in ("readmissing", "readrandom"):
            said, logs = self.read(benchmark)
            found, lookups = map(int, re.search(r"\((\d+) of (\d+) found\)", said).groups())
            advice = self.json_of("advise", *logs)
            self.assertAlmostEqual(advice["absent_fraction"], 1 - found / lookups, delta=0.02)
            counted = (self.blocks_read(said) - found) / lookups
            for part in ("observed", "current"):
                self.assertAlmostEqual(advice[part]["wasted_reads"], counted, delta=0.1 * counted)
        # The same as from the files.
        of_files = self.json_of("advise", "--db", self.db, "--absent-fraction", advice["absent_fraction"])
        self.assertEqual([run["level"] for run in advice["families"][0]["runs"]],
                         [run["level"] for run in of_files["families"][0]["runs"]])
        for part in (lambda one: one["num_keys"], lambda one: one["current"]["wasted_reads_absent"],
                     lambda one: one["current"]["filter_bytes"]):
            self.assertAlmostEqual(part(advice), part(of_files), delta=0.1 * part(of_files))
        self.assertEqual(advice["verdict"]["proposal"], of_files["verdict"]["proposal"])
        # What db_bench printed; other forms: LogLinesTest.
        text = self.dir / "statistics.txt"
        text.write_text(said)
        for source in (["--db", self.db], logs):
            observed = self.json_of("advise", *source, "--statistics", text)["observed"]
            self.assertEqual(observed["lookups"], lookups)
            self.assertAlmostEqual(observed["absent_fraction"], 1 - found / lookups)

    def test_seeks(self):
        said, logs = self.read("seekrandom")
        observed = self.json_of("advise", *logs)["observed"]
        self.assertEqual((observed["seek_fraction"], observed["lookups"]), (1, 0))
        self.assertLessEqual(observed["seeks"], self.count(said, "number.db.seek"))
        if "rocksdb.last.level.seek.data " not in said:
            self.assertIsNone(observed["seek_blocks"])  # RocksDB before 8.3
        else:
            per_seek = self.blocks_read(said) / self.count(said, "number.db.seek")
            read = observed["seek_blocks"]["useful"] + observed["seek_blocks"]["useless"]
            self.assertAlmostEqual(read / observed["seeks"], per_seek, delta=0.1 * per_seek)

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

def by_line(edit):
    """A disguise that edits each line."""
    return lambda text: "".join(edit(line) + "\n" for line in text.splitlines())


def old(text):
    """As RocksDB before 5.4 wrote it: sizes of levels in MB, and another name of the policy."""
    text = text.replace('"filter_policy"', '"filter_policy_name"').replace("Size     Score", "Size(MB) Score")
    return re.sub(r"(?m)^( *(?:L\d|Sum) .*?\d) MB", r"\1", text)


def in_locale(group, point):
    """As a program writes it that set its locale."""
    def edit(line):
        if "EVENT_LOG_v1" in line:
            begin, event = line.split("EVENT_LOG_v1 {")
            event = f'"time_micros": 1764062906902202, "score": 0.875, {event}'.replace(".", point)
            return begin + "EVENT_LOG_v1 {" + re.sub(
                r"\b\d{4,}\b", lambda match: f"{int(match.group()):,}".replace(",", group), event)
        return line if re.match(r"\d{4}/|rocksdb.* COUNT", line) else line.replace(".", point)
    return by_line(edit)


DISGUISES = {
    "crlf": by_line(lambda line: line + "\r"),
    "indented": by_line(lambda line: "\t" + line),
    "trimmed": by_line(str.strip),
    "quoted": by_line(lambda line: "> > " + line),
    "syslog": by_line(lambda line: "Nov 25 09:28:26 host db[123]: " + line),
    "journald": by_line(lambda line: "2026-11-25T09:28:26+0000 L2 rocksdb.service[1]: " + line),
    "cri": by_line(lambda line: "2026-11-25T09:28:26.206053123Z stdout F " + line),
    "colors": by_line(lambda line: f"\x1b[36mdb-1  | \x1b[0m{line}\x1b[0m"),
    "ceph": by_line(lambda line: "2026-11-25T09:28:26.853+0200 ffffad98b400  4 rocksdb: " + line),
    "utf-8 mark": lambda text: "\ufeff" + text,
    "comma": in_locale("", ","),
    "german": in_locale(".", ","),
    "french": in_locale(" ", ","),
    "english": in_locale(",", "."),
    "old": old,
}


class LogLinesTest(CommandTest):
    """Logs and statistics as operators have them."""

    text = (RECORDED / "rocksdb_9.10.LOG").read_text()
    dump = text[text.index("** Compaction"):text.index("STATISTICS")]
    statistics = text.split("STATISTICS:\n")[1]

    def write(self, name, data):
        path = self.dir / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def advice(self, *arguments, stdin=b""):
        return {**json.loads(self.succeed("advise", *arguments, "--format", "json", stdin=stdin).out),
                "logs": None}

    def test_disguised_logs_give_the_same_advice(self):
        # A second family, and a third one that wrote nothing since the log began.
        text = self.text + self.text.replace("default", "\xe4\U0001f600")
        text += self.dump.replace("default", "idle")
        plain = self.advice("--log", self.write("plain", text))
        self.assertEqual((len(plain["families"]), plain["left_out"]), (2, ["idle"]))
        for name, disguise in DISGUISES.items():
            with self.subTest(disguise=name):
                self.assertEqual(self.advice("--log", self.write("LOG", disguise(text))), plain)

    def test_disguised_logs_are_read_by_time(self):
        lines = self.text.splitlines(keepends=True)
        plain = self.advice("--log", self.write("plain", self.text))
        for name in ("syslog", "journald"):
            older, newer = (self.write(f"{i}", DISGUISES[name]("".join(part)))
                            for i, part in enumerate((lines[:20], lines[20:])))
            self.assertEqual(self.advice("--log", newer, "--log", older), plain, name)

    def test_disguised_statistics(self):
        log = RECORDED / "rocksdb_9.10.LOG"
        counters = dict(re.findall(r"(?m)^(rocksdb\.\S+) COUNT : (\d+)$", self.statistics))
        plain = self.advice("--log", log)["observed"]
        # As Ceph writes them: members of one name.
        ceph = {"rocksdb_extended_statistics": {
            f".{i}": line for i, line in enumerate(self.statistics.splitlines())}}
        forms = [self.statistics, json.dumps(counters), json.dumps({"a": [{"b": counters}]}, indent=4),
                 json.dumps({name: int(count) for name, count in counters.items()}),
                 *(re.sub(r'"\.\d+"', '"."', json.dumps(ceph, **options))
                   for options in ({"indent": 4}, {"separators": (",", ":")}))]
        for form in forms:
            for name in ("crlf", "syslog"):
                path = self.write("statistics", DISGUISES[name](form))
                got = self.advice("--log", log, "--statistics", path)["observed"]
                self.assertEqual(got, plain, path.read_bytes()[:300])
