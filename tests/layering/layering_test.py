"""Whether layering.py finds what it is there to find: each case plants one file in a small tree."""

import pathlib
import tempfile
import unittest

import layering

TREE = {
    "include/blocksieve/status.h": "",
    "include/blocksieve/hash.h": "#include <string>\n",
    "include/blocksieve/sizing.h": '#include "blocksieve/status.h"\n',
    "include/blocksieve/filter_reader.h": '#include "blocksieve/sizing.h"\n',
    "lib/ribbon.h": '#include "blocksieve/sizing.h"\n',
    "lib/granule/index.cc": '#include "blocksieve/filter_reader.h"\n#include <xxhash.h>\n',
    "integration/rocksdb/include/blocksieve/rocksdb/filter_policy.h": "#include <rocksdb/db.h>\n",
    "integration/rocksdb/policy/policy.h": '#include "blocksieve/rocksdb/filter_policy.h"\n',
    "integration/rocksdb/policy/policy.cc": '#include "lib/ribbon.h"\n',
    "integration/toylsm/db.h": '#include "blocksieve/filter_reader.h"\n',
    "bench/rows.h": '#include "integration/toylsm/db.h"\n',
    "bench/rows.cc": '#include "integration/rocksdb/policy/policy.h"\n#include <rocksdb/db.h>\n',
    "tests/rows_test.cc": '#include "bench/rows.h"\n',
}

VIOLATIONS = [
    # file, what it includes, what the finding says
    ("include/blocksieve/bytes.h", "blocksieve/hash.h", "base must not include hash"),
    ("lib/hash/hash.cc", "blocksieve/sizing.h", "hash must not include sizing"),
    ("lib/filter/sizing.cc", "lib/ribbon.h", "sizing must not include kinds"),
    ("lib/ribbon_solver.cc", "blocksieve/filter_reader.h", "kinds must not include filter_block"),
    ("lib/hash/hash.cc", "rocksdb/db.h", "only the RocksDB side"),
    ("lib/hash/hash.cc", "blocksieve/rocksdb/filter_policy.h", "hash must not include rocksdb public"),
    ("lib/hash/hash.cc", "bench/rows.h", "hash must not include bench"),
    ("lib/hash/hash.cc", "../tests/rows_test.cc", "hash must not include tests"),
    ("include/blocksieve/filter.h", "lib/ribbon.h", "a public header"),
    ("integration/rocksdb/include/blocksieve/rocksdb/x.h", "lib/ribbon.h", "a public header"),
    ("integration/rocksdb/plugin/registry.cc", "integration/toylsm/db.h", "must not include toylsm"),
    ("integration/toylsm/wal.cc", "rocksdb/db.h", "only the RocksDB side"),
    ("integration/toylsm/wal.cc", "blocksieve/rocksdb/filter_policy.h", "must not include rocksdb"),
    ("integration/rocksdb/plugin/registry.cc", "bench/rows.h", "rocksdb must not include bench"),
    ("bench/main.cc", "tests/rows_test.cc", "bench must not include tests"),
    ("lib/novelty.cc", "string", "no layer"),
]


def problems_of(tree):
    with tempfile.TemporaryDirectory() as root:
        for path, source in tree.items():
            file = pathlib.Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source, encoding="utf-8")
        return layering.problems(root)


class LayeringTest(unittest.TestCase):
    def test_a_tree_that_keeps_to_the_layers_has_no_problem(self):
        self.assertEqual(problems_of(TREE), [])

    def test_each_violation_is_found_alone_and_named(self):
        for path, included, expected in VIOLATIONS:
            for form in (f'#include "{included}"\n', f"  #  include <{included}>\n"):
                with self.subTest(path=path, form=form):
                    found = problems_of(TREE | {path: form})
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(path, found[0])
                    self.assertIn(expected, found[0])


if __name__ == "__main__":
    unittest.main()
