# SPDX-License-Identifier: Apache-2.0
"""What the command says of wrong input and in its reports: messages.golden, a transcript.

Each section begins in an empty directory. The exit code follows in brackets, unless it is 0, and whether the
failing command changed files. `tests/run --record` renews the file. Other tests compare codes and JSON.
"""

import os
import pathlib
import re
import subprocess

from command import PROGRAM, TIMEOUT_SECONDS, CommandTest

GOLDEN = pathlib.Path(__file__).with_name("messages.golden")
# What differs by machine or by RocksDB; and its own words.
VARYING = ((r"\b\d+\.\d+\.\d+\b", "VERSION"), (r"(?<=-)\d{6}\b|\b\d{6}(?=\.\w)", "NUMBER"),
           (r"(says: ).*", r"\1..."), (r"\nSee: blocksieve.* --help$", " See --help."))


class MessagesTest(CommandTest):
    def run_line(self, line):
        before = self.files_of_database()
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line], cwd=self.db, check=False, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS, stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": f"{self.dir}:{os.environ['PATH']}", "LOGS": str(GOLDEN.with_name("logs"))})
        text = done.stdout.decode(errors="backslashreplace").replace(str(self.dir), "DIR")
        for pattern, name in VARYING:
            text = re.sub(f"(?m){pattern}", name, text)
        self.assertLess(max(map(len, text.splitlines()), default=0), 1200, line)
        if done.returncode != 0:
            text += f"[{done.returncode}{', changes files' * (self.files_of_database() != before)}]\n"
        return text

    def test_messages(self):
        (self.dir / "blocksieve").symlink_to(pathlib.Path(PROGRAM).resolve())
        recorded = ""
        for line in re.findall(r"(?m)^(?:\$ |== ).*", GOLDEN.read_text()):
            if line.startswith("=="):
                self.db = self.dir / line[3:].replace(" ", "_")
                self.db.mkdir()
                recorded += "\n" + line + "\n"
            else:
                recorded += line + "\n" + self.run_line(line[2:])
        if "BLOCKSIEVE_RECORD" in os.environ:
            GOLDEN.write_text(recorded[1:])
        self.assertEqual(recorded[1:], GOLDEN.read_text())
