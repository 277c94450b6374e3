# SPDX-License-Identifier: Apache-2.0
"""Output that is no text, what commands that only read change, and permissions."""

import json
import os
import shutil

from command import PROGRAM, TIMEOUT_SECONDS, CommandTest, run


class OutputBytesTest(CommandTest):
    def test_json_of_what_is_no_utf8(self):
        texts = [b"plain", "é日𝄞".encode(), b"\0\x01\x7f", b"quote\" back\\slash", b"\xff",
                 b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"a\x80",
                 b"\xf0\x8f\xbf\xbf", b"\xe0\x9f\xbf", b"\xf4\x8f\xbf\xbf", b"\xef\xbf\xbf"]
        self.load([(b"%02d" % i + text, text) for i, text in enumerate(texts)])
        done = self.succeed("scan", "--db", self.db, "--format", "json")
        for line, text in zip(done.out.splitlines(), texts, strict=True):
            row = json.loads(line)
            try:
                self.assertEqual(row["value"], text.decode())
                self.assertIn("key", row)
            except UnicodeDecodeError:
                self.fail(f"{text} is no UTF-8")
            except KeyError:
                self.assertEqual(bytes.fromhex(row["value_hex"]), text)
                self.assertEqual(bytes.fromhex(row["key_hex"])[2:], text)
                with self.assertRaises(UnicodeDecodeError):
                    text.decode()


class OutputReadingTest(CommandTest):
    """Common behavior of commands that only read."""

    COMMANDS = (("scan",), ("scan", "--explain", "--count"), ("inspect",), ("verify",), ("check",),
                ("advise",), ("advise", "--seek-fraction", "0.5"), ("rewrite", "--dry-run"),
                ("revert", "--dry-run"), ("apply", "--dry-run", "--option",
                                          "filter_policy=blocksieve:0.001"))

    def test_changes_no_file(self):
        self.load([(f"{i:05}", i) for i in range(2000)], "--index", "n=int:1")
        before = self.files_of_database()
        self.db.chmod(0o500)
        self.addCleanup(self.db.chmod, 0o700)
        for command in self.COMMANDS:
            self.succeed(*command, "--db", self.db)
            self.assertEqual(self.files_of_database(), before, command)

    def test_another_process_may_have_the_database(self):
        self.load([(f"{i:05}", i) for i in range(2000)], "--index", "n=int:1")
        process = self.open_in_another_process()
        for command in (*self.COMMANDS, ("index", "--index", "v=value")):
            self.succeed(*command, "--db", self.db)
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT_SECONDS), 0)


class OutputPermissionsTest(CommandTest):
    """errno decides what is said."""

    def permissions(self, path, directory, files):
        """Changes them until the end of the test."""
        for each, mode in ((path, directory), *((file, files) for file in path.iterdir())):
            self.addCleanup(each.chmod, each.stat().st_mode)
            each.chmod(mode)

    def test_denied(self):
        self.dir.chmod(0o755)
        self.load([("a", 1)])
        sieve = self.dir / "sieve"
        self.succeed("sieve", "--db", sieve, "push", "-", stdin=b"http://example.org\n")
        hidden = self.dir / "hidden"
        shutil.copytree(self.db, hidden)
        hidden_sieve = self.dir / "hidden_sieve"
        shutil.copytree(sieve, hidden_sieve)
        self.permissions(self.db, 0o555, 0o444)
        self.permissions(sieve, 0o555, 0o444)
        for path in (hidden, hidden_sieve):
            self.addCleanup(path.chmod, 0o755)
            path.chmod(0)
        # Root has every permission.
        nobody = {"user": 65534, "group": 65534, "extra_groups": ()} if os.geteuid() == 0 else {}
        # The build may be below a directory that only its owner enters.
        program = shutil.copy(PROGRAM, self.dir)
        for path, *command in ((self.db, "apply", "--option", "filter_policy=blocksieve:0.01"),
                               (self.db, "revert"), (self.db, "rewrite"),
                               (self.db, "load", "--key", 1, "-"),
                               (sieve, "pop", "1"), (hidden, "inspect"), (hidden, "apply", "--option", "x=y"),
                               (hidden_sieve, "stats"), (hidden_sieve, "push", "-")):
            name, *rest = command
            steps = ("sieve", "--db", path, *command) if "sieve" in path.name else (name, "--db", path, *rest)
            done = run(*steps, program=program, **nobody)
            with self.subTest(steps):
                self.assertEqual(done.code, 1)
                self.assertIn("Permission denied", done.err)
                for wrong in ("in use", "not a ", "no such", "does not exist"):
                    self.assertNotIn(wrong, done.err)
