"""Two clusters, of a server with blocksieve and of the same server without, answer random commands as a
model does, while servers are killed, copied, short of disk, and exchange slots.

KVROCKS is the path of a Kvrocks with blocksieve, STOCK_KVROCKS of one without. How the first turns its
filters on is its own affair: it inherits the environment. COMMANDS is the number of commands to each
cluster. SEED repeats a run, except for the moments of kills. SERVERS_DIR keeps databases, logs and mounts.
The test runs as root, because the disk that gets full is a mounted tmpfs.
"""

import os
import pathlib
import random
import signal
import tempfile
import threading
import time
import unittest

try:
    import redis
    from redis.crc import key_slot
except ImportError:
    raise unittest.SkipTest("Debian's python3-redis is not installed") from None
from cluster import Cluster, wait_until
from model import TYPES, can_expire, matches, operation, whole

KVROCKS = os.environ.get("KVROCKS")
STOCK_KVROCKS = os.environ.get("STOCK_KVROCKS")
COMMANDS = int(os.environ.get("COMMANDS", "100000"))
SEED = int(os.environ.get("SEED", time.time()))
TAGS = 40  # slots that have keys
KEYS = [f"{kind}:{i}{{{i % TAGS}}}" for kind in TYPES for i in range(2400)]
BATCH = 200
PHASES = 14  # of equal numbers of commands
FULL = 1  # the server whose disk gets full


@unittest.skipUnless(KVROCKS and STOCK_KVROCKS, "KVROCKS and STOCK_KVROCKS are not set")
@unittest.skipIf(os.geteuid(), "mounting a file system needs root")
class ServersTest(unittest.TestCase):
    def setUp(self):
        print(f"\nSEED={SEED} COMMANDS={COMMANDS}", flush=True)
        self.rng = random.Random(SEED)
        self.values = {}     # the model
        self.expiring = {}   # keys to be left alone until a time
        self.uncertain = {}  # keys whose last command has no reply: values before and after it
        self.errors = set()  # replies that are errors, while a fault allows them
        self.sent = 0
        folder = os.environ.get("SERVERS_DIR") or self.enterContext(tempfile.TemporaryDirectory())
        self.clusters = []
        for name, binary in (("stock", STOCK_KVROCKS), ("tested", KVROCKS)):
            cluster = Cluster(name, folder, binary)
            self.clusters.append(cluster)
            cluster.servers[FULL].mount()
            if "SERVERS_DIR" not in os.environ:
                self.addCleanup(cluster.servers[FULL].unmount)
            self.addCleanup(cluster.stop, signal.SIGKILL)
            cluster.start()

    def check(self, cluster, command, reply, expected, value):
        if not matches(reply, expected):
            self.fail(f"{cluster.name}: {command}: {reply!r}, not {expected!r}; value: {value!r}")

    def batch(self, failing=False):
        """At most one command of each key, so that one without a reply says nothing of the next."""
        now = time.monotonic()
        for key in [key for key, end in self.expiring.items() if now > end]:
            del self.expiring[key]
            self.values.pop(key, None)
        keys = [key for key in self.rng.sample(KEYS, BATCH)
                if key not in self.expiring and key not in self.uncertain]
        steps = [(key, *operation(self.rng, key, self.values.get(key))) for key in keys]
        lost = set()
        for cluster in self.clusters:
            replies = cluster.send([step[1] for step in steps])
            for (key, command, expected, _), reply in zip(steps, replies):
                # Kvrocks replies 0 to EXPIREAT if it cannot write.
                if failing and (isinstance(reply, redis.RedisError) or command[0] == "EXPIREAT"):
                    lost.add(key)
                    self.errors.add(str(reply))
                else:
                    self.check(cluster, command, reply, expected, self.values.get(key))
        self.sent += len(steps)
        for key, _, _, after in steps:
            if key in lost:
                self.uncertain[key] = (self.values.get(key), after)
            elif after is None:
                self.values.pop(key, None)
            else:
                self.values[key] = after
        mortal = self.rng.choice([key for key in keys if can_expire(key)])
        if mortal in self.values and mortal not in lost and not failing:
            for cluster in self.clusters:
                self.assertEqual(cluster.send([("EXPIRE", mortal, 1)]), [1])
            self.expiring[mortal] = time.monotonic() + 2

    def settle(self):
        """Each command without a reply was executed or not; the keys are deleted then."""
        for key, allowed in self.uncertain.items():
            for cluster in self.clusters:
                expected = [whole(self.rng, key, value) for value in allowed]
                reply, = cluster.send([expected[0][0]])
                self.assertTrue(any(matches(reply, one) for _, one in expected),
                                f"{cluster.name}: {key}: {reply!r}, not one of {expected!r}")
                cluster.send([("DEL", key)])
            self.values.pop(key, None)
        self.uncertain.clear()

    def verify(self):
        """Reads all values and lists all keys."""
        wait_until("keys have expired", lambda: all(
            time.monotonic() > end for end in self.expiring.values()))
        for key in self.expiring:
            self.values.pop(key, None)
        self.expiring.clear()
        for cluster in self.clusters:
            for begin in range(0, len(KEYS), 1000):
                keys = KEYS[begin:begin + 1000]
                wanted = [whole(self.rng, key, self.values.get(key)) for key in keys]
                replies = cluster.send([command for command, _ in wanted])
                for key, (command, expected), reply in zip(keys, wanted, replies):
                    self.check(cluster, command, reply, expected, self.values.get(key))
            found = [key for server in cluster.servers for key in self.pages(server, "SCAN")]
            self.assertCountEqual(found, [key.encode() for key in self.values], cluster.name)
            for command in ("HSCAN", "SSCAN", "ZSCAN"):
                kind = command[0].lower()
                for key in self.rng.sample([key for key in KEYS if key[0] == kind], 60):
                    server = cluster.owner[key_slot(key.encode())]
                    step = 1 if kind == "s" else 2
                    found = list(self.pages(server, command, key))[::step]
                    self.assertCountEqual(found, self.values.get(key, ()), (cluster.name, key))

    @staticmethod
    def pages(server, *command):
        cursor = b"0"
        while True:
            cursor, page = server(*command, cursor, "COUNT", 7 if len(command) > 1 else 500)
            yield from page
            if cursor == b"0":
                return

    def commands(self, number, **how):
        end = self.sent + number
        while self.sent < end:
            self.batch(**how)

    def kill(self, *which):
        """In the middle of a batch, and of a compaction."""
        self.compact()
        delay = self.rng.uniform(0, 0.1)
        victims = [cluster.servers[i] for cluster in self.clusters for i in which]
        killer = threading.Timer(
            delay, lambda: [server.process.send_signal(signal.SIGKILL) for server in victims])
        killer.start()
        while killer.is_alive():
            self.batch(failing=True)
        killer.join()
        self.restart(which)

    def restart(self, which):
        for cluster in self.clusters:
            servers = [cluster.servers[i] for i in which]
            for server in servers:
                server.stop(signal.SIGKILL)
            cluster.restart(*servers)
        self.settle()

    def full_disk(self):
        self.errors.clear()
        for cluster in self.clusters:
            cluster.servers[FULL].fill_disk()
        self.commands(COMMANDS // PHASES // 4, failing=True)
        for cluster in self.clusters:
            try:
                cluster.servers[FULL]("COMPACT")
            except redis.RedisError:
                pass
        self.commands(COMMANDS // PHASES // 4, failing=True)
        # Log files have reserved space for some more writes.
        wait_until("writes find no space", lambda: self.batch(failing=True) or any(
            "No space left on device" in error for error in self.errors))
        for cluster in self.clusters:
            cluster.servers[FULL].fill_disk(False)
        self.restart([FULL])

    def replicate(self, which):
        replicas = [cluster.add_replica(cluster.servers[which]) for cluster in self.clusters]
        self.commands(COMMANDS // PHASES // 2)
        for cluster, replica in zip(self.clusters, replicas):
            cluster.wait_for_replica(replica)
            master = cluster.servers[which]
            self.assertGreater(int(master.info("INFO", "stats")["sync_full"]), 0)
            replica("READONLY")
            keys = [key for key in KEYS if cluster.owner[key_slot(key.encode())] is master
                    and key not in self.expiring]
            wanted = [whole(self.rng, key, self.values.get(key)) for key in keys]
            replies = replica.pipeline([("READONLY",), *(command for command, _ in wanted)])[1:]
            for key, (command, expected), reply in zip(keys, wanted, replies):
                self.check(cluster, command, reply, expected, self.values.get(key))
            cluster.remove_replica(replica)

    def migrate(self, source, to, number):
        """Slots of one server, to another, while commands go on."""
        owner = self.clusters[0].owner
        slots = sorted({key_slot(key.encode()) for key in KEYS})
        slots = [slot for slot in slots if owner[slot] is self.clusters[0].servers[source]][:number]
        for slot in slots:
            for cluster in self.clusters:
                moved = cluster.migrate(slot, cluster.servers[to])
                while not moved():
                    self.batch()

    def exchange_binaries(self):
        """Each cluster opens what the other binary wrote."""
        for cluster in self.clusters:
            cluster.stop()
        binaries = [cluster.servers[0].binary for cluster in self.clusters]
        for cluster, binary in zip(self.clusters, reversed(binaries)):
            for server in cluster.servers:
                server.binary = binary
            cluster.restart(*cluster.servers)

    def compact(self):
        for cluster in self.clusters:
            cluster.compact()

    def test_equal_to_the_model(self):
        faults = {
            "load": lambda: None,
            "compact": self.compact,
            "kill 0": lambda: self.kill(0),
            "kill 1": lambda: self.kill(1),
            "replica": lambda: self.replicate(0),
            "migrate there": lambda: self.migrate(0, 1, 4),
            "kill 2": lambda: self.kill(2),
            "migrate back": lambda: self.migrate(1, 0, 4),
            "full disk": self.full_disk,
            "compact again": self.compact,
            "kill all": lambda: self.kill(0, 1, 2),
            "filters": self.filters_were_used,
            "exchange binaries": self.exchange_binaries,
            "exchange them back": self.exchange_binaries,
        }
        self.assertEqual(len(faults), PHASES)
        for name, fault in faults.items():
            begin = time.monotonic()
            fault()
            self.commands(COMMANDS // PHASES)
            self.verify()
            print(f"{name}: {self.sent} commands to each cluster, {len(self.values)} keys, "
                  f"{time.monotonic() - begin:.0f} s", flush=True)

    def filters_were_used(self):
        for cluster in self.clusters:
            counts = {name: sum(server.tickers()["rocksdb." + name] for server in cluster.servers)
                      for name in ("bloom.filter.useful", "bloom.filter.full.positive",
                                   "last.level.seek.filtered", "non.last.level.seek.filtered")}
            print(cluster.name, counts)
            self.assertGreater(counts["bloom.filter.useful"], 0, "filters rule nothing out")
            for server in cluster.servers:
                log = (server.folder / "db/LOG").read_text(errors="replace")
                self.assertEqual("filter_policy: blocksieve" in log, cluster.name == "tested")


if __name__ == "__main__":
    unittest.main()
