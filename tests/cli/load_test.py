"""What load prints, where it loads to, and what may go wrong there."""

import os
import pty
import subprocess

from command import PROGRAM, TIMEOUT_SECONDS, CommandTest, lines_of


class Report(CommandTest):
    ROWS = [(f"{i:04}", i) for i in range(1000)]

    def test_text(self):
        done = self.succeed("load", "--db", self.db, "--key", 1, "--index", "n=int:2", "-",
                            stdin=lines_of(self.ROWS))
        text = done.out.decode()
        num_bytes = sum(len(key) + len(str(i)) for key, i in self.ROWS)
        self.assertIn(f"rows read: 1,000\nrows kept: 1,000\nbytes: {num_bytes:,}\n  n=int:1: 1,000 rows with a value, "
                      "0 without\nindex bytes: ", text)
        self.assertIn("in 1 of 1 file\n", text)
        self.assertIn("n=int:1 (of the value): filters ", text)
        self.assertEqual(done.err, "")  # no progress without a terminal

    def test_json(self):
        said = self.load(self.ROWS, "--index", "n=int:2")
        self.assertEqual(said["rows_read"], 1000)
        self.assertGreater(said["index_bytes"], 0)
        self.assertEqual((said["num_files"], said["files_with_index"]), (1, 1))
        self.assertEqual([column["definition"] for column in said["columns"]], ["n=int:1"])
        self.assertEqual(said["columns"][0]["num_distinct"], 1000)

    def test_smaller_rates_and_granules_take_more(self):
        sizes = []
        for number, options in enumerate((("--fpr", 0.1), ("--fpr", 0.001), ("--fpr", 1e-6))):
            self.db = self.dir / f"db{number}"
            sizes.append(self.load(self.ROWS, "--index", "n=int:2", *options)["index_bytes"])
        self.assertEqual(sizes, sorted(set(sizes)))

    def test_compaction(self):
        for i in range(2):
            said = self.load([(f"k{i}", i)], "--index", "n=int:2", "--no-compact")
            self.assertEqual(said["num_files"], i + 1)
        self.assertEqual(self.load([("k2", 2)])["num_files"], 1)

    def on_terminal(self, *arguments, stdin=b""):
        """What is said on standard error, if that is a terminal."""
        terminal, its_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        subprocess.run([PROGRAM, *map(str, arguments)], check=True, input=stdin,
                       stdout=subprocess.DEVNULL, stderr=its_end, timeout=TIMEOUT_SECONDS)
        os.close(its_end)
        return os.read(terminal, 1 << 16).decode()

    def test_progress_on_a_terminal(self):
        said = self.on_terminal("load", "--db", self.dir / "other", "--key", 1, "-",
                                stdin=lines_of(self.ROWS * 20))
        self.assertIn("loading: ", said)
        self.assertIn("compacting", said)
        self.assertTrue(said.endswith("\r\x1b[K"), said)  # the line is erased
        self.load([(f"{i:05}", i) for i in range(20_000)], "--index", "n=int:2")
        said = self.on_terminal("scan", "--db", self.db, "--no-index", "--where", "n >= 0")
        self.assertRegex(said, r"scanning: 1,0\d\d rows, 5 %")
        self.assertTrue(said.endswith("\r\x1b[K"), said)
        self.assertIn("indexing, 0 of 1 file: 0.0 MB, 0 %",
                      self.on_terminal("index", "--db", self.db, "--index", "v=value"))
        self.assertIn("verifying: 0 files, 0 %", self.on_terminal("verify", "--db", self.db))


class Places(CommandTest):
    def load_one(self, code):
        return self.load_lines(b"a\t1\n", code=code)

    def test_directories_are_made(self):
        self.db = self.dir / "a" / "b" / "db"
        self.load_one(0)
        self.assertEqual(self.scan("TRUE"), [(b"a", b"1")])

    def test_empty_directory(self):
        self.db.mkdir()
        self.load_one(0)

    def test_directory_of_something_else(self):
        self.db.mkdir()
        (self.db / "letter.txt").write_text("dear all")
        self.assertIn(f"{self.db} is neither a database nor an empty directory", self.load_one(1))
        self.assertEqual(os.listdir(self.db), ["letter.txt"])

    def test_database_of_keys_with_timestamps(self):
        self.db_bench("fillseq,flush", "--user_timestamp_size=8")
        self.assertIn("its keys have timestamps", self.load_one(1))

    def test_file(self):
        self.db.write_text("")
        self.assertIn(f"{self.db} is neither a database nor", self.load_one(1))

    def test_below_a_file(self):
        (self.dir / "file").write_text("")
        self.db = self.dir / "file" / "db"
        self.assertIn(str(self.db), self.load_one(1))

    def test_full_file_system(self):
        """A file-size limit stands in for it."""
        program = [PROGRAM, "load", "--db", str(self.db), "--key", "1", "-"]
        rows = lines_of((f"{i:06}", os.urandom(50).hex()) for i in range(20_000))
        done = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 200; exec "$@"', "-", *program],
                              input=rows, capture_output=True, check=False, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"cannot write database", done.stderr)
        self.assertEqual(done.stdout, b"")
