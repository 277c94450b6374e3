#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What commands cost in Kvrocks: builds or settings of it, side by side.

usage: bench/servers/kvrocks.py [--keys N] [--commands N] --arm NAME BINARY [VARIABLE=VALUE...] [--arm ...]

Each arm is a server with the variables in its environment. All load the same keys, nine tenths of them
before a COMPACT, so that a tenth stays in files of level 0. Then all run the same commands in turn, as
loaded and again after a COMPACT. Of each command the table has data blocks, CPU time of the server in
us (median of five rounds), and p50 and p99 in us of commands sent one at a time. KEYS strings; half as
many members in hashes of 8 that are written at once, a quarter in hashes that grow member by member and
so lie in several files, and a quarter in sorted sets. Needs Debian's python3-redis.
"""

import argparse
import json
import os
import pathlib
import random
import socket
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/servers"))
from servers_test import Server  # noqa: E402

# Filters and some of the data blocks fit into the block cache.
CONFIG = """
rocksdb.write_buffer_size {megabytes}
rocksdb.level0_slowdown_writes_trigger 100
rocksdb.level0_stop_writes_trigger 200
rocksdb.target_file_size_base 64
rocksdb.max_bytes_for_level_base 268435456
rocksdb.block_cache_size {cache}
rocksdb.read_options.async_io no
"""
CHUNK = 500
ROUNDS = 5
MEMBERS = [f"field:{i:02}" for i in range(8)]
COMMANDS = {
    "GET, present": lambda i: ("GET", f"string:{i:012}"),
    "GET, absent": lambda i: ("GET", f"string:{i:012}x"),
    "EXISTS, absent": lambda i: ("EXISTS", f"string:{i:012}x"),
    "HGET, present": lambda i: ("HGET", f"hash:{i // 16:012}", MEMBERS[i % 8]),
    "HGET, member absent": lambda i: ("HGET", f"hash:{i // 16:012}", "field:x"),
    "HGETALL, present": lambda i: ("HGETALL", f"hash:{i // 16:012}"),
    "HGETALL, grown": lambda i: ("HGETALL", f"grown:{i // 32:012}"),
    "HGETALL, absent": lambda i: ("HGETALL", f"hash:{i // 16:012}x"),
    "HRANGEBYLEX, empty": lambda i: ("HRANGEBYLEX", f"hash:{i // 16:012}", "[x", "[y"),
    "ZRANGE, present": lambda i: ("ZRANGE", f"zset:{i // 32:012}", "0", "-1"),
    "ZRANGE, absent": lambda i: ("ZRANGE", f"zset:{i // 32:012}x", "0", "-1"),
    "HSCAN, present": lambda i: ("HSCAN", f"hash:{i // 16:012}", "0"),
    "SCAN, absent": lambda i: ("SCAN", "0", "MATCH", f"string:{i:012}x*"),
}


def encode(*words):
    return b"*%d\r\n" % len(words) + b"".join(
        b"$%d\r\n%s\r\n" % (len(word), word) for word in map(str.encode, words))


END = encode("ECHO", "end of chunk")


class Arm(Server):
    def start(self):
        super().start()
        self.load_seconds = 0
        self.socket = socket.create_connection(("127.0.0.1", self.port))

    def cpu(self):
        """Seconds of the process, by its CPU clock (see clock_getcpuclockid)."""
        return time.clock_gettime_ns((~self.process.pid) << 3 | 2) / 1e9

    def blocks(self):
        tickers = json.loads(self("STATS"))
        return tickers["rocksdb.block.cache.data.hit"] + tickers["rocksdb.block.cache.data.miss"]

    def run(self, commands):
        """Runs encoded commands whose replies hold no line that begins with a minus but errors."""
        self.socket.sendall(commands + END)
        replies = b""
        while not replies.endswith(b"end of chunk\r\n"):
            replies += self.socket.recv(1 << 20)
        if b"\r\n-" in b"\r\n" + replies:
            raise ValueError(f"{self.folder.name}: {replies[:200]!r}")

    def latency(self, command):
        begin = time.perf_counter()
        self.socket.sendall(command)
        self.socket.recv(1 << 20)
        return (time.perf_counter() - begin) * 1e6

    def files(self):
        """Properties of the live files, of which RocksDB's log tells."""
        files = {}
        for line in (self.folder / "db/LOG").open(errors="replace"):
            event = json.loads(line.partition("EVENT_LOG_v1 ")[2] or "{}")
            if event.get("event") == "table_file_creation":
                files[event["file_number"]] = (event["cf_name"], event["table_properties"])
            elif event.get("event") == "table_file_deletion":
                files.pop(event["file_number"], None)
        return files.values()

    def filters(self, family):
        """Files of a column family, and the bits of their filters per key."""
        files = [table for name, table in self.files() if name == family]
        bits = 8 * sum(table["filter_size"] for table in files)
        keys = sum(table["num_entries"] for table in files)
        return f"{len(files)} files, {bits / max(1, keys):.2f} bits a key"

    def settle(self):
        """Until flushes and compactions have stopped."""
        idle = 0
        while idle < 3:
            info = self.info("rocksdb")
            names = ("is_compacting", "num_running_compactions", "num_running_flushes")
            idle = idle + 1 if {info[name] for name in names} <= {"no", "0"} else 0
            time.sleep(0.1)


def load(arms, numbers):
    for begin in range(0, len(numbers), CHUNK):
        rng = random.Random(begin)
        commands = []
        for i in numbers[begin:begin + CHUNK]:
            text = rng.randbytes(50).hex()
            pairs = [(name, text[at:at + 60]) for at, name in enumerate(MEMBERS)]
            commands.append(encode("SET", f"string:{i:012}", text))
            if i % 16 == 0:
                commands.append(encode("HSET", f"hash:{i // 16:012}", *(w for p in pairs for w in p)))
            elif i % 32 == 1:
                scores = (word for pair in pairs for word in (pair[0][-1], "".join(pair)))
                commands.append(encode("ZADD", f"zset:{i // 32:012}", *scores))
            elif i % 4 == 2:
                commands.append(encode("HSET", f"grown:{i // 32:012}", *pairs[i // 4 % 8]))
        for arm in arms:
            begun = time.monotonic()
            arm.run(b"".join(commands))
            arm.load_seconds += time.monotonic() - begun


def print_row(name, cells):
    print(f"{name:20}" + "".join(f"{cell:>38}" for cell in cells), flush=True)


def measure(arms, keys, number):
    for name, command in COMMANDS.items():
        rng = random.Random(name)
        blocks = [arm.blocks() for arm in arms]
        cpu = [[] for _ in arms]
        for _ in range(ROUNDS):
            commands = [encode(*command(rng.randrange(keys))) for _ in range(number // ROUNDS)]
            for arm, seconds in zip(arms, cpu):
                begin = arm.cpu()
                for first in range(0, len(commands), CHUNK):
                    arm.run(b"".join(commands[first:first + CHUNK]))
                seconds.append((arm.cpu() - begin) / len(commands))
        blocks = [(arm.blocks() - before) / (ROUNDS * len(commands))
                  for arm, before in zip(arms, blocks)]
        latencies = [sorted(times) for times in zip(*([arm.latency(one) for arm in arms]
                                                      for one in commands[:1000]))]
        print_row(name, (f"{reads:.4f} {statistics.median(seconds) * 1e6:8.2f} us"
                         f"{times[len(times) // 2]:6.0f} /{times[len(times) * 99 // 100]:5.0f} us"
                         for reads, seconds, times in zip(blocks, cpu, latencies)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--commands", type=int, default=20_000)
    parser.add_argument("--arm", nargs="+", action="append", required=True)
    arguments = parser.parse_args()
    keys = arguments.keys
    config = CONFIG.format(megabytes=max(1, keys // 1_000_000), cache=max(8, keys // 50_000))
    numbers = list(range(keys))
    random.Random(1).shuffle(numbers)
    with tempfile.TemporaryDirectory() as folder:
        arms = [Arm(pathlib.Path(folder, name), binary, config, dict(v.split("=", 1) for v in variables))
                for name, binary, *variables in arguments.arm]
        try:
            for arm in arms:
                arm.start()
            load(arms, numbers[:keys * 9 // 10])
            compact(arms)
            for arm in arms:  # from here on, files of level 0 stay there
                arm("CONFIG", "SET", "rocksdb.level0_file_num_compaction_trigger", 100)
            load(arms, numbers[keys * 9 // 10:])
            print_row(f"{keys} keys", (arm.folder.name for arm in arms))
            print_row("load", (f"{arm.load_seconds:.1f} s, {arm.cpu():.1f} s CPU" for arm in arms))
            for state in ("as loaded", "compacted"):
                for arm in arms:
                    arm.settle()
                print_row(state, ("blocks   CPU      p50 / p99" for arm in arms))
                for family in ("metadata", "default", "zset_score"):
                    print_row(f"  {family}", (arm.filters(family) for arm in arms))
                measure(arms, keys, arguments.commands)
                compact(arms)
        finally:
            for arm in arms:
                arm.stop()


def compact(arms):
    for arm in arms:
        arm("COMPACT")
    for arm in arms:
        arm.settle()


if __name__ == "__main__":
    main()
