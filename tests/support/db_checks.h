#pragma once

#include <rocksdb/db.h>

#include <string>
#include <vector>

#include "tests/support/test_db.h"

// Compares a database with a map of its expected rows. Each check returns a description of the
// first difference, or "": EXPECT_EQ(CheckGets(...), "").

namespace blocksieve::testing {

/// Checks Get of every key of the model, and of every absent key.
std::string CheckGets(rocksdb::DB* db, const TestDb::Model& model,
                      const std::vector<std::string>& absent);

/// Checks iteration inside each prefix of the model, by the database's prefix extractor, with one
/// iterator for all. Expects no rows with the prefixes of `absent_prefixes`.
std::string CheckPrefixScans(rocksdb::DB* db, const TestDb::Model& model,
                             const std::vector<std::string>& absent_prefixes);

/// CheckGets; the same with MultiGet, present and absent keys mixed, in batches of 0, 1, ..., 64,
/// 0, 1, ... keys (tests/PITFALLS.md, 16: a batch must probe the right filter); and iteration over
/// all rows, forward and backward.
std::string CheckReads(rocksdb::DB* db, const TestDb::Model& model,
                       const std::vector<std::string>& absent);

}  // namespace blocksieve::testing
