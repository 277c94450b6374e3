"""Shell completions and the manual page, which are generated from the options."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from command import PROGRAM, CommandTest, TIMEOUT_SECONDS, subcommands

# Completes the arguments as bash does when TAB is pressed after the last one.
BASH = r"""
source /dev/stdin
shift 0
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMPREPLY=()
compopt() { :; }  # refuses to work outside of a completion
_blocksieve
printf '%s\n' "${COMPREPLY[@]}"
"""


# The scripts ask the command.
PATH = f"{os.path.dirname(os.path.abspath(PROGRAM))}:{os.environ['PATH']}"


class CompletionBashTest(CommandTest):
    def complete(self, *words):
        script = self.succeed("completion", "bash").out
        done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", "blocksieve", *words],
                              input=script, capture_output=True, check=True, cwd=self.dir,
                              env={**os.environ, "PATH": PATH}, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().split("\n")[:-1]

    def test_completes(self):
        (self.dir / "my db").mkdir()
        (self.dir / "my file").touch()
        (self.dir / "urls").touch()
        for words, completed in (
                (("s",), ["scan", "sieve", "size"]), (("adv",), ["advise"]), (("sieve", "p"), ["push", "pop"]),
                (("sieve", "--db", "x", "push", "--"), ["--help"]), (("sieve", "push", "u"), ["urls"]),
                (("sieve", "push", "urls", "pop", "--"), ["--help"]), (("--v",), ["--version"]),
                (("advise", "--m"), ["--memory"]), (("advise", "--db", "scan", "--wasted"), ["--wasted-reads"]),
                (("inspect", "--format", ""), ["text", "json", "prometheus"]),
                (("inspect", "--format", "=", "j"), ["json"]), (("verify", "--format", "="), ["text", "json"]),
                (("completion", ""), ["bash", "zsh"]), (("size", "--keys", ""), [""]),
                (("inspect", "--db", "m"), ["my db"]), (("inspect", "m"), ["my db", "my file"])):
            self.assertEqual(sorted(self.complete(*words)), sorted(completed), words)

    def test_options(self):
        listed = self.complete("verify", "-")
        shown = self.text_of("verify", "--help")
        self.assertIn("--probes", listed)
        for option in listed:
            self.assertIn(option, shown)


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class CompletionZshTest(CommandTest):
    def setUp(self):
        super().setUp()
        (self.dir / "_blocksieve").write_bytes(self.succeed("completion", "zsh").out)

    def complete(self, line):
        """The arguments of a command after TAB was pressed at the end of the line."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {
                "PATH": PATH, "HOME": str(self.dir), "TERM": "dumb"})
        try:
            os.write(terminal, b"fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; "
                               b"blocksieve() { print -r -- \"$*\" >arguments }; print ready''\n")
            self.read_until(terminal, b"ready\r\n")
            # The completion ends first, and reads what was typed meanwhile.
            os.write(terminal, line.encode() + b"\t\nprint done''\n")
            self.read_until(terminal, b"done\r\n")
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)
        return (self.dir / "arguments").read_text().rstrip()

    def read_until(self, terminal, end):
        said = b""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while end not in said:
            left = deadline - time.monotonic()
            self.assertGreater(left, 0, said)
            if select.select([terminal], [], [], left)[0]:
                said += os.read(terminal, 4096)
        return said

    def test_completes(self):
        for line, completed in (
                ("blocksieve adv", "advise"),
                ("blocksieve advise --mem", "advise --memory"),
                ("blocksieve inspect --format js", "inspect --format json"),
                ("blocksieve inspect --format=js", "inspect --format=json"),
                ("blocksieve sieve pus", "sieve push"),
                ("blocksieve completion z", "completion zsh")):
            self.assertEqual(self.complete(line), completed)


class CompletionManualTest(CommandTest):
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
