"""Has db_bench, RocksDB's own benchmark, measure seeks with an upper bound: with stock filters, and
with filters of ranges that an OPTIONS file names and a preloaded plug-in builds. Adds what it printed
to ranges.json. Without a db_bench in PATH that uses the plug-in's RocksDB, it says so and adds nothing."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RUNS = 8
SPACE = 100_000_000  # numbers that keys are drawn from
DISTANCE = 10  # of a seek's bound from its key

OPTIONS = """\
[Version]
  rocksdb_version=7.8.3
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
[CFOptions "default"]
  prefix_extractor={extractor}
  disable_auto_compactions=true
  compression=kNoCompression
  write_buffer_size=1073741824
  level0_slowdown_writes_trigger=1000
  level0_stop_writes_trigger=1000
[TableOptions/BlockBasedTable "default"]
  filter_policy={policy}
"""
FILTERS = (
    ("stock Bloom, 10 bits", "nullptr", "bloomfilter:10:false"),
    (
        "blocksieve, ranges",
        "blocksieve.range",
        "{id=blocksieve;kind=ribbon;ranges=true;plain_range_reads=true}",
    ),
)


class Unusable(Exception):
    """Why there is nothing to measure."""


def shared_rocksdb(path):
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    found = re.search(r"(librocksdb\.so\S*) => (\S+)", done.stdout)
    return found and found[2]


def usable_db_bench(plugin):
    found = shutil.which("db_bench")
    if not found:
        raise Unusable("there is no db_bench in PATH")
    if not shared_rocksdb(found) or shared_rocksdb(found) != shared_rocksdb(plugin):
        raise Unusable(f"{found} does not use the RocksDB that the plug-in was built for")
    return found


class Database:
    def __init__(self, db_bench, plugin, directory, name, extractor, policy):
        self.name = name
        self.microseconds = []
        self.path = directory / ("db-" + extractor)
        self.options = directory / ("OPTIONS-" + extractor)
        self.options.write_text(OPTIONS.format(extractor=extractor, policy=policy), encoding="utf-8")
        self.command = [db_bench, f"--options_file={self.options}", f"--db={self.path}", f"--num={SPACE}"]
        self.environment = {**os.environ, "LD_PRELOAD": str(plugin)}

    def run(self, *arguments):
        done = subprocess.run(
            [*self.command, *arguments], env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"db_bench failed: {done.stderr[-2000:]}")
        return done.stdout

    def fill(self, keys):
        writes = ["fillrandom", *["overwrite"] * (RUNS - 1)]
        benchmarks = ",".join(f"{write},flush" for write in writes)
        self.run(f"--benchmarks={benchmarks}", f"--writes={keys // RUNS}", "--value_size=32", "--disable_wal=1", "--seed=1")
        files = len(list(self.path.glob("*.sst")))
        if files != RUNS:
            raise RuntimeError(f"db_bench left {files} files, not {RUNS}")

    def seek(self, reads):
        # The first pass fills the cache. Another seed than that of writing, which would give the same keys.
        printed = self.run(
            "--use_existing_db=1",
            "--benchmarks=seekrandom,seekrandom",
            f"--reads={reads}",
            f"--max_scan_distance={DISTANCE}",
            "--cache_size=1073741824",
            "--perf_level=2",
            "--seed=1000",
        )
        microseconds, found = re.findall(r"seekrandom *: *([\d.]+) micros/op.*\((\d+) of \d+ found\)", printed)[-1]
        self.microseconds.append(float(microseconds))
        self.found = int(found)

        def counted(name):
            return int(re.findall(rf"\b{name} = (\d+)", printed)[-1])

        self.data_blocks = sum(
            sign * counted(name)
            for sign, name in (
                (1, "block_cache_hit_count"),
                (1, "block_read_count"),
                (-1, "block_cache_index_hit_count"),
                (-1, "index_block_read_count"),
                (-1, "block_cache_filter_hit_count"),
                (-1, "filter_block_read_count"),
            )
        )


def measure(plugin, directory, keys, reads, rounds):
    db_bench = usable_db_bench(plugin)
    databases = [Database(db_bench, plugin, directory, *each) for each in FILTERS]
    for database in databases:
        database.fill(keys)
    for _ in range(rounds):
        for database in databases:
            database.seek(reads)
    if len({database.found for database in databases}) != 1:
        raise RuntimeError("db_bench found other keys with filters of ranges than without")
    version = subprocess.run([db_bench, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return {
        "version": version,
        "description": f"seekrandom --max_scan_distance={DISTANCE} with default ReadOptions, cached, in {RUNS} sorted runs "
        f"of {keys // RUNS:,} of the {SPACE:,} possible keys; ranges with plain_range_reads. The range of a seek holds "
        f"{keys * DISTANCE / SPACE:g} keys on average, whose blocks have to be read",
        "runs": [
            {
                "filter": database.name,
                "microseconds": database.microseconds,
                "data_blocks_per_seek": database.data_blocks / reads,
                "found_share": database.found / reads,
            }
            for database in databases
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plugin", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="directory of ranges.json")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    size = {"keys": 160_000, "reads": 10_000, "rounds": 3} if arguments.quick else {
        "keys": 1_000_000, "reads": 50_000, "rounds": 7
    }
    path = arguments.out / "ranges.json"
    try:
        with tempfile.TemporaryDirectory(dir=arguments.out) as directory:
            witness = measure(arguments.plugin.resolve(), pathlib.Path(directory), **size)
    except Unusable as why:
        print(f"bench/run: no figures of db_bench: {why}", file=sys.stderr)
        return
    except RuntimeError as error:
        sys.exit(f"bench/run: {error}")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["db_bench"] = witness
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
