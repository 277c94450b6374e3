# SPDX-License-Identifier: Apache-2.0
"""Runs the command `blocksieve`, whose path is in the environment variable BLOCKSIEVE."""

import fcntl
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import termios
import time
import unittest

PROGRAM = os.environ.get("BLOCKSIEVE", "build/integration/cli/blocksieve")
PLUGIN = os.environ.get("PLUGIN", "build/integration/rocksdb/libblocksieve_rocksdb.so")
LEVEL_TREE = os.environ.get("LEVEL_TREE", "build/tests/cli/level_tree")
# Sections of OPTIONS files.
TABLE, FAMILY = 'TableOptions/BlockBasedTable "default"', 'CFOptions "default"'
# Far more than any call here takes, sanitizers included.
TIMEOUT_SECONDS = 120

# A shell's background jobs ignore it, and so would the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Done:
    """A process that ended: exit code, standard output (bytes) and standard error (text)."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr.decode(errors="replace")


def run(*arguments, stdin=b"", program=PROGRAM, **options):
    command = [program, *(str(argument) for argument in arguments)]
    return Done(subprocess.run(command, input=stdin, capture_output=True, check=False,
                               timeout=TIMEOUT_SECONDS, **options))


def run_line(line, directory, **variables):
    """A line of a shell in a directory. Standard output has both outputs."""
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=directory, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS, stdin=subprocess.DEVNULL,
                          env={**os.environ, **variables})


@functools.cache
def rocksdb_of(program):
    """Its version of RocksDB."""
    return tuple(map(int, re.search(r"RocksDB (\d+)\.(\d+)", run("--version", program=program).out.decode()).groups()))


ROCKSDB = rocksdb_of(PROGRAM)


def subcommands():
    """In the order of the help: commands that create databases come before those that read them."""
    text = run("--help").out.decode()
    return re.findall(r"(?m)^  (\w+) ", text.split("\nSubcommands:\n")[1].split("\n\n")[0])


def flip(path, position, bits=1):
    """Flips bits of one byte of a file."""
    damaged = bytearray(path.read_bytes())
    damaged[position] ^= bits
    path.write_bytes(damaged)


def lines_of(rows):
    """The text of a file; rows are tuples of fields, each str, bytes or a number."""
    def to_bytes(field):
        return field if isinstance(field, bytes) else str(field).encode()
    return b"".join(b"\t".join(to_bytes(field) for field in row) + b"\n" for row in rows)


def files_below(directory):
    """Contents and time of every file, to detect changes."""
    return {path: (path.stat().st_mtime_ns, path.read_bytes())
            for path in pathlib.Path(directory).rglob("*") if path.is_file()}


class CommandTest(unittest.TestCase):
    """Every test has its own directory, with one database named db."""

    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="blocksieve_cli.")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)
        self.db = self.dir / "db"

    def each(self, cases):
        """Each case, with its own database."""
        for number, case in enumerate(cases):
            self.db = self.dir / f"db{number}"
            yield case

    def copies(self, cases):
        """Each case, with its own copy of the database."""
        original = self.db
        for number, case in enumerate(cases):
            self.db = original.with_name(f"{original.name}.{number}")
            shutil.copytree(original, self.db)
            yield case

    def succeed(self, *arguments, stdin=b""):
        done = run(*arguments, stdin=stdin)
        self.assertEqual(done.code, 0, done.err)
        return done

    def text_of(self, *arguments):
        """Standard output of a command that succeeds."""
        return self.succeed(*arguments).out.decode()

    def output_of(self, code, *arguments):
        """All that a command prints, which ends with this code."""
        done = run(*arguments)
        self.assertEqual(done.code, code, done.err)
        return done.out.decode() + done.err

    def fail_with(self, code, *arguments, stdin=b""):
        """Standard error of a command that fails without other output."""
        done = run(*arguments, stdin=stdin)
        self.assertEqual(done.code, code, done.err)
        self.assertEqual(done.out, b"")
        return done.err

    def fail_on_full_disk(self, kilobytes, *arguments):
        """Standard error of a command that cannot write larger files, which simulates the disk."""
        done = subprocess.run(["bash", "-c", f'trap "" XFSZ; ulimit -f {kilobytes}; exec "$@"', "-", PROGRAM,
                               *map(str, arguments)], capture_output=True, check=False, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr.decode()

    def load(self, rows, *arguments):
        """Loads rows or bytes; returns the parsed JSON report."""
        text = rows if isinstance(rows, bytes) else lines_of(rows)
        done = self.succeed("load", "--db", self.db, "--key", 1,
                            "--format", "json", *arguments, "-", stdin=text)
        return json.loads(done.out)

    def db_bench(self, benchmarks, *options, num=20_000):
        """Makes a database with stock RocksDB."""
        subprocess.run(["db_bench", f"--benchmarks={benchmarks}", f"--db={self.db}", f"--num={num}",
                        "--value_size=20", "--disable_auto_compactions=1", *options], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=TIMEOUT_SECONDS)

    def with_plugin(self, *command):
        """Runs another program with the plug-in preloaded; returns its standard output."""
        if "PLUGIN_CANNOT_BE_PRELOADED" in os.environ:
            self.skipTest("the plug-in has sanitizers, the program has not")
        link = self.dir / "plugin.so"  # LD_PRELOAD takes no path with blanks
        if not link.exists():
            link.symlink_to(os.path.abspath(PLUGIN))
        return subprocess.run([str(word) for word in command], check=True, timeout=TIMEOUT_SECONDS,
                              env={**os.environ, "LD_PRELOAD": str(link)},
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()

    def ldb(self, *arguments):
        """Runs RocksDB's tool, which writes without the plug-in; returns its standard output."""
        if ROCKSDB > rocksdb_of("ldb"):
            self.skipTest("the tools are of an earlier RocksDB, which cannot read what this one writes")
        return subprocess.run(["ldb", f"--db={self.db}", *arguments], check=True,
                              timeout=TIMEOUT_SECONDS, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    def add_column_family(self):
        """Adds a column family `other` with one key."""
        self.ldb("create_column_family", "other")
        self.ldb("--column_family=other", "put", "a", "b")
        self.ldb("--column_family=other", "compact")

    def level_tree(self, command, *arguments, stdin=b""):
        """Runs level_tree on the database; see level_tree.cc."""
        return subprocess.run([LEVEL_TREE, command, self.db, *arguments], check=True, input=stdin,
                              timeout=TIMEOUT_SECONDS, stdout=subprocess.PIPE).stdout

    def build_runs(self, runs, *policies):
        """Builds sorted runs LEVEL[/PART]:KEYS, the deepest first, with a policy for each or for all."""
        policies *= len(runs) // len(policies)
        self.level_tree("build", *map(":".join, zip(runs, policies, strict=True)))

    def remove(self, pattern):
        """Removes files of the database."""
        for path in self.db.glob(pattern):
            path.unlink()

    def table(self):
        """The only table file."""
        path, = self.db.glob("*.sst")
        return path

    def options_file(self):
        """The path of the newest one."""
        return max(self.db.glob("OPTIONS-*[0-9]"))

    def option(self, name, section=TABLE):
        """A value in the newest OPTIONS file."""
        part = self.options_file().read_text().split(f"[{section}]")[1].split("\n[")[0]
        return re.search(rf"(?m)^ *{name}=(.*)$", part)[1]

    def set_option(self, name, value, section=TABLE):
        before, title, after = self.options_file().read_text().partition(f"[{section}]")
        after, changes = re.subn(rf"(?m)^ *{name}=.*$", f"  {name}={value}", after, count=1)
        self.assertEqual(changes, 1, name)
        self.options_file().write_text(before + title + after)

    def edit_options(self, *replacements):
        """Replaces texts in the newest OPTIONS file: (old, new), ..."""
        path = self.options_file()
        text = path.read_text()
        for old, new in replacements:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path.write_text(text)

    def apply(self, policy, *arguments):
        """Sets a policy; returns standard error."""
        return self.succeed("apply", "--db", self.db, "--option", f"filter_policy={policy}",
                            *arguments).err

    def json_of(self, *arguments):
        return json.loads(self.succeed(*arguments, "--format", "json").out)

    def inspect(self, *arguments):
        return self.json_of("inspect", *(arguments or ("--db", self.db)))

    def only_filter(self):
        """What inspect shows of the filter of the only file."""
        file, = self.inspect()["files"]
        return file["filter"]

    def origins(self):
        """The origins of the filters of all files."""
        return {file["filter"]["origin"] for file in self.inspect()["files"]}

    def verify(self, *arguments, code=0):
        done = run("verify", "--format", "json", *(arguments or ("--db", self.db)))
        self.assertEqual(done.code, code, done.err)
        return json.loads(done.out)

    def files_of_database(self):
        return files_below(self.db)

    def wait_until(self, condition):
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def open_in_another_process(self, *arguments, lines=b""):
        """Starts a load that has the database open, has read `lines` and waits for more."""
        db = pathlib.Path(self.db)
        before = set(db.glob("MANIFEST-*"))
        process = subprocess.Popen(
            [PROGRAM, "load", "--db", str(db), "--key", "1", *arguments, "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        def end():
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                stream.close()
        self.addCleanup(end)
        process.stdin.write(lines)
        process.stdin.flush()
        # RocksDB writes a MANIFEST when it opens a database to write.
        self.wait_until(lambda: set(db.glob("MANIFEST-*")) - before)
        self.wait_until(lambda: not any(fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4))))
        time.sleep(0.1)  # until the lines are rows
        return process

    def scan(self, where, *arguments):
        """The rows, as pairs of bytes."""
        done = self.succeed("scan", "--db", self.db, "--where", where, *arguments)
        return [tuple(line.split(b"\t", 1)) for line in done.out.split(b"\n")[:-1]]

    def keys(self, where):
        """The matching keys as text; the same with and without index, in reverse and counted."""
        rows = self.scan(where)
        self.assertEqual(rows, self.scan(where, "--no-index"), where)
        self.assertEqual(rows, self.scan(where, "--reverse")[::-1], where)
        self.assertEqual(self.scan(where, "--count"), [(b"%d" % len(rows),)], where)
        return [key.decode() for key, _ in rows]

    def explain(self, where, *arguments):
        done = self.succeed("scan", "--db", self.db, "--where", where, "--explain", "--format", "json",
                            *arguments)
        explanation = json.loads(done.err)
        self.assertEqual(done.out.count(b"\n"), explanation["rows_returned"])
        return explanation
