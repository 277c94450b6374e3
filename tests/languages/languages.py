# SPDX-License-Identifier: Apache-2.0
"""usage: languages.py LANGUAGE [PREFIX...]

Builds and runs the program of a language in integration/embedding, by the commands of its page;
what the page quotes must be part of it. It must fill a database, read one that the program in C
filled, fill one that this one reads, and report a wrong option. PREFIX precedes the command, as
valgrind does; if it is "preloaded", only LD_PRELOAD names the plug-in. Exits with 77, skipped, if
the language or PREFIX is not installed.

PLUGIN in the environment is the path of the plug-in; compilers and the loader find all libraries.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "integration" / "embedding"
OUTPUT = r"found (\d+) keys; filters answered (\d+) of 100000 absent ones\n"
WRONG = "blocksieve: option target_fpr is 0.9; allowed: 1e-07 to 0.5"


def need(tool):
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed")
        sys.exit(77)


def blocks_of(language):
    """The blocks of code that the page has for a language; the first one has the commands."""
    page = (PROGRAMS / "languages.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {language}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)[1]
    return re.findall(r"^```\w+\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


def build(language, directory):
    """Builds the program of a language in a new directory. Returns the command that runs it."""
    blocks = blocks_of(language)
    *compilations, run = blocks[0].splitlines()
    need(re.search(r"\b(cc|go|rustc|python3)\b", blocks[0])[0])
    name = re.search(r"filters[.]\w+", blocks[0])[0]
    program = (PROGRAMS / name).read_text(encoding="utf-8")
    for quoted in blocks[1:]:
        assert quoted in program, f"{name} lacks lines that the page shows"
    assert program.count("\n") <= 55, f"{name} has more than 55 lines"
    shutil.copytree(PROGRAMS, directory)
    for compilation in compilations:
        subprocess.run(compilation, shell=True, check=True, cwd=directory)
    return f"cd {directory} && exec PREFIX {run}"


def run(command, db, prefix="", features="target_fpr=0.01"):
    """Runs what `build` returned. Returns the numbers that it prints."""
    environment = dict(os.environ)
    if prefix == "preloaded":
        plugin = pathlib.Path(os.environ["PLUGIN"])
        prefix = f"env LD_PRELOAD={plugin}"
        environment["LD_LIBRARY_PATH"] = environment["LD_LIBRARY_PATH"].replace(str(plugin.parent), "")
    for name, value in (("PREFIX", prefix), ("DIRECTORY", str(db)), ("FILTER", features)):
        command = command.replace(name, value)
    ended = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
    numbers = re.fullmatch(OUTPUT, ended.stdout)
    if ended.returncode != 0 or numbers is None:
        raise RuntimeError(f"{command}: exit code {ended.returncode}\n{ended.stdout}{ended.stderr}")
    print(f"{command}\n{ended.stdout}", end="")
    return int(numbers[1]), int(numbers[2])


def main():
    language, *prefix = sys.argv[1:]
    prefix = " ".join(prefix)
    if prefix and prefix != "preloaded":
        need(prefix.split()[0])
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        program = build(language, work / "program")
        found, answered = run(program, work / "db", prefix)
        assert found == 0 and 98_500 <= answered <= 99_500, (found, answered)
        try:
            run(program, work / "wrong", prefix, "target_fpr=0.9")
            sys.exit("a wrong option is no error")
        except RuntimeError as error:
            assert WRONG in str(error), error
        if prefix:
            return
        in_c = build("C", work / "c")
        run(in_c, work / "db_of_c")
        for reader, db in ((program, "db_of_c"), (in_c, "db")):
            found, answered = run(reader, work / db)
            assert found == 100_000 and 98_500 <= answered <= 99_500, (found, answered)


if __name__ == "__main__":
    main()
