"""The manual page is well-formed, and has all there is to know."""

import re
import subprocess

from command import CommandTest


class Manual(CommandTest):
    def test_is_set_without_a_warning(self):
        page = self.succeed("manual").out
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True,
                              check=True)
        self.assertEqual(done.stderr, b"")
        text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout.decode())
        for part in ("NAME", "SYNOPSIS", "OPTIONS", "SUBCOMMANDS", "ENVIRONMENT",
                     "EXAMPLES AND EXIT STATUS"):
            self.assertRegex(text, f"(?m)^{part}$")

    def test_has_every_subcommand_option_and_example(self):
        page = self.text_of("manual")
        page = page.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace(
            "\\(ti", "~").replace("\\(dq", '"').replace("\\(ha", "^")
        subcommands = re.findall(r"(?m)^\.SS blocksieve (\w+)$", page)
        self.assertIn("advise", subcommands)
        for subcommand in subcommands:
            section = page.split(f".SS blocksieve {subcommand}\n")[1].split(".SS ")[0]
            text = self.text_of(subcommand, "--help")
            for option in re.findall(r"(?m)^  (?:-h, )?(--[\w-]+)", text):
                self.assertIn(f"\\fB{option}\\fR", section)
            for line in text.split("Examples:\n")[1].splitlines():
                self.assertIn(line.strip(), section)
