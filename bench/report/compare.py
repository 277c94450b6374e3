# SPDX-License-Identifier: Apache-2.0
"""usage: bench/run compare BASE [ROUNDS]

Builds the benchmark of filters of commit BASE in build/compare, runs it and this tree's in turns, 5
rounds unless given, and prints medians, and those of ratios: building, probing, opening, memory.
Stock filters, the same in both, show the noise. "-": not measured by that commit.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from bench.report.tables import Table, aligned

ROOT = pathlib.Path(__file__).parents[2]
TIMES = "Time per key, or opened filter, ns"
COMPARED = (TIMES, "Bits per key", "FPR", "Bytes of an open filter", "Bytes per key to build")


def run(*command):
    return subprocess.run(command, check=True, cwd=ROOT)


def checked_out(commit):
    parse = ("git", "rev-parse", f"{commit}^{{commit}}")
    tree = ROOT / "build/compare" / subprocess.check_output(parse, cwd=ROOT, text=True).strip()
    if not tree.exists():
        run("git", "worktree", "prune")
        run("git", "worktree", "add", "--quiet", "--detach", tree, commit)
    return tree


def measure(tree):
    """The results that users notice, by operation, filter and number of keys."""
    with tempfile.TemporaryDirectory() as out:
        run(tree / "build/bench/filter_bench", "--quick", "--out", out)
        document = json.loads(pathlib.Path(out, "filters.json").read_text())
    return {f"{table['caption']}; {line['name']}, {cell['column']}": cell["value"]
            for table in document["tables"] if table["caption"] in COMPARED
            for line in table["lines"] for cell in line["cells"]}


def main(commit, rounds="5"):
    trees = [checked_out(commit), ROOT]
    for tree in trees:
        run(tree / ".ci/prepare", "--packages=build,bench", "filter_bench")
    base, ours = runs = [], []
    for turn in range(int(rounds)):
        for i in (turn % 2, 1 - turn % 2):
            runs[i].append(measure(trees[i]))
    rows = []
    for name in sorted(base[0].keys() | ours[0].keys()):
        sides = [[each[name] for each in side if name in each] for side in runs]
        figures = (*sides, [new / old for old, new in zip(*sides)])
        rows.append([name, *(f"{statistics.median(f):.4g}" if f else "-" for f in figures)])
    headers = ("Operation; filter", commit, "this tree", "ratio")
    print(aligned(Table("", headers, rows)))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (TypeError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"{__doc__}\n{error}")
