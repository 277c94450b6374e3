# SPDX-License-Identifier: Apache-2.0
"""What the command prints, and says of wrong input: messages.golden, a transcript.

Each section begins in an empty directory. The exit code follows in brackets, unless it is 0, and whether the
failing command changed files. `tests/run --record` renews the file. Other tests compare codes and JSON.
"""

import concurrent.futures
import os
import pathlib
import re

from command import PROGRAM, CommandTest, files_below, run_line

GOLDEN = pathlib.Path(__file__).with_name("messages.golden")
# What differs by machine or by RocksDB, RocksDB's own words, and what terminals do not show.
VARYING = ((r"\b\d+(\.\d+){2,3}\b", "VERSION"), (r"(?<=-)\d{6}\b|\b\d{6}(?=\.\w)", "NUMBER"),
           (r"(says: |part of it: (?=Could|Extra)).*", r"\1..."), ("CompactForTieringCollector, ", ""),
           (r"(block.bytes\w*\W+)[\d,]+", r"\1N"), (r"\nSee: blocksieve.* --help$", " See --help."),
           (r"[\0-\x08\x0b-\x1f]", lambda byte: f"\\x{ord(byte[0]):02x}"))


class MessagesTest(CommandTest):
    def run_line(self, directory, line):
        before = files_below(directory)
        done = run_line(line, directory, PATH=f"{self.dir}:{os.environ['PATH']}", LOGS=str(GOLDEN.with_name("logs")))
        text = done.stdout.decode(errors="backslashreplace").replace(str(self.dir), "DIR")
        for pattern, name in VARYING:
            text = re.sub(f"(?m){pattern}", name, text)
        self.assertLess(max(map(len, text.splitlines()), default=0), 1200, line)
        if done.returncode != 0:
            text += f"[{done.returncode}{', changes files' * (files_below(directory) != before)}]\n"
        return f"$ {line}\n{text}"

    def run_section(self, section):
        title, *rest = section.split("\n")
        directory = self.dir / title.replace(" ", "_")
        directory.mkdir()
        return f"== {title}\n" + "".join(self.run_line(directory, line[2:]) for line in rest if line.startswith("$ "))

    def test_messages(self):
        (self.dir / "blocksieve").symlink_to(pathlib.Path(PROGRAM).resolve())
        sections = re.split(r"(?m)^== ", GOLDEN.read_text())[1:]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            printed = "\n".join(pool.map(self.run_section, sections))
        if "BLOCKSIEVE_RECORD" in os.environ:
            GOLDEN.write_text(printed)
        self.assertEqual(printed, GOLDEN.read_text())
