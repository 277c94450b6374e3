# SPDX-License-Identifier: Apache-2.0
"""Every step that advise and inspect print can be taken, whatever the state of the database."""

import json
import re
import shlex

from command import CommandTest

RUNS = ("2:20000", "1:3000", "0:1000")
SEEKS = ("--seek-fraction", 0.3)
LEFT_OUT = "{id=blocksieve;wasted_reads=20}"  # no filters by choice


class StepsTest(CommandTest):
    def bring_about(self, action):
        """A step of an operator, or of a program without the plug-in."""
        if action in ("none", "bloomfilter:10", LEFT_OUT):
            self.build_runs(RUNS, action)
        elif action == "compact without the plug-in":
            self.ldb("compact")
        elif action == "family":
            self.add_column_family()
        else:
            command, *arguments = action.split()
            self.succeed(command, "--db", self.db, *arguments)

    def take(self, text):
        """Takes all printed steps but the way back; returns their subcommands."""
        commands = [shlex.split(line)[1:] for line in re.findall(r"(?m)^ *(blocksieve .*)$", text)]
        commands = [command for command in commands if command[0] != "revert"]
        for command in commands:
            self.succeed(*command)
        return [command[0] for command in commands]

    def advise(self, *arguments):
        return self.text_of("advise", "--db", self.db, "--block-cache", 0, *arguments)

    def test_states(self):
        apply = "apply --option filter_policy=blocksieve:0.01"
        ranges = "apply --option filter_policy={id=blocksieve;ranges=true}"
        # Actions; whether files lack filters that they should have; arguments of advise.
        for actions, lacks_filters, arguments in self.each((
                (("none",), False, ()),
                ((LEFT_OUT,), False, ()),
                (("bloomfilter:10", "family"), False, ()),
                (("bloomfilter:10",), False, SEEKS),
                (("none",), False, (*SEEKS, "--prefixes", "lengths:4")),
                (("bloomfilter:10",), False, ("--wasted-reads", 0.001)),
                (("none", apply), True, ()),
                (("bloomfilter:10", apply), False, ()),
                (("none", apply, "rewrite --level 2"), True, ()),
                (("none", "family", apply + " --column-family default", "rewrite"), False, ()),
                (("bloomfilter:10", apply, "rewrite", "compact without the plug-in"), True, ()),
                (("bloomfilter:10", ranges, "rewrite", "compact without the plug-in"), True, SEEKS))):
            with self.subTest(actions=actions, arguments=arguments):
                for action in actions:
                    self.bring_about(action)
                self.assertEqual(self.inspect()["files_without_plugin"] != 0, lacks_filters)
                taken = self.take(self.text_of("inspect", "--db", self.db))
                self.assertEqual("rewrite" in taken, lacks_filters)
                self.assertEqual(self.inspect()["files_without_plugin"], 0)
                # The options are set once.
                taken = self.take(self.advise(*arguments))
                text = self.advise(*arguments)
                self.assertNotIn("Set these options", text)
                self.assertNotIn("enable", self.take(text))
                if taken:
                    said = self.text_of("rewrite", "--db", self.db, "--dry-run")
                    self.assertIn("0 files with 0 bytes would be rewritten", said)


class StockKindTest(CommandTest):
    """kind=stock, from advice to the result: RocksDB's own filters with blocksieve's rates by level."""

    RUNS = ("3:60000", "2:16000", "1:4000", "0:2000")

    def reads(self):
        """Wasted reads per lookup of an absent key."""
        return json.loads(self.level_tree("measure", "200000"))["wasted_reads_absent"] / 200_000

    def rewrite(self, *arguments):
        return self.json_of("rewrite", "--db", self.db, *arguments)

    def test_advice_is_kept_and_rewriting_comes_to_rest(self):
        for before in self.each(("blocksieve:0.01", "none")):
            self.build_runs(self.RUNS, before)
            advice = self.json_of("advise", "--db", self.db)
            proposal = advice["stock"]
            self.assertRegex(proposal["option"], r"bits_per_key=[\d.]+;kind=stock\}$")
            self.assertEqual(self.apply(proposal["option"].removeprefix("filter_policy=")), "")
            # Also files with better filters, which do not work in RocksDB alone.
            self.assertGreaterEqual(self.rewrite()["files_rewritten"], len(self.RUNS))
            self.assertEqual(self.rewrite("--dry-run")["files"], [])
            files = self.inspect()["files"]
            self.assertLessEqual({file["filter"]["origin"] for file in files}, {"stock", "none"})
            self.assertAlmostEqual(self.reads() / proposal["wasted_reads_absent"], 1, delta=0.1)
            num_bytes = sum(file["filter"]["num_bytes"] for file in files)
            # Rewriting gives level 0 a Ribbon filter, which is smaller.
            self.assertAlmostEqual(num_bytes / proposal["filter_bytes"], 1, delta=0.03)
            self.assertEqual(self.json_of("check", "--db", self.db)["problems"], [])
            self.verify()
