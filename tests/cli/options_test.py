# SPDX-License-Identifier: Apache-2.0
"""integration/rocksdb/OPTIONS.md tells the defaults and ranges of options as they are."""

import math
import pathlib
import re

from command import CommandTest, run, subcommands

TABLE = pathlib.Path(__file__).parents[2] / "integration/rocksdb/OPTIONS.md"
COLUMNS = {4: ("option", "default", "range", "meaning"),
           6: ("option", "c++", "command", "default", "range", "meaning")}
STRINGS = {"filter_policy": "filter_policy={id=blocksieve;%s}",
           "table_properties_collectors": "table_properties_collectors={{id=blocksieve.skip_index;columns=v=value;%s}}"}


def rows():
    """The rows of all tables; names in backquotes. With the option string that a section is of."""
    string = ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("## "):
            string = line.removeprefix("## `").split("=")[0]
        cells = [cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|")]
        if line.startswith("| `"):
            yield {"string": string, "command": ""} | dict(
                zip(COLUMNS[len(cells)], (cell.replace("\0", "|") for cell in cells), strict=True))


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def places(row):
    """(subcommand, option) and (kind of string, option) that the row names."""
    options = names(row["option"])
    if row["string"] in STRINGS:
        yield from ((row["string"], option) for option in options)
    for command in names(row["command"]):
        if " " in command:
            yield tuple(command.split())


def attempts(row):
    """(value, whether it is allowed) at the ends of a row's range."""
    limits = re.fullmatch(r"([0-9.e-]+) to ([0-9.e-]+)", row["range"])
    if limits is None:
        words = row["range"].split(", ") if "," in row["range"] else []
        return [(word, True) for word in words] + [("x", False)] * bool(words)
    if any(re.fullmatch(r"[0-9]*[.e][0-9.e-]+", text) for text in (*limits.groups(), row["default"])):
        low, high = map(float, limits.groups())
        return [(low, True), (high, True), (math.nextafter(low, -math.inf), False),
                (math.nextafter(high, math.inf), False), ("nan", False)]
    low, high = map(int, limits.groups())
    return [(low, True), (high, True), (low - 1, False), (high + 1, False)]


class OptionsTest(CommandTest):
    def refusal(self, where, name, value):
        """The refusal of a value, or "" if it is allowed."""
        if where in STRINGS:
            done = run("apply", "--db", self.db, "--dry-run", "--option", STRINGS[where] % f"{name}={value}")
            # "unless": another option is missing, whatever the value.
            pattern = rf"{name} is {re.escape(str(value))}; allowed: (?!.*unless)"
            return done.err if re.search(pattern, done.err) else ""
        options = {} if where == "size" else {"--db": self.dir / "none"}
        options |= {"load": {"--key": 1}, "apply": {"--option": "x"}}.get(where, {})
        if name in ("--range-width", "--prefixes"):
            options["--seek-fraction"] = 0.5
        options[name] = value
        steps = {"sieve": ["stats"], "load": [self.dir / "missing"]}
        done = run(where, *(text for option in options.items() for text in option), *steps.get(where, []))
        return done.err if f"{name} is {value}; allowed: " in done.err else ""

    def test_ranges_end_where_the_table_says(self):
        self.load([("a", 1)], "--index", "v=value")
        tried = set()
        for row in rows():
            for value, is_allowed in attempts(row):
                for place in places(row):
                    with self.subTest(place=place, value=value):
                        said = self.refusal(*place, value)
                        self.assertEqual(said == "", is_allowed, said)
                        if not is_allowed and " to " in row["range"]:
                            self.assertIn(row["range"], said)
                        tried.add(place)
        self.assertGreater(len(tried), 20)

    def test_options_are_those_of_the_help(self):
        text = TABLE.read_text()
        for name in subcommands():
            for option in re.findall(r"(?m)^  (--[\w-]+)", self.text_of(name, "--help")):
                self.assertRegex(text, rf"[` ]{option}`", name)
