# SPDX-License-Identifier: Apache-2.0
"""usage: node.py   (with node, npm and the network)

Runs the commands of integration/embedding/languages.md for Node: the binding comes from npm's
registry, and the packed plug-in is built for the RocksDB inside. The program must fill a database,
and then look up absent keys with few reads; a wrong option, a missing plug-in and another version
must throw.
"""

import pathlib
import re
import shutil
import subprocess
import tempfile

from languages import PROGRAMS, WRONG, blocks_of


def fails(command, work, expected):
    ended = subprocess.run(command, cwd=work, capture_output=True, text=True)
    assert ended.returncode != 0 and expected in ended.stderr, (command, ended)


def main():
    *installations, run = blocks_of("Node")[0].splitlines()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "blocksieve").symlink_to(PROGRAMS.parents[1])
        (work / "package.json").write_text("{}")
        shutil.copy(PROGRAMS / "filters.js", work)
        for command in installations:
            subprocess.run(command, shell=True, check=True, cwd=work)
        reads = {}
        for policy in ("nullptr", "blocksieve:0.01"):
            command = run.replace("DIRECTORY", policy).replace("FILTER", policy).split()
            for filled in (0, 100_000):
                ended = subprocess.run(command, check=True, cwd=work, capture_output=True, text=True)
                print(policy, ended.stdout, sep=": ", end="")
                expected = rf"found {filled} keys, 0 absent ones; the latter took (\d+) reads\n"
                reads[policy] = int(re.fullmatch(expected, ended.stdout)[1])
        assert 5 * reads["blocksieve:0.01"] < reads["nullptr"], reads
        fails(["node", "filters.js", "wrong", "blocksieve:0.9"], work, WRONG)

        package = work / "node_modules/blocksieve"
        text = (package / "package.json").read_text(encoding="utf-8")
        (package / "package.json").write_text(re.sub(r"12[.]2[.]12", "12.2.11", text))
        fails(["node", "--eval", "require('blocksieve')"], work, "12.2.12; allowed: 12.2.11")
        (package / "package.json").write_text(text)
        (package / "libblocksieve_rocksdb.so").unlink()
        fails(["node", "--eval", "require('blocksieve')"], work, "libblocksieve_rocksdb.so")


if __name__ == "__main__":
    main()
