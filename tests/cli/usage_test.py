"""Help, and command lines that make no sense."""

import os
import unittest
from unittest import mock

from command import CommandTest


class Help(CommandTest):
    def test_every_subcommand_has_help_with_examples(self):
        for arguments in ((), ("size",), ("load",), ("scan",), ("inspect",), ("verify",),
                          ("advise",), ("sieve",), ("completion",), ("manual",)):
            text = self.succeed(*arguments, "--help").out.decode()
            self.assertIn("Usage: " + " ".join(("blocksieve", *arguments)), text)
            self.assertIn("Examples:\n  blocksieve ", text)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 120, line)

    def test_unknown_kernel(self):
        with mock.patch.dict(os.environ, BLOCKSIEVE_KERNEL="avx9"):
            done = self.succeed("size", "--fpr", 0.1)
        self.assertRegex(done.err, r"^blocksieve: BLOCKSIEVE_KERNEL=avx9: unknown; \w+ is used\n$")

    def test_version(self):
        self.assertRegex(self.succeed("--version").out, rb"^blocksieve \d+\.\d+\.\d+\n$")


class WrongCommandLines(CommandTest):
    def check(self, message, *arguments):
        said = self.fail_with(2, *arguments)
        self.assertIn(message, said)
        self.assertIn("--help", said)
        self.assertFalse(self.db.exists())

    def test_no_or_unknown_subcommand(self):
        self.check("subcommand is required")
        self.check("sift", "sift")
        self.check("--frobnicate", "scan", "--db", self.db, "--frobnicate")

    def test_two_subcommands(self):
        self.check("blocksieve size: The following argument was not expected: inspect",
                   "size", "--fpr", 0.1, "inspect")

    def test_numbers_that_are_not_whole(self):
        for text in ("1e6", "10.5", "1,000"):
            self.check(f"--keys: {text} is not in the range 1 to 1125899906842624 of whole numbers",
                       "size", "--fpr", 0.1, "--keys", text)

    def test_numbers_that_could_be_octal_or_hexadecimal(self):
        for text in ("010", "0x10", "00", "+5", " 5"):
            self.check(f"--keys: {text} is not in the range 1 to 1125899906842624 of whole numbers "
                       "without leading zeros", "size", "--fpr", 0.1, "--keys", text)
        self.check("--bytes: 010kB is not in the range", "size", "--bytes", "010kB")
        self.check("--limit: 010 is not in the range", "scan", "--db", self.db, "--limit", "010")
        self.assertIn(b"10 keys at", self.succeed("size", "--fpr", "00.10", "--keys", "10").out)

    def test_bytes(self):
        for text in ("0", "-1", "1.5GB", "64XB", "99999999999TB", "nan", ""):
            self.check(f"--bytes: {text} is not in the range 1 to 1125899906842624 of bytes, also as "
                       "10kB or 64MiB", "size", "--bytes", text)

    def test_what_is_required(self):
        self.check("--db is required", "scan", "--where", "TRUE")
        self.check("--db is required", "load", "--key", 1, "-")
        self.check("--key is required", "load", "--db", self.db, "-")
        self.check("FILE is missing", "load", "--db", self.db, "--key", 1)

    def test_values_out_of_range(self):
        load = ("load", "--db", self.db, "--index", "a=field:2", "-")
        self.check("--key: 0 is not in the range 1 to 1000000", *load, "--key", 0)
        self.check("--key: two is not in the range", *load, "--key", "two")
        load = (*load, "--key", 1)
        self.check("--granule-rows: 0 is not in the range 1 to", *load, "--granule-rows", 0)
        self.check("--fpr: 1.5 is not in the range 1e-07 to 0.5", *load, "--fpr", 1.5)
        self.check("--fpr: 0 is not in the range", *load, "--fpr", 0)
        self.check("--fpr: nan is not in the range", *load, "--fpr", "nan")
        self.check("--engine: 'leveldb' is unknown; allowed are rocksdb and toylsm", *load, "--engine", "leveldb")
        self.check("--delimiter is '::'; allowed is one byte", *load, "--delimiter", "::")
        self.check("--delimiter is '\\n'", *load, "--delimiter", "\\n")
        self.check("--delimiter is '\\x0a'; allowed", *load, "--delimiter", "\\x0a")
        self.check("--delimiter", *load, "--delimiter", "")
        self.check("--limit: 0 is not in the range 1 to", "scan", "--db", self.db, "--limit", 0)
        self.check("--limit: -1 is not in the range", "scan", "--db", self.db, "--limit", -1)
        self.check("--format: 'csv' is unknown; allowed are text and json", "scan", "--db", self.db,
                   "--format", "csv")

    def test_wrong_indexes(self):
        load = ("load", "--db", self.db, "--key", 2, "-", "--index")
        self.check("column definition 'a' is not NAME=EXTRACTOR", *load, "a")
        self.check("extractors are field:N", *load, "a=fields:1")
        self.check("N from 1 to 1000000", *load, "a=field:0")
        self.check("--index a=field:2: field 2 is the key (--key 2)", *load, "a=field:2")
        self.check("field 2 is the key", *load, "a=words:2")
        self.check("field 2 is the key", *load, "a=int:field(\\t)[;]:2")
        self.check("--index a=int:3: the name is given twice", *load, "a=int:1", "--index", "a=int:3")

    def test_two_files(self):
        self.check("two files are given, x and y", "load", "--db", self.db, "--key", 1, "x", "y")


if __name__ == "__main__":
    unittest.main()
