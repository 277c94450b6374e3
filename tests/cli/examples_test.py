# SPDX-License-Identifier: Apache-2.0
"""The examples of --help work as printed, and those of the documents print what these show."""

import gzip
import os
import pathlib
import re
import shutil

from command import PROGRAM, CommandTest, run_line, subcommands

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ("README.md", "integration/rocksdb/VALUES.md")


class ExamplesTest(CommandTest):
    def setUp(self):
        super().setUp()
        programs = self.dir / "bin"
        programs.mkdir()
        (programs / "blocksieve").symlink_to(pathlib.Path(PROGRAM).resolve())
        self.add_program("extract_links", "cat")
        for name in ("jq", "man"):
            if shutil.which(name) is None:
                self.add_program(name, "cat")
        self.write_files()

    def add_program(self, name, script):
        path = self.dir / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def write_files(self):
        (self.dir / "paths.tsv").write_text("".join(
            f"/usr/{package}/{i}\t{package}\ta doc of lib {i}\n"
            for package in ("bash", "libc", "dpkg") for i in range(100)))
        (self.dir / "log.csv").write_text("".join(f"{i},x,{i % 7},{10 * i}\n" for i in range(300)))
        with gzip.open(self.dir / "docs.gz", "wt") as docs:
            docs.write("".join(f'{i}\t{{"age": {i}}}\n' for i in range(50)))
        for name in ("LOG", "LOG.old"):
            shutil.copy(pathlib.Path(__file__).parent / "logs/rocksdb_9.10.LOG", self.dir / name)
        for name in ("urls.txt", "pages", "stale.txt"):
            (self.dir / name).write_text(f"http://example.org/\nhttp://example.org/{name}\n")

    def run_line(self, line):
        # File numbers vary.
        for path in re.findall(r"\S+\.db/(?:\d{6}\.sst|OPTIONS-\d{6})", line):
            line = line.replace(path, str(next(self.dir.glob(re.sub(r"\d{6}", "*", path)))))
        done = run_line(line, self.dir, HOME=str(self.dir), PATH=f"{self.dir}/bin:{os.environ['PATH']}")
        text = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, f"{line}\n{text}")
        return text

    def examples_of(self, *subcommand):
        """The examples without the explanations after them."""
        text = self.text_of(*subcommand, "--help")
        examples = text[text.index("Examples:\n"):]
        return [re.split(r" {2,}", line.strip())[0] for line in examples.splitlines()[1:]
                if line.startswith("  ") and "blocksieve" in line]

    def test_help(self):
        lines = [line for name in subcommands() for line in self.examples_of(name)]
        lines += self.examples_of()
        self.assertGreater(len(lines), 30)
        for line in lines:
            with self.subTest(line=line):
                self.run_line(line)

    def test_walks_print_what_the_documents_show(self):
        """All but numbers, which differ by machine and by version of RocksDB, and blanks."""
        def normal(text):
            return " ".join(re.sub(r"\d[\d,.e-]*", "0", text).split())
        for page in PAGES:
            with self.subTest(page=page):
                walk = re.findall(r"^```console\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
                steps = [step.split("\n") for step in re.split(r"^\$ ", "".join(walk), flags=re.MULTILINE)[1:]]
                self.assertGreater(len(steps), 5)
                for line, *expected in steps:
                    printed = iter(map(normal, self.run_line(line).splitlines()))
                    for shown in map(normal, expected):
                        self.assertTrue(shown in ("", "...") or shown in printed, f"{line}\n{shown}")
