"""integration/rocksdb/OPTIONS.md lists every option, with the default and range that it has."""

import math
import pathlib
import re

from command import CommandTest, run, subcommands

ROOT = pathlib.Path(__file__).parents[2]
COLUMNS = ("option", "c++", "string", "command", "default", "range", "meaning")
HEADERS = {"": ("include/blocksieve", "integration/rocksdb/include"),
           "toylsm::": ("integration/toylsm/base",), "sieve::": ("integration/sieve",)}
STRINGS = {"filter_policy": ("blocksieve;", "filter_policy={%s}"),
           "skip_index": ("blocksieve.skip_index;columns=v=value;",
                          "table_properties_collectors={{%s}}")}
STRUCT = r"(?s)\nstruct (\w*Options|BloomLayout) \{(.*?)\n\};"
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "": 1}


def rows():
    """The rows of all tables; names in backquotes."""
    for line in (ROOT / "integration/rocksdb/OPTIONS.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|")]
        if line.startswith("| `"):
            yield dict(zip(COLUMNS, (cell.replace("\0", "|") for cell in cells), strict=True))


def number(text):
    """A default as bytes if it has a unit, as a number if it is one, else as text."""
    match = re.fullmatch(r"([0-9.e-]+) ?(KiB|MiB|)", text)
    return text if match is None else float(match[1]) * UNITS[match[2]]


def struct_fields():
    """{(struct, field): default} of all option structs in headers."""
    fields, constants = {}, {}
    for namespace, folders in HEADERS.items():
        for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.h")):
            text = re.sub(r"//.*", "", path.read_text())
            constants.update(re.findall(r"constexpr \w+ (k\w+) = ([^;]+);", text))
            for struct, body in re.findall(STRUCT, text):
                for statement in body.split("static")[0].split(";"):
                    match = re.fullmatch(
                        r"(?:std::function<.*> |[\w:<> ]+[*&]? )(\w+)(?: = (.*))?",
                        " ".join(statement.split()))
                    if match:
                        fields[namespace + struct, match[1]] = match[2] or "none"
    def plain(value):
        value = constants.get(value, value)
        shift = re.fullmatch(r"(\d+) << (\d+)", value)
        if shift:
            return str(int(shift[1]) << int(shift[2]))
        if value in ("std::nullopt", "nullptr", "{}"):
            return "none"
        kind = re.fullmatch(r"\w+::k(Blocked)?(\w+)", value)
        return kind[2].lower() if kind else "by level" if "{." in value else value
    return {field: plain(value) for field, value in fields.items()}


def command_options():
    """{(subcommand, --option): default} from --help."""
    options = {}
    for name in subcommands():
        text = run(name, "--help").out.decode().split("\nOptions:\n")[1].split("\n\n")[0]
        for line in re.findall(r"(?m)^  --.*(?:\n {10}.*)*", text):
            option, value = re.match(r"  (--[\w-]+)(?: (\S+))?", line).groups()
            default = re.search(r"\(default ([^)]*)\)", line)
            options[name, option] = (
                "required" if " REQUIRED" in line else
                default[1] if default else "none" if value else "false")
    return options


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


class OptionsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.fields, self.options = struct_fields(), command_options()
        self.load([("a", 1)], "--index", "v=value")
        self.stored = self.stored_options()

    def stored_options(self):
        """{(id, option): default} as RocksDB writes them into OPTIONS files."""
        text = self.options_file().read_text()
        stored = {}
        for kind, (begin, _) in STRINGS.items():
            written = re.search("{id=" + begin.split(";")[0] + ";([^{}]*)}", text)[1]
            stored.update(((kind, name), value)
                          for name, value in re.findall(r"(\w+)=([^;]*);", written))
        return stored

    def places(self, row):
        """For each option of a row: its number in the row, and (kind, where, name)."""
        for i, option in enumerate(names(row["option"])):
            for struct in names(row["c++"]):
                if (struct, option) in self.fields:
                    yield i, ("c++", struct, option)
            for kind in names(row["string"]):
                yield i, ("string", kind, option)
            given = names(row["command"])
            if len(given) == len(names(row["option"])):
                given = given[i:i + 1]
            for command in given or ([option] if option.startswith("--") else []):
                subcommand, name = command.split() if " " in command else ("", command)
                for known in self.options:
                    if known == (subcommand, name) or (not subcommand and known[1] == name):
                        yield i, ("command", *known)

    def defaults(self):
        """{place: default} of the table; rows that name a subcommand take precedence."""
        table = {}
        for row in sorted(rows(), key=lambda row: " " in row["command"]):
            options, default = names(row["option"]), row["default"]
            each = default.split(", ")
            if len(each) != len(options):
                each = [default] * len(options)
            table.update({place: each[i] for i, place in self.places(row)})
        return table

    def test_all_options_are_listed_with_their_defaults(self):
        real = {("c++", *place): value for place, value in self.fields.items()}
        real |= {("command", *place): value for place, value in self.options.items()}
        table = self.defaults()
        strings = {place for place in table if place[0] == "string"}
        # RocksDB omits options that are not set; the index has columns here.
        real |= {("string", *place): value for place, value in self.stored.items()}
        real |= {place: "none" for place in strings if real.get(place, "none") == "none"}
        real["string", "skip_index", "columns"] = "none"
        self.assertEqual({place: number(value) for place, value in table.items()},
                         {place: number(value) for place, value in real.items()})

    def test_every_variable_of_the_environment_is_listed(self):
        read = {name for folder in ("lib", "integration") for path in (ROOT / folder).rglob("*.cc")
                for name in re.findall(r'getenv\("(\w+)"\)', path.read_text())}
        self.assertEqual(read, {name for row in rows() for name in names(row["option"])
                                if name.isupper()})

    def attempts(self, row):
        """(value, whether it is allowed) at the ends of a row's range."""
        limits = re.fullmatch(r"([0-9.e-]+) to ([0-9.e-]+)", row["range"])
        if limits is None:
            words = row["range"].split(", ") if "," in row["range"] else []
            return [(word, True) for word in words] + [("x", False)] * bool(words)
        texts = (*limits.groups(), row["default"])
        if any(set(text) & set(".e") and text != number(text) for text in texts):
            low, high = map(float, limits.groups())
            beyond = math.nextafter(low, -math.inf), math.nextafter(high, math.inf), "nan"
        else:
            low, high = map(int, limits.groups())
            beyond = low - 1, high + 1
        return [(low, True), (high, True), *((value, False) for value in beyond)]

    def refusal(self, place, value):
        """The refusal of a value, or "" if it is allowed."""
        kind, where, name = place
        if kind == "string":
            begin, option = STRINGS[where]
            done = run("apply", "--db", self.db, "--dry-run", "--option",
                       option % f"id={begin}{name}={value}")
            # "unless": another option is missing, whatever the value.
            pattern = rf"{name} is {re.escape(str(value))}; allowed: (?!.*unless)"
            return done.err if re.search(pattern, done.err) else ""
        options = {"--db": self.dir / "none"} if where != "size" else {}
        options |= {"load": {"--key": 1}, "apply": {"--option": "x"}}.get(where, {})
        if name in ("--range-width", "--prefixes"):
            options["--seek-fraction"] = 0.5
        options[name] = value
        arguments = [text for option in options.items() for text in option]
        steps = {"sieve": ["stats"], "load": [self.dir / "missing"]}
        done = run(where, *arguments, *steps.get(where, []))
        return done.err if f"{name} is {value}; allowed: " in done.err else ""

    def test_ranges_end_where_the_table_says(self):
        tried = set()
        for row in rows():
            for value, is_allowed in self.attempts(row):
                for _, place in self.places(row):
                    if place[0] == "c++":
                        continue
                    with self.subTest(place=place, value=value):
                        said = self.refusal(place, value)
                        self.assertEqual(said == "", is_allowed, said)
                        if not is_allowed and " to " in row["range"]:
                            self.assertIn(row["range"], said)
                        tried.add(place)
        self.assertGreater(len(tried), 30)
