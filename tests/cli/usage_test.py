# SPDX-License-Identifier: Apache-2.0
"""Help, wrong command lines, and blocksieve size, which has no database."""

import json
import math
import os
import pathlib
import platform
import re
import subprocess
from unittest import mock

from command import CommandTest, subcommands


class UsageHelpTest(CommandTest):
    def test_every_subcommand_has_help_with_examples(self):
        self.assertIn("advise", subcommands())
        for arguments in ((), *((name,) for name in subcommands())):
            text = self.text_of(*arguments, "--help")
            self.assertIn("Usage: " + " ".join(("blocksieve", *arguments)), text)
            self.assertIn("Examples:\n  blocksieve ", text)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 120, line)

    def test_unknown_and_unavailable_kernels(self):
        foreign = "avx2" if platform.machine() == "aarch64" else "neon"
        for kernel, problem in (("avx9", "unknown"), (foreign, "not available")):
            with mock.patch.dict(os.environ, BLOCKSIEVE_KERNEL=kernel):
                done = self.succeed("size", "--fpr", 0.1)
            self.assertRegex(done.err, rf"^blocksieve: BLOCKSIEVE_KERNEL={kernel}: {problem}; allowed here: scalar\b.*; "
                             r"\w+ is used\n$")

    def test_version(self):
        self.assertRegex(self.succeed("--version").out,
                         rb"^blocksieve \d+\.\d+\.\d+ \(RocksDB \d+\.\d+\.\d+\)\n$")


def members_of(document, place="", found=None):
    """Names of the members of each object, by its JSON pointer; elements of an array have one."""
    found = {} if found is None else found
    if isinstance(document, dict):
        found.setdefault(place, set()).update(document)
        for name, value in document.items():
            members_of(value, f"{place}/{name}", found)
    elif isinstance(document, list):
        for element in document:
            members_of(element, place + "/*", found)
    return found


class UsageMembersTest(CommandTest):
    """Those of JSON documents, which scripts rely on."""

    EXPECTED = pathlib.Path(__file__).with_name("json_members.json")
    LINES = ("inspect", "inspect FILE", "verify", "check", "index", "scan --count",
             "size --fpr 0.1", "advise --wasted-reads 0.001 --seek-fraction 0.5", "advise --log LOG",
             "apply --option filter_policy=blocksieve:0.0001", "rewrite --dry-run", "rewrite",
             "revert --dry-run", "revert")

    def test_names(self):
        documents = {"load": self.load([(f"k{i:05}", i) for i in range(2000)], "--index", "n=int:1")}
        log = str(self.EXPECTED.with_name("logs") / "rocksdb_9.10.LOG")
        for line in self.LINES:
            paths = {"FILE": self.table(), "LOG": log}
            words = [paths.get(word, word) for word in line.split()]
            has_database = not {"FILE", "LOG", "size"} & set(line.split())
            documents[line] = self.json_of(*words, *(("--db", self.db) if has_database else ()))
        documents["scan --explain"] = self.explain("n = 1")
        documents["sieve stats"] = self.json_of("sieve", "--db", self.dir / "sieve", "push", "/dev/null", "stats")
        for line, document in documents.items():
            self.assertEqual(document["version"], 3, line)
        got = {line: {place: " ".join(sorted(names)) for place, names in members_of(document).items()}
               for line, document in documents.items()}
        self.assertEqual(got.pop("inspect FILE"),
                         got["inspect"] | {"": got["inspect"][""].replace("database engine files", "engine file files")})
        self.assertEqual(got, json.loads(self.EXPECTED.read_text()))


class UsageWrongCommandLinesTest(CommandTest):
    def check(self, message, *arguments):
        said = self.fail_with(2, *arguments)
        self.assertIn(message, said)
        self.assertIn("--help", said)
        self.assertFalse(self.db.exists())

    def test_unknown_words_are_named_in_the_order_typed(self):
        self.assertEqual(self.text_of(), self.text_of("--help"))
        self.check("unknown subcommand: sacn; allowed: load, scan, ", "sacn", "--db", self.db)
        self.check("blocksieve scan: unexpected argument: --exlpain", "scan", "--db", self.db, "--exlpain")
        self.check("unexpected arguments: --limt=5 --revrese", "scan", "--db", self.db, "--limt=5", "--revrese")
        self.check("--db is required; unexpected arguments: --dbb x", "scan", "--dbb", "x")
        self.check("unexpected argument: stat", "sieve", "--db", self.db, "stat")

    def test_errors_as_json(self):
        for arguments, code, command, message in (
                (("scan", "--db", self.db, "--format", "json"), 1, "blocksieve scan", " does not exist"),
                (("scan", "--db", self.db, "--format=json", "--lmit"), 2, "blocksieve scan",
                 "--lmit"),
                (("scna", "--format", "json"), 2, "blocksieve", "scna; allowed: load, scan")):
            document = json.loads(self.fail_with(code, *arguments))
            self.assertEqual(document["version"], 3)
            self.assertEqual(document["error"]["command"], command)
            self.assertEqual(document["error"]["exit_code"], code)
            self.assertIn(message, document["error"]["message"])

    def test_numbers(self):
        whole = "1 to 1125899906842624, a whole number without leading zeros, also as 1e6 or 5M"
        num_bytes = "1 to 1125899906842624 bytes, also as 10kB or 64MiB"
        for option, allowed, numbers, no_numbers in (
                ("--keys", whole, ("1e-6", "10.5", "1.2345k", "1e99", "010", "00"),
                 ("1,000", "1e", "M", "1MM", "1.M", ".5M", "01M", "0x10", "+5", " 5")),
                ("--bytes", num_bytes, ("0", "-1", "1.5B", "99999999999TB", "nan"),
                 ("64XB", "1%", "0,01", "", "010kB")),
                ("--fpr", "1e-07 to 0.5", ("7", "nan", "1e-9"), ("1%", "0,01", "", "x"))):
            for text in (*numbers, *no_numbers):
                shown = text if text.strip() not in ("", "5") else f"'{text}'"
                number = ", not a number" * (text in no_numbers)
                self.check(f"{option} is {shown}{number}; allowed: {allowed}", "size", option, text)
        for text, digits in (("1e6", "1,000,000"), ("1M", "1,000,000"), ("1.5k", "1,500"), ("20k", "20,000"),
                             ("0.5M", "500,000"), ("2G", "2,000,000,000"), ("12e0", "12")):
            self.assertIn(f"{digits} keys at", self.text_of("size", "--fpr", "00.10", "--keys", text))
        for text, digits in (("10kB", "10,000"), ("64MiB", "67,108,864"), ("1.5GB", "1,500,000,000"),
                             ("2k", "2,000"), ("1e3", "1,000"), ("1000B", "1,000"), ("64kb", "64,000"),
                             ("64KiB", "65,536"), ("70000", "70,000")):
            self.assertIn(f"keys in up to {digits} bytes", self.text_of("size", "--bytes", text, "--keys", 1000))

    def test_long_values_are_cut(self):
        """At 80 bytes of value, without splitting a character."""
        for arguments in (("size", "--fpr"), ("size", "--keys"), ("size", "--format"), ("check",),
                          ("revert", "--db", self.db, "--filter-policy"), ("load", "--db", self.db, "--key")):
            said = self.fail_with(2, *arguments, "é" * 300)
            self.assertIn("é" * 40 + "...", said)
            self.assertNotIn("é" * 41, said)

    # Ranges: options_test.py.
    WRONG = (
        ("--db is required", "scan --where TRUE"),
        ("--format is csv; allowed: text, json", "scan --db DB --format csv"),
        ("--key is required", "load --db DB -"),
        ("unexpected argument: y", "load --db DB --key 1 x y"),
        ("--limit is 010; allowed: ", "scan --db DB --limit 010"),
        ("neither --db nor FILE is given; required: one of them", "inspect"),
        ("both --db and FILE are given; required: one of them", "inspect --db DB x.sst"),
        ("neither --db nor --log is given; required: one of them", "advise"),
        ("--memory excludes --wasted-reads", "advise --db DB --memory 100 --wasted-reads 0.1"),
        ("--block-cache is x, not a number; allowed: ", "advise --db DB --block-cache x"),
        ("FILE excludes --column-family", "inspect x.sst --column-family default"),
        ("--range-width requires --seek-fraction", "advise --db DB --range-width 1"),
        ("--prefixes requires --seek-fraction", "advise --db DB --prefixes delimiter:/"),
        ("--prefixes is lengths:0; at byte 8: expected a number from 1 to 65535, found 0",
         "advise --db DB --seek-fraction 1 --prefixes lengths:0"),
        ("--option is required", "apply --db DB"),
        ("subcommand is required", "sieve --db DB"),
        ("N is 0; allowed: 1 to", "sieve --db DB pop 0"),
        ("FILE is required", "sieve --db DB push"),
        ("0 of --fpr, --bits-per-key and --bytes are given; required: exactly one", "size"),
        ("2 of --fpr, --bits-per-key and --bytes are given", "size --fpr 0.1 --bytes 5"),
        ("--fpr requires a value", "size --fpr"),
        ("unexpected argument: inspect", "size --fpr 0.1 inspect"),
        ("neither --db nor --options-file is given", "check"),
        ("excludes", "check --db a --options-file b"),
        ("--delimiter is '::'; allowed: one byte", "load --db DB --key 1 - --delimiter ::"),
        ("--delimiter is '\\n'", r"load --db DB --key 1 - --delimiter \n"),
        ("--delimiter is '\\x0a'; allowed", r"load --db DB --key 1 - --delimiter \x0a"),
        ("column definition 'a', position 1: expected NAME=EXTRACTOR", "load --db DB --key 2 - --index a"),
        ("--index is a=int:3, but its name is already used", "load --db DB --key 2 - --index a=int:1 --index a=int:3"))
    # The reason, not the whole grammar.
    WRONG_INDEXES = (
        ("a=text:1", "position 3: expected field:N, value, fixed(OFFSET,WIDTH), json:/POINTER, "),
        ("a=field:0", "expected a number from 1 to 1000000; found '0'"),
        ("a=int32le:4", "expected '('; found ':4'"), ("a=", "and the like; found the end"))

    def test_empty_paths(self):
        """They would count as not given."""
        for option, *others in (("--db", "scan"), ("--options-file", "check"), ("--copy-from", "index", "--db", self.db),
                                ("FILE", "inspect")):
            named = () if option == "FILE" else (option,)
            self.check(f"{option} is ''; allowed: a path", *others, *named, "")

    def test_of_every_subcommand(self):
        for message, line in self.WRONG:
            with self.subTest(line=line):
                self.check(message, *line.replace("DB", str(self.db)).split())
        self.check("--delimiter is ''; allowed: one byte", *"load --db x --key 1 - --delimiter".split(), "")
        for definition, reason in self.WRONG_INDEXES:
            said = self.fail_with(2, "load", "--db", self.db, "--key", 2, "-", "--index", definition)
            self.assertIn(reason, said)
            self.assertLess(len(said), 280)


class SizeTest(CommandTest):
    def size(self, *arguments):
        layouts = self.json_of("size", *arguments)["layouts"]
        return {layout["kind"]: layout for layout in layouts}

    def test_known_values(self):
        layouts = self.size("--fpr", 0.01, "--keys", 1000000)
        self.assertEqual(list(layouts), ["ribbon", "bloom"])
        self.assertEqual(layouts["bloom"]["num_bytes"], 1242240)
        self.assertEqual(layouts["bloom"]["num_probes"], 6)
        page = pathlib.Path(__file__).parents[2] / "integration/rocksdb/LOOKUPS.md"
        for fpr, *bits in re.findall(r"(?m)^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", page.read_text()):
            with self.subTest(fpr=fpr):
                self.assertEqual(bits, [f"{8e-6 * layout['num_bytes']:.3g}" for layout in self.size("--fpr", fpr).values()])

    def test_what_is_predicted(self):
        for fpr in (0.5, 0.1, 0.01, 0.001, 1e-5, 1e-7):
            for kind, layout in self.size("--fpr", fpr).items():
                with self.subTest(kind=kind, fpr=fpr):
                    predicted = layout["predicted_fpr"]
                    self.assertLessEqual(predicted, fpr)
                    limit = math.log2(1 / predicted)
                    self.assertAlmostEqual(layout["limit_bits_per_key"], limit, places=9)
                    bits = 8 * layout["num_bytes"] / 1e6
                    self.assertAlmostEqual(layout["above_limit"], bits / limit - 1, places=9)
                    self.assertLess(abs(bits - layout["bits_per_key"]), 0.4)
                    self.assertGreater(layout["above_limit"], 0)

    def test_what_does_not_fit(self):
        text = self.text_of("size", "--bits-per-key", 1.2)
        self.assertIn("ribbon", text)
        self.assertIn("bloom: bits_per_key is 1.2; allowed:", text)
        self.assertIn("no kind of filter fits 1,000,000 keys in up to 10 bytes",
                      self.fail_with(2, "size", "--bytes", 10, "--keys", 1000000))


class UsageManualTest(CommandTest):
    def test_is_set_without_a_warning(self):
        page = self.succeed("manual").out
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True,
                              check=True)
        self.assertEqual(done.stderr, b"")
        text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout.decode())
        for part in ("NAME", "SYNOPSIS", "SUBCOMMANDS", "ENVIRONMENT"):
            self.assertRegex(text, f"(?m)^{part}$")
        for name in subcommands():
            self.assertIn(f"Usage: blocksieve {name} ", text)
