#!/usr/bin/python3 -B
"""Data blocks and CPU time per command of Kvrocks, for builds or settings of it, side by side.

usage: bench/servers/kvrocks.py [--keys N] [--commands N] --arm NAME BINARY [VARIABLE=VALUE...] [--arm ...]

All arms load the same strings and hashes of 8 members, compact, load a tenth more, and are then asked
in turn. Needs Debian's python3-redis.
"""

import argparse
import os
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/servers"))
from cluster import Server  # noqa: E402

# Leaves the keys that are loaded last in some files of level 0.
CONFIG = """
rocksdb.write_buffer_size {write_buffer_mb}
rocksdb.level0_file_num_compaction_trigger 100
rocksdb.level0_slowdown_writes_trigger 100
rocksdb.level0_stop_writes_trigger 200
rocksdb.target_file_size_base 16
rocksdb.max_bytes_for_level_base 67108864
rocksdb.metadata_block_cache_size 8
rocksdb.subkey_block_cache_size 8
rocksdb.read_options.async_io no
"""
CHUNK = 500
COMMANDS = {
    "GET, present": lambda i: ("GET", f"string:{i:012}"),
    "GET, absent": lambda i: ("GET", f"string:{i:012}x"),
    "HGET, member absent": lambda i: ("HGET", f"hash:{i // 8:012}", "field:x"),
    "HGETALL, present": lambda i: ("HGETALL", f"hash:{i // 8:012}"),
    "HGETALL, absent": lambda i: ("HGETALL", f"hash:{i // 8:012}x"),
    "HRANGEBYLEX, empty": lambda i: ("HRANGEBYLEX", f"hash:{i // 8:012}", "[x", "[y"),
}


class Arm(Server):
    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def blocks(self):
        tickers = self.tickers()
        return (tickers["rocksdb.block.cache.data.hit"] + tickers["rocksdb.block.cache.data.miss"])

    def timed(self, commands):
        begin = time.monotonic()
        for reply in self.pipeline(commands):
            if isinstance(reply, Exception):
                raise reply
        self.seconds += time.monotonic() - begin


def load(arms, numbers):
    for begin in range(0, len(numbers), CHUNK):
        rng = random.Random(begin)
        commands = []
        for i in numbers[begin:begin + CHUNK]:
            commands.append(("SET", f"string:{i:012}", rng.randbytes(100)))
            # The members of a hash come one at a time, and so lie in several files.
            commands.append(("HSET", f"hash:{i // 8:012}", f"field:{i % 8:02}", rng.randbytes(60)))
        for arm in arms:
            arm.timed(commands)


def compact(arms):
    for arm in arms:
        arm("COMPACT")
    for arm in arms:
        arm.wait_for_compaction()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--commands", type=int, default=20_000)
    parser.add_argument("--arm", nargs="+", action="append", required=True)
    arguments = parser.parse_args()
    folder = tempfile.TemporaryDirectory()
    config = CONFIG.format(write_buffer_mb=max(1, arguments.keys // 500_000))
    arms = [Arm(f"{folder.name}/{name}", binary, config, dict(v.split("=", 1) for v in variables))
            for name, binary, *variables in arguments.arm]
    try:
        measure(arms, arguments.keys, arguments.commands)
    finally:
        for arm in arms:
            arm.stop()


def measure(arms, keys, number):
    for arm in arms:
        arm.start()
        arm.seconds = 0
    numbers = list(range(keys))
    random.Random(1).shuffle(numbers)
    load(arms, numbers[:keys * 9 // 10])
    compact(arms)
    load(arms, numbers[keys * 9 // 10:])
    row = "{:24}" + "{:>20}" * len(arms)
    print(row.format(f"{keys} keys", *(arm.folder.name for arm in arms)))
    print(row.format("load, commands per s", *(f"{2 * keys / arm.seconds:.0f}" for arm in arms)))
    print(row.format("load, CPU s", *(f"{arm.cpu():.1f}" for arm in arms)))
    for name, command in COMMANDS.items():
        before = [(arm.blocks(), arm.cpu()) for arm in arms]
        rng = random.Random(name)
        for _ in range(number // CHUNK):
            commands = [command(rng.randrange(keys)) for _ in range(CHUNK)]
            for arm in arms:
                arm.timed(commands)
        print(row.format(name, *(
            f"{(arm.blocks() - blocks) / number:.3f} {(arm.cpu() - cpu) / number * 1e6:8.1f} us"
            for arm, (blocks, cpu) in zip(arms, before))), flush=True)


if __name__ == "__main__":
    main()
