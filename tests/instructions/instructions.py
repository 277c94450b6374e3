# SPDX-License-Identifier: Apache-2.0
"""usage: instructions.py [--record] COMPILER PROGRAM

Counts the instructions of each operation of PROGRAM, by valgrind, and compares them with the record
for COMPILER and the C library. Fails if one grew by more than 3 %. Without such a record, prints
them. --record writes it; figures within 3 % stay, so that small losses cannot add up unseen.

Counts do not depend on the processor: valgrind shows programs one of its own, with AVX2, by which
the C library and zstd choose their functions. They depend on the versions of these.
"""

import collections
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

LIMIT = 0.03  # change of a figure that passes
SKIPPED = 77
KERNELS = ("AVX2", "scalar")
FILTERS = tuple(f"{kind} {kernel}" for kernel in KERNELS for kind in ("bloom", "ribbon"))
HEADER = f"# Instructions: {', '.join(FILTERS)}; of indexes: {', '.join(KERNELS)}\n"
TO_RECORD = "To record in a commit that names the cause: cmake --build build -t record_instructions"


def count(program):
    """The instructions of each operation, by its name: a list with one figure for each column."""
    found = collections.defaultdict(list)
    for kernel in KERNELS:
        with tempfile.NamedTemporaryFile("r") as out:
            # Without --skip-plt=no, callgrind's totals are wrong after resets. Variables are on the
            # stack, whose alignment changes counts a little.
            options = ("--skip-plt=no", "--combine-dumps=yes", f"--callgrind-out-file={out.name}")
            command = ("valgrind", "--quiet", "--tool=callgrind", *options, program)
            kernels = {"BLOCKSIEVE_KERNEL": kernel.lower(), "LD_BIND_NOW": "1"}
            subprocess.run(command, check=True, env=kernels | {"PATH": os.defpath})
            dump = r"^desc: Trigger: Client Request: ([^\n]+) / (\d+)$.*?^totals: (\d+)$"
            text = pathlib.Path(out.name).read_text()
        for name, times, total in re.findall(dump, text, re.MULTILINE | re.DOTALL):
            found[name].append(round(int(total) / int(times), 1))
    return found


def main():
    *options, compiler, program = sys.argv[1:]
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text():
        return SKIPPED
    found = count(program)
    record = pathlib.Path(__file__).with_name(f"{compiler}-{'-'.join(platform.libc_ver())}.txt")
    recorded = {}
    for line in record.read_text().splitlines()[1:] if record.exists() else ():
        recorded[line[:40].strip()] = [float(each) for each in line[40:].split()]
    slower = [f"{name}: not in both program and record" for name in recorded.keys() ^ found.keys()]
    faster, kept = [], {}
    for name, figures in found.items():
        kept[name] = list(figures)
        columns = FILTERS if len(figures) == len(FILTERS) else KERNELS
        for i, (figure, old) in enumerate(zip(figures, recorded.get(name, ()))):
            if abs(figure / old - 1) <= LIMIT:
                kept[name][i] = old
                continue
            change = f"{figure}, {figure / old - 1:+.1%} from the recorded {old}"
            (slower if figure > old else faster).append(f"{name}, {columns[i]}: {change}")
    rows = (f"{name:40}" + "".join(f"{each:10.1f}" for each in row) for name, row in kept.items())
    if options == ["--record"]:
        record.write_text(HEADER + "\n".join(rows) + "\n")
        return 0
    if not record.exists():
        print(f"{record} does not exist; counted were", *rows, sep="\n")
        return 0
    if faster:
        print("Faster, please record it:", *faster, sep="\n  ")
    if slower:
        print("More than 3 % slower than recorded:", *slower, sep="\n  ")
    print(TO_RECORD)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
