# SPDX-License-Identifier: Apache-2.0
"""A Kvrocks with blocksieve, and the same without, answer random commands as a model does, while they are
killed, compacted, copied to a replica, and exchanged.

KVROCKS is the path of a Kvrocks with blocksieve, STOCK_KVROCKS of one without. How the first turns its filters
on is its own affair: it inherits the environment. COMMANDS is the number of commands to each server. SEED
repeats a run, except for the moments of kills. SERVERS_DIR keeps databases and logs.
"""

import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

try:
    import redis
except ImportError:
    raise unittest.SkipTest("Debian's python3-redis is not installed") from None
from model import TYPES, matches, operation, whole

KVROCKS = os.environ.get("KVROCKS")
STOCK_KVROCKS = os.environ.get("STOCK_KVROCKS")
COMMANDS = int(os.environ.get("COMMANDS", "100000"))
SEED = int(os.environ.get("SEED", time.time()))
KEYS = [f"{kind}:{i}" for kind in TYPES for i in range(2400)]
BATCH = 200
TIMEOUT_SECONDS = 300  # far more than any step takes
CONFIG = pathlib.Path(__file__).with_name("kvrocks.conf").read_text()


def wait_until(what, condition):
    end = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"after {TIMEOUT_SECONDS} s, still not: {what}")
        time.sleep(0.05)


class Server:
    """One process in a directory of its own. It keeps directory and port when it is restarted."""

    def __init__(self, folder, binary, config="", environment=None):
        self.folder, self.binary, self.config = folder, binary, CONFIG + config
        self.environment = {**os.environ, **(environment or {})}
        folder.mkdir(parents=True, exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = None

    def start(self):
        path = self.folder / "server.conf"
        path.write_text(f"{self.config}\nport {self.port}\ndir {self.folder}\n")
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([self.binary, "-c", path], stdout=log, stderr=log,
                                            env=self.environment)
        self.client = redis.Redis(port=self.port, socket_timeout=TIMEOUT_SECONDS)
        self.client.response_callbacks.clear()  # replies as they are
        wait_until(f"{self.folder} answers", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise ChildProcessError(f"{self.folder}: exit {self.process.returncode}, see its log")
        try:
            return self("PING") in (b"PONG", True)
        except redis.ConnectionError:
            return False

    def __call__(self, *arguments):
        return self.client.execute_command(*arguments)

    def info(self, section):
        lines = self("INFO", section).decode().splitlines()
        return dict(line.strip().split(":", 1) for line in lines if ":" in line)

    def compact(self):
        wait_until("COMPACT is done", lambda: self.info("rocksdb")["is_compacting"] == "no")
        self("COMPACT")

    def send(self, commands):
        """The replies, of which some may be exceptions."""
        pipe = self.client.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command(*command)
        try:
            return pipe.execute(raise_on_error=False)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            return [error] * len(commands)

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait(TIMEOUT_SECONDS)
            self.client.close()
            self.process = None


@unittest.skipUnless(KVROCKS and STOCK_KVROCKS, "KVROCKS and STOCK_KVROCKS are not set")
class ServersTest(unittest.TestCase):
    def setUp(self):
        print(f"\nSEED={SEED} COMMANDS={COMMANDS}", flush=True)
        self.rng = random.Random(SEED)
        self.values = {}     # the model
        self.uncertain = {}  # keys whose last command has no reply: values before and after it
        self.sent = 0
        self.folder = pathlib.Path(
            os.environ.get("SERVERS_DIR") or self.enterContext(tempfile.TemporaryDirectory()))
        self.servers = [self.new_server(*names) for names in (("stock", STOCK_KVROCKS), ("tested", KVROCKS))]

    def new_server(self, name, binary):
        server = Server(self.folder / name, binary)
        self.addCleanup(server.stop, signal.SIGKILL)
        server.start()
        return server

    def check(self, server, keys, wanted, replies):
        for key, (command, expected), reply in zip(keys, wanted, replies, strict=True):
            if not matches(reply, expected):
                self.fail(f"{server.folder.name}: {command}: {reply!r}, not {expected!r}; "
                          f"value: {self.values.get(key)!r}")

    def batch(self, failing=False):
        """At most one command of each key, so that one without a reply says nothing of the next."""
        keys = [key for key in self.rng.sample(KEYS, BATCH) if key not in self.uncertain]
        steps = [operation(self.rng, key, self.values.get(key)) for key in keys]
        lost = set()
        for server in self.servers:
            replies = server.send([command for command, _, _ in steps])
            for key, step, reply in zip(keys, steps, replies, strict=True):
                if failing and isinstance(reply, redis.RedisError):
                    lost.add(key)
                else:
                    self.check(server, [key], [step[:2]], [reply])
        self.sent += len(steps)
        for key, (_, _, after) in zip(keys, steps):
            if key in lost:
                self.uncertain[key] = (self.values.get(key), after)
            elif after is None:
                self.values.pop(key, None)
            else:
                self.values[key] = after

    def commands(self, number):
        end = self.sent + number
        while self.sent < end:
            self.batch()

    def verify(self, servers):
        """Reads all values and lists all keys."""
        for server in servers:
            wanted = [whole(self.rng, key, self.values.get(key)) for key in KEYS]
            self.check(server, KEYS, wanted, server.send([command for command, _ in wanted]))
            found, cursor = [], None
            while cursor != b"0":
                cursor, page = server("SCAN", cursor or b"0", "COUNT", 500)
                found += page
            self.assertCountEqual(found, [key.encode() for key in self.values], server.folder)

    def restart(self):
        """Each command without a reply was executed or not; the keys are deleted then."""
        for server in self.servers:
            server.stop(signal.SIGKILL)
            server.start()
        for key, allowed in self.uncertain.items():
            for server in self.servers:
                expected = [whole(self.rng, key, value) for value in allowed]
                reply = server(*expected[0][0])
                self.assertTrue(any(matches(reply, one) for _, one in expected),
                                f"{server.folder}: {key}: {reply!r}, not one of {expected!r}")
                server("DEL", key)
            self.values.pop(key, None)
        self.uncertain.clear()

    def compact(self):
        for server in self.servers:
            server.compact()

    def kill(self):
        """In the middle of a batch, and of a compaction."""
        self.compact()
        killer = threading.Timer(self.rng.uniform(0, 0.1), lambda: [
            server.process.send_signal(signal.SIGKILL) for server in self.servers])
        killer.start()
        while killer.is_alive():
            self.batch(failing=True)
        killer.join()
        self.restart()

    def replicate(self):
        """An empty replica copies the files of its master, while commands go on."""
        for master in self.servers:
            replica = self.new_server(master.folder.name + "_replica", master.binary)
            replica("SLAVEOF", "127.0.0.1", master.port)
            self.commands(COMMANDS // 50)
            wait_until("the replica is up to date", lambda: (
                replica.info("replication").get("master_link_status") == "up" and len({
                    server.info("replication")["master_repl_offset"] for server in (master, replica)}) == 1))
            self.assertGreater(int(master.info("stats")["sync_full"]), 0)
            self.verify([replica])
            replica.stop()

    def exchange_binaries(self):
        """Each server opens what the other binary wrote."""
        stock, tested = self.servers
        stock.stop(), tested.stop()
        stock.binary, tested.binary = tested.binary, stock.binary
        stock.start(), tested.start()

    def filters_were_used(self):
        for server in self.servers:
            counts = json.loads(server("STATS"))
            self.assertGreater(counts["rocksdb.bloom.filter.useful"], 0, "filters rule nothing out")
            log = (server.folder / "db/LOG").read_text(errors="replace")
            self.assertEqual("filter_policy: blocksieve" in log, server.folder.name == "tested")

    def test_equal_to_the_model(self):
        faults = (self.compact, self.kill, self.replicate, self.kill, self.compact, self.kill,
                  self.filters_were_used, self.exchange_binaries, self.exchange_binaries)
        for fault in faults:
            self.commands(COMMANDS // len(faults))
            fault()
            self.verify(self.servers)
            print(f"{fault.__name__}: {self.sent} commands to each server, {len(self.values)} keys", flush=True)


if __name__ == "__main__":
    unittest.main()
