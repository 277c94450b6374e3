"""Server processes that speak the Redis protocol, and Kvrocks clusters of them."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import redis
from redis.crc import key_slot

TIMEOUT_SECONDS = 300  # far more than any step takes
HERE = pathlib.Path(__file__).parent


def wait_until(what, condition):
    end = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"after {TIMEOUT_SECONDS} s, still not: {what}")
        time.sleep(0.05)


class Server:
    """One process in a directory of its own. It keeps directory and port when it is restarted."""

    def __init__(self, folder, binary, config="", environment=None):
        self.folder, self.binary, self.config = pathlib.Path(folder), binary, config
        self.environment = {**os.environ, **(environment or {})}
        self.folder.mkdir(parents=True, exist_ok=True)
        self.mounted = False
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.id = f"{self.port:040}"
        self.process = None

    def start(self):
        path = self.folder / "server.conf"
        template = (HERE / "kvrocks.conf").read_text()
        path.write_text(f"{template}\nport {self.port}\ndir {self.folder}\n{self.config}\n")
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

    def info(self, *command):
        """INFO and the like, as a dictionary."""
        lines = self(*command).decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def wait_for_compaction(self):
        wait_until("COMPACT is done",
                   lambda: self.info("INFO", "rocksdb")["is_compacting"].strip() == "no")

    def tickers(self):
        return json.loads(self("STATS"))

    def pipeline(self, commands):
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

    def mount(self):
        """Puts the empty directory on a file system of its own. Needs root."""
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.folder], check=True)
        self.mounted = True

    def fill_disk(self, full=True):
        """Shrinks the mounted file system to the files in it, or lifts the limit."""
        def remounted():
            disk = os.statvfs(self.folder)
            size = (disk.f_blocks - disk.f_bfree) * disk.f_frsize if full else 0  # 0: no limit
            return not subprocess.run(["mount", "-o", f"remount,size={size}", self.folder],
                                      stderr=subprocess.DEVNULL).returncode
        wait_until("the file system is as large as its files", remounted)

    def unmount(self):
        if self.mounted:
            subprocess.run(["umount", self.folder], check=True)


class Cluster:
    """Masters that share all slots, and replicas that are added later."""

    def __init__(self, name, folder, binary, masters=3):
        self.name = name
        self.servers = [Server(pathlib.Path(folder) / f"{name}{i}", binary, "cluster-enabled yes")
                        for i in range(masters)]
        self.master_of = {}  # of replicas
        self.owner = [self.servers[slot * masters // 16384] for slot in range(16384)]
        self.version = 0

    def start(self):
        self.restart(*self.servers)

    def restart(self, *servers):
        """Starts servers that are not running."""
        for server in servers:
            server.start()
            server("CLUSTERX", "SETNODEID", server.id)
        self.publish()

    def publish(self):
        """Tells all servers who owns which slot; there is no gossip."""
        lines = []
        for server in self.servers:
            slots = [slot for slot, owner in enumerate(self.owner) if owner is server]
            starts = [slot for slot in slots if slot == 0 or self.owner[slot - 1] is not server]
            ends = [slot for slot in slots if slot == 16383 or self.owner[slot + 1] is not server]
            ranges = " ".join(str(start) if start == end else f"{start}-{end}"
                              for start, end in zip(starts, ends))
            lines.append(f"{server.id} 127.0.0.1 {server.port} master - {ranges}")
        lines += [f"{replica.id} 127.0.0.1 {replica.port} slave {master.id}"
                  for replica, master in self.master_of.items()]
        self.version += 1
        for server in (*self.servers, *self.master_of):
            server("CLUSTERX", "SETNODES", "\n".join(lines), self.version)

    def send(self, commands):
        """Replies to commands, each with one key as its second word. A command that a server
        redirects or puts off during a migration is sent again. The other exceptions are replies."""
        replies = [None] * len(commands)
        waiting = range(len(commands))
        end = time.monotonic() + TIMEOUT_SECONDS
        while waiting:
            parts = {}
            for i in waiting:
                parts.setdefault(self.owner[key_slot(commands[i][1].encode())], []).append(i)
            waiting = []
            for server, part in parts.items():
                for i, reply in zip(part, server.pipeline([commands[i] for i in part])):
                    replies[i] = reply
                    text = str(reply) if isinstance(reply, redis.RedisError) else ""
                    if isinstance(reply, redis.exceptions.MovedError) or "MOVED" in text:
                        port = int(text.rsplit(":", 1)[1])
                        self.owner[key_slot(commands[i][1].encode())] = self.by_port(port)
                        waiting.append(i)
                    elif isinstance(reply, redis.exceptions.TryAgainError) or "TRYAGAIN" in text:
                        waiting.append(i)
            if time.monotonic() > end:
                raise TimeoutError(f"still redirected: {replies[waiting[0]]}")
        return replies

    def by_port(self, port):
        return next(server for server in self.servers if server.port == port)

    def add_replica(self, master):
        """An empty replica, once it has all that the master had."""
        replica = Server(master.folder.with_name(master.folder.name + "_replica"), master.binary,
                         master.config)
        self.master_of[replica] = master
        self.restart(replica)
        return replica

    def wait_for_replica(self, replica):
        def position(server):
            return int(server.info("INFO", "replication")["master_repl_offset"])
        wait_until("the replica is up to date", lambda: (
            replica.info("INFO", "replication").get("master_link_status") == "up"
            and position(replica) == position(self.master_of[replica])))

    def remove_replica(self, replica):
        del self.master_of[replica]
        replica.stop()
        self.publish()

    def migrate(self, slot, to):
        """Starts to move a slot. The result says whether it has moved."""
        source = self.owner[slot]
        source("CLUSTERX", "MIGRATE", slot, to.id)

        def moved():
            info = source.info("CLUSTER", "INFO")
            state = info.get("migrating_state", "none").strip()
            if state == "fail":
                source("CLUSTERX", "MIGRATE", slot, to.id)
            if state != "success" or str(slot) not in info["migrating_slot(s)"].split("-")[0]:
                return False
            self.owner[slot] = to
            self.publish()
            return True
        return moved

    def compact(self):
        for server in self.servers:
            server.wait_for_compaction()
            server("COMPACT")

    def stop(self, how=signal.SIGTERM):
        for server in (*self.servers, *self.master_of):
            server.stop(how)
