#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the archives of the zoo anew from packages: make.py [ENTRY...]

ENTRY.tar.xz has the directory of an entry; in its texts, @DIR@ stands for the path of that
directory. rows.tsv has the rows of each database as its owner, the software that wrote it, reads
them. Needs the tests' build tree, node, npm, unshare, and of Debian 12 libleveldb-dev,
mariadb-server and mariadb-plugin-rocksdb.
"""

import collections
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OWNER = os.environ.get("ZOO_OWNER", HERE.parents[1] / "build/tests/zoo/zoo_owner")
COMMAND = os.environ.get("BLOCKSIEVE", HERE.parents[1] / "build/integration/cli/blocksieve")
# No archive has the name of the machine that made it.
AS_ZOO = ["unshare", "--uts", "sh", "-c", 'hostname zoo; exec "$@"', "sh"]
PACKAGES = {"npm617": "rocksdb@5.2.1", "npm97": "@nxtedition/rocksdb@12.2.12",
            "classic-level": "classic-level@3.0.0", "leveldb-zlib": "leveldb-zlib@1.2.0"}
NAMES = (*PACKAGES, "leveldb", "capi-bloom", "capi-ribbon", "myrocks", "indexes", "blobs",
         "collector", "cuckoo", "dropped", "extractor", "families", "formats", "merge", "names", "objects",
         "paths", "plain", "reverse", "stats", "ttl", "waldir")

# Edits of OPTIONS as programs with objects of their own leave them; other files show none of these.
OWN_OBJECTS = {
    "objects": {"compaction_filter_factory=.*": "compaction_filter_factory={id=zoo.Expire;ttl=60;}",
                "memtable_factory=.*": "memtable_factory={id=zoo.Memtable;count=1000;}",
                "sst_partitioner_factory=.*": "sst_partitioner_factory={id=zoo.Shards;length=3;}",
                r"\[DBOptions\]": r"[DBOptions]\n  listeners={{id=zoo.Listener;queue=7;}}"},
    "collector": {"file_checksum_gen_factory=.*": "file_checksum_gen_factory={id=zoo.Sums;kind=1;}"},
    # The last family.
    "families": {r"(?s)(.*filter_policy=)[^\n]*": r"\1zoo.Policy"}}


@functools.cache
def tools():
    """A directory for what owners need, kept until the end."""
    directory = tempfile.TemporaryDirectory(prefix="zoo.tools.")
    tools.keep = directory
    return pathlib.Path(directory.name)


@functools.cache
def owner_of(name):
    """The command that makes an entry or reads its rows; see owner.cc."""
    if package := PACKAGES.get(name):
        subprocess.run(["npm", "install", "--silent", package], cwd=tools(), check=True)
        return ["env", f"NODE_PATH={tools()}/node_modules", "node", HERE / "owner.js",
                package.rpartition("@")[0]]
    if name in ("myrocks", "indexes"):
        return ["env", f"TMPDIR={tools()}", f"BLOCKSIEVE={COMMAND}", HERE / "owner.sh", name]
    if name in ("leveldb", "capi-bloom", "capi-ribbon"):
        library = name if name == "leveldb" else "rocksdb"
        subprocess.run(["gcc", f"-D{library.upper()}", "-o", tools() / library, HERE / "owner.c",
                        f"-l{library}"], check=True)
        return [tools() / library, name]
    return [OWNER, name]


def texts(directory):
    return [path for path in directory.rglob("*") if re.match("OPTIONS|LOG$", path.name)]


def hash_of(rows):
    """Rows are "KEY VALUE", in hexadecimal and in any order."""
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()[:32]


def rows_of(name, database):
    """By family: number and hash of the rows, as the owner reads a copy."""
    families = collections.defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="zoo.") as scratch:
        copy = pathlib.Path(scratch, "entry")
        shutil.copytree(database.parent, copy)
        text = subprocess.run([*owner_of(name), copy, database.name], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    for line in text.splitlines():
        family, row = line.split(" ", 1)
        families[bytes.fromhex(family).decode()].append(row.upper())
    return {family: (len(rows), hash_of(rows)) for family, rows in families.items()}


def pack(directory, archive):
    def of_nobody(member):
        member.mtime = member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mode = 0o755 if member.isdir() else 0o644
        return member
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for path in sorted(directory.rglob("*")):
            tar.add(path, path.relative_to(directory), recursive=False, filter=of_nobody)


def make(name, archive):
    """Makes an archive; returns the lines of rows.tsv."""
    with tempfile.TemporaryDirectory(prefix="zoo.") as directory:
        directory = pathlib.Path(directory, name)
        directory.mkdir()
        subprocess.run([*AS_ZOO, *owner_of(name), directory], check=True)
        for path in directory.rglob("LOG.old*"):
            path.unlink()
        for path in directory.rglob("*.ldb") if name == "leveldb" else ():
            path.rename(path.with_suffix(".sst"))  # the name until LevelDB 1.13
        lines = [f"{name}/{current.parent.name}\t{family}\t{count}\t{digest}\n"
                 for current in sorted(directory.glob("*/CURRENT"))
                 for family, (count, digest) in rows_of(name, current.parent).items()]
        for path in texts(directory):
            text = path.read_text().replace(str(directory), "@DIR@")
            for old, new in OWN_OBJECTS.get(name, {}).items() if path.name != "LOG" else ():
                text, count = re.subn(old, new, text)
                assert count == 1, (name, old)
            path.write_text(text)
        pack(directory, archive)
    return lines


def main():
    rows = HERE / "rows.tsv"
    lines = rows.read_text().splitlines(keepends=True)
    for name in sys.argv[1:] or NAMES:
        lines = [line for line in lines if not line.startswith(name + "/")]
        lines += make(name, HERE / f"{name}.tar.xz")
    rows.write_text("".join(sorted(lines)))


if __name__ == "__main__":
    main()
