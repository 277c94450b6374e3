"""Tests that layering.py finds violations: each case adds one file to a small tree."""

import pathlib
import tempfile
import unittest

import layering

TREE = {
    "include/blocksieve/status.h": "",
    "include/blocksieve/hash.h": "#include <string>\n",
    "include/blocksieve/sizing.h": '#include "blocksieve/status.h"\n',
    "include/blocksieve/filter.h": '#include "blocksieve/hash.h"\n',
    "lib/ribbon/builder.h": '#include "blocksieve/status.h"\n',
    "lib/granule/index.cc": '#include "blocksieve/filter.h"\n#include <xxhash.h>\n',
    "integration/rocksdb/include/blocksieve/rocksdb/filter_policy.h": "#include <rocksdb/db.h>\n",
    "integration/rocksdb/policy/policy.h": '#include "blocksieve/rocksdb/filter_policy.h"\n',
    "integration/rocksdb/policy/policy.cc": '#include "lib/ribbon/builder.h"\n',
    "integration/toylsm/db.h": '#include "blocksieve/filter.h"\n',
    "bench/toylsm/rows.h": '#include "integration/toylsm/db.h"\n',
    "bench/levels/rows.cc": '#include "integration/rocksdb/policy/policy.h"\n#include <rocksdb/db.h>\n',
    "tests/core/bloom/model.h": "",
    "tests/core/filter/rows_test.cc": '#include "tests/core/bloom/model.h"\n',
    "tests/bench/rows_test.cc": '#include "bench/toylsm/rows.h"\n',
}

VIOLATIONS = [
    # file, what it includes, what the finding says
    ("include/blocksieve/bytes.h", "blocksieve/hash.h", "lib/base must not include lib/hash"),
    ("lib/hash/hash.cc", "blocksieve/sizing.h", "lib/hash must not include lib/block"),
    ("lib/bloom/cells.cc", "lib/ribbon/builder.h", "lib/bloom must not include lib/ribbon"),
    ("lib/hash/hash.cc", "rocksdb/db.h", "lib/hash must not include rocksdb"),
    ("lib/hash/hash.cc", "blocksieve/rocksdb/filter_policy.h", "must not include integration/rocksdb/compat"),
    ("lib/hash/hash.cc", "../../tests/core/bloom/model.h", "must not include tests/core"),
    ("include/blocksieve/filter.h", "lib/ribbon/builder.h", "a public header"),
    ("integration/rocksdb/include/blocksieve/rocksdb/filter_policy.h", "lib/ribbon/builder.h", "a public header"),
    ("integration/rocksdb/levels/rates.cc", "integration/rocksdb/policy/policy.h", "levels must not include"),
    ("integration/rocksdb/plugin/registry.cc", "integration/toylsm/db.h", "must not include integration/toylsm"),
    ("integration/toylsm/wal.cc", "rocksdb/db.h", "must not include rocksdb"),
    ("bench/skip/main.cc", "bench/toylsm/rows.h", "must not include bench/toylsm"),
    ("bench/toylsm/main.cc", "tests/core/bloom/model.h", "must not include tests/core"),
    ("lib/novelty.cc", "string", "no room"),
    ("include/blocksieve/novelty.h", "string", "no room"),
]


def problems_of(tree):
    with tempfile.TemporaryDirectory() as root:
        for path, source in tree.items():
            file = pathlib.Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source, encoding="utf-8")
        return layering.problems(root)


class LayeringTest(unittest.TestCase):
    def test_a_valid_tree_has_no_problem(self):
        self.assertEqual(problems_of(TREE), [])

    def test_each_violation_is_reported_once_with_its_file(self):
        for path, included, expected in VIOLATIONS:
            for form in (f'#include "{included}"\n', f"  #  include <{included}>\n"):
                with self.subTest(path=path, form=form):
                    found = problems_of(TREE | {path: form})
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(path, found[0])
                    self.assertIn(expected, found[0])

    def test_a_folder_with_too_many_files_is_reported(self):
        crowd = {f"lib/bloom/part_{i}.h": "" for i in range(layering.MAX_FILES + 1)}
        self.assertEqual(
            problems_of(TREE | crowd),
            [f"lib/bloom: {len(crowd)} files, more than {layering.MAX_FILES}"],
        )

    def test_two_types_of_one_name_are_reported(self):
        header = "namespace blocksieve {\nnamespace bench {\nstruct Row {\n};\n}  // namespace bench\n"
        found = problems_of(TREE | {"bench/toylsm/rows.h": header, "bench/scale/rows.h": header})
        self.assertEqual(len(found), 1, found)
        self.assertIn("blocksieve::bench::Row is defined in", found[0])
        other = {"bench/scale/rows.h": header.replace("bench", "scale")}
        self.assertEqual(problems_of(TREE | {"bench/toylsm/rows.h": header} | other), [])


if __name__ == "__main__":
    unittest.main()
