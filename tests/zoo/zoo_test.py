# SPDX-License-Identifier: Apache-2.0
"""Databases that other software wrote: no subcommand crashes, loses rows or harms another one.

Each row of ROWS is a test, on copies of what an archive holds. BLOCKSIEVE_LONG_TESTS makes the
archives anew, and lets the owner of each database read what the command left.
"""

import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "cli")]
import make  # noqa: E402
from command import ROCKSDB, TIMEOUT_SECONDS, CommandTest, run  # noqa: E402

LONG = "BLOCKSIEVE_LONG_TESTS" in os.environ
POLICY = "filter_policy=blocksieve:0.01"
# Of healthy files, of databases that could not be opened, and of names that OPTIONS escape.
UNTRUE = "(?i)corrupt|database has no keys|damaged|column family .* does not exist"
# What an owner wrote, and finds again.
KEPT = re.compile(r"(?m)^\s*((?:wal_dir|comparator|merge_operator|compaction_filter(?:_factory)?|"
                  r"memtable_factory|prefix_extractor|sst_partitioner_factory|wal_filter|"
                  r"file_checksum_gen_factory|table_properties_collectors|listeners)\s*=.*)$")


@dataclasses.dataclass
class Row:
    """What the command does with a database. @NAME@ in an argument is a directory beside it."""

    archive: str
    db: str = "db"
    refuses: str = ""  # what a subcommand says that then changes nothing; empty: all succeed
    refused_by: str = "apply"
    quotes: str = ""  # RocksDB's words about what it cannot read
    codes: dict = dataclasses.field(default_factory=dict)  # of reading subcommands, if not 0
    says: dict = dataclasses.field(default_factory=dict)  # patterns in their output
    families: tuple = ()  # to adopt; empty: all
    foreign: tuple = ()  # families to whose policy revert returns, but not their files
    arguments: tuple = ()  # of every subcommand
    apply: tuple = ()  # further arguments of it, and
    write: tuple = ()  # of rewrite and revert
    options: str = "original"  # the directory that OPTIONS name, or copy, gone or relative
    copy: str = "plain"  # or linked, symlink, read-only
    reader: str = "stock"  # the kind of owner.cc that can read the rows
    by_library: bool = True  # a program without the owner's objects can set another filter policy


ANY = {0, 1, 2}
FAILS = {1, 2}
ADVICE = {"check": {0, 1}}  # depends on what check takes for a problem
PROBLEM = {"check": {1}}
NPM617 = {"check": {1}, "index": {0, 1}}  # before RocksDB 7.2 files do not say who wrote them
# Without the comparator of a program, rows have no order, but files have filters.
FILES_ONLY = {"scan": FAILS, "index": FAILS, "check": {0, 1}, "alarm": {0, 1}}
NO_FILTERS = {"check": ANY, "advise": ANY, "alarm": {0, 1}, "index": ANY}
# Without an OPTIONS file, and with a LOG of another kind. A RocksDB with assertions, as Debian has,
# ends the process that opens such a database for writing.
LEVELDB = {"check": FAILS, "advise": FAILS, "alarm": {0, 1}, "log": FAILS, "index": {0, 1}}
NEWER = {each: ANY for each in ("inspect", "verify", "files", "check", "scan", "alarm", "index")}
WITHOUT_PROPERTIES = {"inspect": "without table properties",
                      "files": "number of keys is unknown: the file does not name its comparator"}
BUILTIN = {"check": "BuiltinBloomFilter", "scan": "wal_dir"}
DIRS = ("--data-dir", "@fast@", "--data-dir", "@slow@")
CLOSED = {"reader": "", "by_library": False}


def not_filtered(table):
    said = f"has no filters: table format {table}"
    return {"inspect": said, "verify": said, "files": said, "advise": "in [12] sorted run"}


# Read by a command with an earlier RocksDB.
OF_A_LATER_VERSION = dict(refuses=r"(?s)9\.7\.4.*7\.8|7\.8.*9\.7\.4", says={"advise": r"9\.7\.4"},
                          quotes="Corruption: Corrupt or unsupported format_version: 6",
                          codes=NEWER | {"advise": FAILS}, **CLOSED)
ROWS = {
    "npm617": Row("npm617", codes=NPM617, says=BUILTIN),
    "npm617_gone": Row("npm617", options="gone", codes=NPM617, says=BUILTIN),
    "npm617_relative": Row("npm617", options="relative", codes=NPM617, says=BUILTIN),
    "npm617_linked": Row("npm617", copy="linked", codes=NPM617, by_library=False),
    "npm617_symlink": Row("npm617", copy="symlink", codes=NPM617),
    "npm617_read_only": Row("npm617", copy="read-only", codes=NPM617),
    "npm97": Row("npm97", **(OF_A_LATER_VERSION if ROCKSDB < (9, 7) else {"codes": ADVICE})),
    "leveldb": Row("leveldb", refuses="OPTIONS", says=WITHOUT_PROPERTIES, codes=LEVELDB,
                   by_library=False),
    "classic_level": Row("classic-level", refuses="OPTIONS", says=WITHOUT_PROPERTIES,
                         quotes="Corruption: force_consistency_checks",
                         codes=LEVELDB | {"scan": {0} if ROCKSDB >= (9, 0) else FAILS, "index": ANY},
                         **CLOSED),
    "capi_bloom": Row("capi-bloom", codes=PROBLEM, says={"check": "bloomfilter"}),
    "capi_ribbon": Row("capi-ribbon", codes=PROBLEM, says={"check": "ribbonfilter"}),
    "capi_bloom_linked": Row("capi-bloom", copy="linked", codes=PROBLEM, by_library=False),
    "myrocks": Row("myrocks", refuses="comparator.*RocksDB_SE|RocksDB_SE.*comparator",
                   codes=FILES_ONLY, **CLOSED),
    "leveldb_zlib": Row("leveldb-zlib", refuses="OPTIONS", codes=LEVELDB | {
        each: FAILS for each in ("inspect", "verify", "files", "scan", "index")},
                        says={"files": "another compression than RocksDB's, as in variants"},
                        quotes="Corruption: force_consistency_checks", **CLOSED),
    "dropped": Row("dropped", codes=ADVICE, says=dict.fromkeys(
        ("inspect", "verify", "check", "advise", "scan"), "names column family gone, which the database does not")),
    "families": Row("families", families=("a",), codes=ADVICE),
    "families_all": Row("families", foreign=("b",), codes=ADVICE),
    "names": Row("names"),
    "stats": Row("stats"),
    "ttl": Row("ttl", reader="ttl", codes=ADVICE),
    "blobs": Row("blobs", codes={"index": {0, 1}}),  # RocksDB before 9.3 cannot tell blobs apart
    "formats": Row("formats"),
    "indexes": Row("indexes"),
    "objects": Row("objects", codes=ADVICE),
    "collector": Row("collector", refuses=r"zoo\.Collector.*drop-properties|"
                     r"drop-properties.*zoo\.Collector", codes=ADVICE),
    "collector_dropped": Row("collector", codes=ADVICE, apply=("--drop-properties",),
                             write=("--drop-properties",)),
    "merge": Row("merge", refuses=r"zoo\.Append" if ROCKSDB < (7, 10) else "",
                 codes=ADVICE | {"scan": FAILS, "index": ANY}, reader="merge", by_library=False),
    "extractor": Row("extractor", refuses=r"zoo\.Extractor", codes=ADVICE),
    "reverse": Row("reverse", refuses="rev:zoo", codes=FILES_ONLY, reader="reverse",
                   by_library=False),
    "plain": Row("plain", refuses="(?i)plain", codes=NO_FILTERS, says=not_filtered("PlainTable"),
                 reader="plain", by_library=False),
    "cuckoo": Row("cuckoo", refuses="(?i)cuckoo", codes=NO_FILTERS, says=not_filtered("CuckooTable"),
                  reader="cuckoo", by_library=False),
    "paths": Row("paths", refuses="--data-dir", refused_by="rewrite",
                 codes=NEWER | {"advise": ANY, "files": {0}}, says={"inspect": "--data-dir"},
                 reader="paths", by_library=False),
    "paths_named": Row("paths", arguments=DIRS, codes=ADVICE, reader="paths", by_library=False),
    "waldir": Row("waldir", refuses="--wal-dir", refused_by="rewrite", codes=ADVICE,
                  reader="waldir", by_library=False),
    "waldir_named": Row("waldir", options="copy", write=("--wal-dir", "@wal@"), codes=ADVICE,
                        reader="waldir", by_library=False),
    "waldir_relative": Row("waldir", options="relative", refuses="--wal-dir", refused_by="rewrite",
                           codes=ADVICE | {"scan": {0, 1}}, by_library=False, reader="waldir",
                           says=dict.fromkeys(("inspect", "check", "scan"), "is relative to the program")),
    "waldir_checkpoint": Row("waldir", "with-wal", refuses="--wal-dir", refused_by="rewrite",
                             codes=ADVICE),
    "waldir_checkpoint_gone": Row("waldir", "with-wal", options="gone", refuses="--wal-dir",
                                  refused_by="rewrite", codes=ADVICE),
    "waldir_checkpoint_own": Row("waldir", "with-wal", write=("--wal-dir", "none"), codes=ADVICE),
    "waldir_flushed_gone": Row("waldir", "flushed", options="gone", write=("--wal-dir", "none"),
                               codes=ADVICE),
    # The rows in the WAL are elsewhere, and every subcommand says so.
    "waldir_moved": Row("waldir", options="gone", refuses="--wal-dir", refused_by="rewrite",
                        codes=ADVICE | {"scan": {0, 1}}, by_library=False, reader="waldir",
                        says=dict.fromkeys(("inspect", "verify", "check", "advise", "scan"),
                                           "gone/wal, which does not exist; .* rows may be")),
}


@functools.cache
def archive_of(name):
    """The path of an archive, and the rows of its databases by name and column family."""
    if LONG:
        archive = make.tools() / f"{name}.tar.xz"
        lines = make.make(name, archive)
    else:
        archive, lines = HERE / f"{name}.tar.xz", (HERE / "rows.tsv").read_text().splitlines()
    rows = {}
    for database, family, count, digest in (line.rstrip("\n").split("\t") for line in lines):
        rows.setdefault(database, {})[family] = int(count), digest
    return archive, rows


def state_of(directory):
    """All that a program could change in a directory."""
    directory = directory.resolve()
    states = {".": directory.stat().st_mtime_ns}
    for path in directory.rglob("*"):
        status = path.lstat()
        contents = hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b""
        states[str(path.relative_to(directory))] = status.st_mode, status.st_mtime_ns, contents
    return states


class ZooTest(CommandTest):
    def unpack(self, row, directory):
        archive, rows = archive_of(row.archive)
        self.original = directory / "original"
        self.rows = rows[f"{row.archive}/{row.db}"]
        shutil.unpack_archive(archive, self.original)
        named = "." if row.options == "relative" else str(directory / row.options)
        for path in make.texts(self.original):
            path.write_text(path.read_text().replace("@DIR@", named))

    def copy_original(self, row, copy):
        """The database of the copy is self.db."""
        shutil.copytree(self.original, copy,
                        copy_function=os.link if row.copy == "linked" else shutil.copy2)
        if row.copy == "symlink":
            copy.rename(copy.with_suffix(".real"))
            copy.symlink_to(copy.with_suffix(".real"))
        if row.copy == "read-only":
            subprocess.run(["chmod", "-R", "a-w", copy], check=True)
            self.addCleanup(subprocess.run, ["chmod", "-R", "u+w", copy], check=True)
        self.db = copy / row.db

    def assert_unchanged(self, directory, before):
        after = state_of(directory)
        self.assertEqual([name for name in sorted(before.keys() | after.keys())
                          if before.get(name) != after.get(name)], [], "names of what was changed")

    def call(self, row, subcommand, *arguments, codes=frozenset({0})):
        """Runs a subcommand; returns all that it printed."""
        words = [re.sub("@(.*)@", lambda name: str(self.db.with_name(name[1])), str(word))
                 for word in (*subcommand.split(), *arguments)]
        done = run(*words)
        text = done.out.decode(errors="replace") + done.err
        self.assertIn(done.code, codes, f"{words}\n{text[-2000:]}")
        self.assertNotRegex(re.sub(row.quotes or "$", "", text), UNTRUE)
        self.code = done.code
        return text

    def on_db(self, row, subcommand, *arguments, **options):
        return self.call(row, subcommand, "--db", self.db, *arguments, *row.arguments, **options)

    def read(self, row):
        """Every subcommand that only reads."""
        calls = {"inspect": "inspect", "verify": "verify", "check": "check", "advise": "advise",
                 "scan": "scan --where TRUE --limit 9",
                 "alarm": "inspect --fail-if without-filter --format prometheus"}
        for name, call in calls.items():
            with self.subTest(call=name):
                text = self.on_db(row, call, codes=row.codes.get(name, {0}))
                self.assertRegex(text, row.says.get(name, "(?s:.)"))
        with self.subTest(call="steps"):
            text = self.on_db(row, "advise --wasted-reads 0.001 --block-cache 0", codes=row.codes.get("advise", {0}))
            can_rewrite = "cannot be rewritten" not in text
            for name, rest in re.findall("(?m)^(?:To set them:)? *blocksieve (enable|apply|rewrite) (.*)", text):
                if name != "rewrite":
                    self.call(row, name, *shlex.split(rest), "--dry-run", *row.arguments)
                elif can_rewrite:  # once options are set
                    done = self.call(row, name, *shlex.split(rest), "--dry-run", *row.arguments, codes={0, 1})
                    self.assertTrue(self.code == 0 or "set one with blocksieve enable" in done, done)
        for table in sorted([*self.db.glob("*.sst"), *self.db.glob("*.ldb")])[-4:]:
            for call in ("inspect", "verify"):
                with self.subTest(call=f"{call} {table.name}"):
                    text = self.call(row, call, table, codes=row.codes.get("files", {0}))
                    self.assertRegex(text, row.says.get("files", "(?s:.)"))
        if (self.db / "LOG").exists():
            with self.subTest(call="log"):
                self.call(row, "advise --log", self.db / "LOG", codes=row.codes.get("log", {0, 1}))

    def check_rows(self, row, by_owner=LONG):
        """The command, RocksDB and, in the long form, the owner read the rows that were written."""
        for family in self.rows if row.codes.get("scan", {0}) == {0} else ():
            text = self.on_db(row, "scan --where TRUE --format json", "--column-family", family)
            rows = [" ".join(pair.get(f"{part}_hex") or pair[part].encode().hex()
                             for part in ("key", "value")).upper()
                    for pair in map(json.loads, re.findall("(?m)^{.*}$", text))]
            if row.archive == "ttl":  # which adds the time to values
                rows = [re.sub("(?<=64656661756C74)........$", "", each) for each in rows]
            self.assertEqual((len(rows), make.hash_of(rows)), self.rows[family], family)
        for reader in filter(None, {row.reader, row.archive if by_owner else ""}):
            self.assertEqual(make.rows_of(reader, self.db), self.rows)

    def filters(self, row):
        """By family: origins of filters, and number of keys without one."""
        found = {}
        text = self.on_db(row, "inspect --format json")
        for file in json.loads(re.search("(?m)^{.*}$", text)[0])["files"]:
            origins, unfiltered = found.setdefault(file["family"], ([], []))
            origins.append(file["filter"]["origin"])
            unfiltered.append(file["num_keys"] * (origins[-1] == "none"))
        return {family: (set(origins), sum(keys)) for family, (origins, keys) in found.items()}

    def kept(self):
        return sorted(KEPT.findall(self.options_file().read_text()))

    def adopt_and_revert(self, row):
        chosen = [word for family in row.families for word in ("--column-family", family)]
        before, kept = self.filters(row), self.kept()
        self.on_db(row, "apply", "--option", POLICY, *chosen, *row.apply)
        self.on_db(row, "rewrite", *chosen, *row.write)
        rewritten = self.filters(row)
        for family in row.families or self.rows:
            self.assertEqual(rewritten[family][0], {"blocksieve"}, family)
        self.on_db(row, "verify")
        self.check_rows(row)
        self.on_db(row, "revert", *chosen, *row.write)
        for family, (origins, unfiltered) in self.filters(row).items():
            if family not in row.foreign:
                self.assertNotIn("blocksieve", origins, family)
            self.assertLessEqual(unfiltered, before.get(family, (None, 0))[1], family)
        self.assertEqual(self.kept(), kept)
        self.check_rows(row)

    def refuse(self, row):
        for step in (("apply", "--option", POLICY, *row.apply), ("rewrite",), ("revert",)):
            with self.subTest(call=step[0]):
                (self.db / "LOCK").touch()
                before = state_of(self.db)
                refuses = step[0] == row.refused_by
                text = self.on_db(row, *step, codes=FAILS if refuses else ANY)
                if refuses:
                    self.assertRegex(text, row.refuses)
                if refuses or row.refused_by == "apply":
                    self.assert_unchanged(self.db, before)
                self.check_rows(row)

    def index(self, row):
        """A condition on the last field, which is the same in all rows, finds them all."""
        text = self.on_db(row, "scan --where TRUE --limit 1", codes=row.codes.get("scan", {0}))
        fields = text.split("\t")[1:] if self.code == 0 else [""]
        self.on_db(row, "index", "--index", f"last=field:{len(fields)}",
                   codes=row.codes.get("index", {0}))
        if self.code == 0 and row.codes.get("scan", {0}) == {0}:
            last = re.match("[a-z]*", fields[-1])[0]
            count = self.on_db(row, "scan --count", "--where", f"last = '{last}'")
            self.assertEqual(re.findall(r"(?m)^\d+$", count), [str(self.rows["default"][0])])

    def use_library(self, row):
        if row.by_library:
            done = subprocess.run([make.OWNER, "blocksieve", self.db.parent, self.db.name],
                                  capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            # Its tables are of this RocksDB, which the owner may be too old to read.
            self.check_rows(row, by_owner=False)

    def check(self, row):
        if ROCKSDB >= (11, 0) and row.archive in ("leveldb", "classic-level", "formats"):
            self.skipTest("RocksDB 11 reads no tables of format version 0")
        steps = [self.read]
        if row.copy != "read-only":
            steps += [self.refuse if row.refuses else self.adopt_and_revert, self.index,
                      self.use_library]
        for step in steps:
            directory = self.dir / step.__name__
            self.unpack(row, directory)
            original = state_of(self.original)
            self.copy_original(row, directory / "copy")
            copy = state_of(self.db.parent)
            with self.subTest(step=step.__name__):
                step(row)
                if step == self.read:
                    self.assert_unchanged(self.db.parent, copy)
            with self.subTest(step=step.__name__, of="the original"):
                self.assert_unchanged(self.original, original)

    def test_options(self):
        """The first line of an OPTIONS file says how check ends, and what it prints."""
        for path in sorted((HERE / "options").iterdir()):
            with self.subTest(path.name):
                code, said = re.match(r"# (\S+): (.*?)\r?\n", path.read_bytes().decode()).groups()
                done = run("check", "--options-file", path)
                text = done.out.decode() + done.err
                self.assertRegex(str(done.code), code, text)
                self.assertRegex(text, said)


for row_name, each_row in ROWS.items():
    setattr(ZooTest, f"test_{row_name}", functools.partialmethod(ZooTest.check, each_row))


if __name__ == "__main__":
    unittest.main()
