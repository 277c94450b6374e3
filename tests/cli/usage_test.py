# SPDX-License-Identifier: Apache-2.0
"""Help, wrong command lines, and blocksieve size, which has no database."""

import json
import os
import pathlib
import platform
import re
import subprocess
from unittest import mock

from command import CommandTest, subcommands


class UsageHelpTest(CommandTest):
    def test_every_subcommand_has_help_with_examples(self):
        self.assertEqual(self.text_of(), self.text_of("--help"))
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


class SizeTest(CommandTest):
    def test_sizes_are_as_documented(self):
        page = pathlib.Path(__file__).parents[2] / "integration/rocksdb/LOOKUPS.md"
        for fpr, *bits in re.findall(r"(?m)^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", page.read_text()):
            with self.subTest(fpr=fpr):
                layouts = self.json_of("size", "--fpr", fpr)["layouts"]
                self.assertEqual(bits, [f"{8e-6 * layout['num_bytes']:.3g}" for layout in layouts])


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
