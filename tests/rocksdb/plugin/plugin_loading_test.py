# SPDX-License-Identifier: Apache-2.0
"""The plug-in in programs that link it, open it, or have it preloaded; and its environment variables.

CMake sets PLUGIN, PLAIN_PROGRAM and LINKED_PROGRAM, which are user_program.cc without and with the plug-in, and,
where RocksDB has a static library, STATIC_PROGRAM, which contains both.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import types
import unittest

PLUGIN, PLAIN, LINKED = (os.environ[name] for name in ("PLUGIN", "PLAIN_PROGRAM", "LINKED_PROGRAM"))
CAN_PRELOAD = "PLUGIN_CANNOT_BE_PRELOADED" not in os.environ  # a sanitizer's own library must be the first
LINKS = tempfile.TemporaryDirectory(prefix="blocksieve.")  # LD_PRELOAD takes no path with blanks
PRELOADED = {"LD_PRELOAD": os.path.join(LINKS.name, "plugin.so")}
os.symlink(os.path.abspath(PLUGIN), PRELOADED["LD_PRELOAD"])
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name != "LD_PRELOAD" and not name.startswith("BLOCKSIEVE_")}


class PluginLoadingTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="blocksieve.")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def report(self, program, policy, *opened, is_new=True, **environment):
        """What the program prints."""
        if is_new:
            shutil.rmtree(self.dir / "db", ignore_errors=True)
        done = subprocess.run([program, self.dir / "db", policy, *opened], env={**ENVIRONMENT, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        parts = re.search(r"policy=(\S+) written=(\S*) found=(\d+) rejected=(\d+)", done.stdout)
        self.assertEqual(parts[3], "2000", done.stdout)
        return types.SimpleNamespace(text=done.stdout, policy=parts[1], written=parts[2], rejected=int(parts[4]))

    def expect_ours(self, report, least_rejected=1950):
        self.assertEqual((report.policy, report.written), ("blocksieve", "blocksieve"), report.text)
        self.assertGreaterEqual(report.rejected, least_rejected, report.text)

    def test_policy_is_unknown_without_plugin(self):
        self.assertEqual(self.report(PLAIN, "blocksieve:0.01").policy, "none")

    def test_every_way_registers_policy(self):
        # Two copies of all its code and data, as of two versions installed side by side.
        copy = shutil.copy(PLUGIN, self.dir / "libblocksieve_rocksdb_copy.so")
        for way, program, policy, environment, *opened in (
                ("linked", LINKED, "blocksieve:0.01", {}),
                ("dlopen, and closed again", PLAIN, "blocksieve:0.01", {}, PLUGIN),
                ("preloaded", PLAIN, "{id=blocksieve;target_fpr=0.01}", PRELOADED),
                ("all three", LINKED, "blocksieve:0.01", PRELOADED, PLUGIN),
                ("with a copy", LINKED, "blocksieve:0.01", {}, copy),
                ("ribbons with a copy", LINKED, "{id=blocksieve;kind=ribbon}", {}, copy)):
            if CAN_PRELOAD or not environment:
                with self.subTest(way):
                    self.expect_ours(self.report(program, policy, *opened, **environment))

    @unittest.skipUnless("STATIC_PROGRAM" in os.environ, "RocksDB has no static library")
    def test_one_call_registers_static_plugin(self):
        program = os.environ["STATIC_PROGRAM"]
        for policy in ("blocksieve:0.01", "{id=blocksieve;kind=ribbon}"):
            self.expect_ours(self.report(program, policy))
        needed = subprocess.run(["readelf", "--dynamic", program], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn("libstdc++", needed)
        self.assertNotIn("rocksdb", needed)

    def test_builtin_policies_are_stock_by_default(self):
        """A linked plug-in also comes before RocksDB."""
        for value in (None, "0", "", "yes"):
            environment = {} if value is None else {"BLOCKSIEVE_REPLACE_BUILTIN": value}
            for call in ("call:bloom", "call:ribbon"):
                report = self.report(LINKED, call, is_new=False, **environment)
                self.assertNotIn(report.policy, ("blocksieve", "none"), report.text)
                self.assertGreater(report.rejected, 1900)
                self.assertEqual("BLOCKSIEVE_REPLACE_BUILTIN is yes; allowed: 0, 1" in report.text, value == "yes")

    @unittest.skipUnless(CAN_PRELOAD, "nothing can be preloaded")
    def test_builtin_policies_are_replaced_on_request(self):
        replacing = {**PRELOADED, "BLOCKSIEVE_REPLACE_BUILTIN": "1"}
        for call in ("call:bloom", "call:ribbon"):
            self.expect_ours(self.report(PLAIN, call, **replacing), 0)
        # They read stock filters.
        stock = self.report(PLAIN, "call:bloom")
        replaced = self.report(PLAIN, "call:bloom", is_new=False, **replacing)
        self.assertEqual((replaced.policy, replaced.written, replaced.rejected),
                         ("blocksieve", stock.written, stock.rejected))
        self.assertNotEqual(replaced.written, "blocksieve")

    def test_kernels_can_be_forced(self):
        """All kernels give the same answers on the same filter. Unknown names: tests/cli/usage_test.py."""
        first = self.report(LINKED, "blocksieve:0.05")
        self.expect_ours(first, 1800)
        for kernel in ("scalar", "avx2", "avx512", "neon", ""):
            report = self.report(LINKED, "blocksieve:0.05", is_new=False, BLOCKSIEVE_KERNEL=kernel)
            self.assertEqual(report.rejected, first.rejected, kernel)
            # On a processor without it, a warning appears and the program continues.
            if "not available" not in report.text:
                self.assertNotIn("BLOCKSIEVE_KERNEL", report.text)


if __name__ == "__main__":
    unittest.main()
