# SPDX-License-Identifier: Apache-2.0
"""The reports of inspect on databases and single files."""

import pathlib
import shutil
import signal
import subprocess
import threading

from command import CommandTest

BLOOM = ("--bloom_bits=10",)
RIBBON = ("--bloom_bits=10", "--use_ribbon_filter")
PARTITIONED = ("--partition_index_and_filters=true", "--metadata_block_size=1024")
PREFIXES = ("--prefix_size=8", "--keys_per_prefix=10")


class InspectStockFiltersTest(CommandTest):
    def filter_of(self, *options):
        self.db_bench("fillseq,flush", *options)
        shown = self.inspect()
        self.assertEqual(shown["engine"], "rocksdb")
        self.assertEqual(len(shown["files"]), 1)
        file = shown["files"][0]
        self.assertEqual((file["family"], file["level"]), ("default", 0))
        self.assertEqual(file["num_keys"], 20_000)
        return file["filter"]

    def test_partitioned(self):
        """The encoding of the partition index depends on format version and restart interval."""
        for version in (2, 3, 4, 5):
            for interval in (1, 16):
                with self.subTest(version=version, interval=interval):
                    self.db = self.dir / f"db{version}.{interval}"
                    shown = self.filter_of(*BLOOM, *PARTITIONED, f"--format_version={version}",
                                           f"--index_block_restart_interval={interval}")
                    self.assertEqual(shown["shape"], "partitioned")
                    self.assertGreater(shown["num_filters"], 10)
                    self.assertEqual(shown["problems"], [])
                    self.assertEqual(self.verify()["num_problems"], 0)

    def test_every_checksum_of_blocks(self):
        for checksum in self.each(range(5)):
            shown = self.filter_of(*BLOOM, f"--checksum_type={checksum}")
            self.assertEqual((shown["origin"], shown["problems"]), ("stock", []))

    def test_unknown_is_no_damage(self):
        """Bytes of files without checksums are replaced."""
        name = b"fullfilter.rocksdb.BuiltinBloomFilter"
        for old, new, note in self.each((
                (name, name[:-1] + b"X", "written by the unknown policy bloomfilter"),
                (b"\xff\0\6\0\0", b"\x90\0\6\0\0", "unknown kind -112"))):
            self.db_bench("fillseq,flush", *BLOOM, "--checksum_type=0", "--format_version=5")
            good = self.table().read_bytes()
            self.assertEqual((good.count(old), len(old)), (1, len(new)))
            self.table().write_bytes(good.replace(old, new))
            self.assertEqual(self.verify()["num_problems"], 0)
            shown = self.only_filter()
            self.assertEqual((shown["origin"], shown["predicted_fpr"]), ("unknown", 1))
            self.assertIn(note, shown["note"])

    def test_filter_per_block(self):
        """SstFileWriter of RocksDB 6.29.5 wrote the file: 20 keys, NewBloomFilterPolicy(10, true)."""
        path = pathlib.Path(__file__).with_name("rocksdb_6.29.5_filter_per_block.sst")
        shown = self.inspect(path)["files"][0]["filter"]
        self.assertEqual((shown["origin"], shown["note"]),
                         ("unknown", "one filter per block, which RocksDB no longer reads"))
        verified = self.verify(path)
        self.assertEqual((verified["num_problems"], verified["files"][0]["keys_checked"]), (0, 20))
        # In a database, whose policy reads other filters.
        self.db_bench("fillseq,flush", *BLOOM, num=100)
        shutil.copy(path, self.dir / "file.sst")
        self.ldb("ingest_extern_sst", self.dir / "file.sst")
        self.assertIn("1 file with 20 keys and filters that rule out nothing", self.output_of(1, "check", "--db", self.db))
        self.output_of(1, "inspect", "--db", self.db, "--fail-if", "without-filter")


class InspectOwnFiltersTest(CommandTest):
    ROWS = [(f"{i:05}", i % 100, "x" * 20) for i in range(5000)]

    def test_filter_and_index(self):
        """The same of a database and of its only file."""
        self.load(self.ROWS, "--index", "n=int:1")
        shown = self.inspect()
        self.assertEqual((shown["engine"], shown["database"]), ("rocksdb", str(self.db)))
        file, = shown["files"]
        own, index, total = file["filter"], file["index"], shown["total"]
        self.assertEqual((own["origin"], own["kind"], own["shape"], own["num_keys"]),
                         ("blocksieve", "ribbon", "full", 5000))
        self.assertGreater(own["bits_per_key"], 6)
        self.assertLess(own["predicted_fpr"], 0.0101)
        self.assertGreater(index["num_bytes"], 0)
        self.assertGreater(index["num_granules"], 10)
        self.assertEqual([column["definition"] for column in index["columns"]], ["n=int:1"])
        self.assertEqual((total["num_keys"], total["covered_keys"]), (5000, 5000))
        self.assertEqual(total["covered_bytes"], total["num_bytes"])
        path = self.table()
        shown = self.inspect(path)
        self.assertEqual((shown["engine"], shown["file"]), ("rocksdb", str(path)))
        self.assertEqual(shown["files"], [{**file, "level": None, "family": ""}])
        self.assertEqual(self.verify(path)["num_problems"], 0)

    def test_levels(self):
        self.load(self.ROWS, "--index", "n=int:1")
        self.load(self.ROWS[:1000], "--no-compact")
        shown = self.inspect()
        levels = [level["level"] for level in shown["levels"]]
        self.assertEqual(levels, sorted(levels))
        self.assertEqual((levels[0], len(levels)), (0, 2))
        self.assertEqual(shown["levels"][0]["num_keys"], 1000)
        self.assertEqual(shown["files"][0]["filter"]["kind"], "bloom")
        self.assertEqual(shown["total"]["num_files"], 2)


class InspectBusyDatabaseTest(CommandTest):
    def test_no_file_is_missed_though_compactions_replace_them(self):
        writer = subprocess.Popen(
            ["db_bench", "--benchmarks=fillrandom", f"--db={self.db}", "--num=100000",
             "--value_size=20", "--write_buffer_size=65536", "--target_file_size_base=65536",
             "--max_bytes_for_level_base=262144"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        self.wait_until(lambda: len(list(self.db.glob("*.sst"))) >= 20)
        while writer.poll() is None:
            for command in ("inspect", "advise"):
                # Runs only for a moment: on a slow machine it could outrun all passes.
                writer.send_signal(signal.SIGCONT)
                stop = threading.Timer(0.1, writer.send_signal, [signal.SIGSTOP])
                stop.start()
                said = self.json_of(command, "--db", self.db)
                stop.join()
                self.assertEqual(said["vanished"], [])
        self.assertEqual(writer.returncode, 0)
