"""The other tests' cases of load and scan, on databases of the toy LSM."""

import unittest

import indexes_test
import input_test
import output_test
import processes_test
import scan_test
from command import CommandTest

# Granules of the toy LSM are data blocks; these count rows of granules.
OF_ROCKSDB = {
    "Renumbering.test_every_field_as_key",
    "Extractors.test_json",
    "Explanation.test_json_explanation",
    "Explanation.test_limit_ends_reading",
}


class ToyLsm:
    engine = "toylsm"

    def load(self, rows, *arguments, key=1):
        kept = list(arguments)
        while "--granule-rows" in kept:
            at = kept.index("--granule-rows")
            del kept[at:at + 2]
        return super().load(rows, *kept, key=key)

    def setUp(self):
        if ".".join(self.id().split(".")[-2:]) in OF_ROCKSDB:
            self.skipTest("it counts rows of granules of RocksDB")
        super().setUp()


for module in (indexes_test, input_test, output_test, processes_test, scan_test):
    for name, test in list(vars(module).items()):
        if isinstance(test, type) and issubclass(test, CommandTest) and test is not CommandTest:
            globals()[name] = type(name, (ToyLsm, test), {})


class GranuleRows(CommandTest):
    def test_are_refused(self):
        message = self.fail_with(2, "load", "--engine", "toylsm", "--db", self.db, "--key", 1,
                                 "--granule-rows", 10, "-")
        self.assertIn("--granule-rows 10: a granule of toylsm is a data block", message)
        self.assertFalse(self.db.exists())


if __name__ == "__main__":
    unittest.main()
