#pragma once

#include <rocksdb/db.h>

#include <string>
#include <vector>

#include "tests/support/test_db.h"

// A database against the map of what must be in it. Each check returns a description of the first
// difference, or "": EXPECT_EQ(CheckGets(...), "").

namespace blocksieve::testing {

/// Get of every key of the model, and of every absent key.
std::string CheckGets(rocksdb::DB* db, const TestDb::Model& model,
                      const std::vector<std::string>& absent,
                      const rocksdb::ReadOptions& read_options = {});

/// The same by MultiGet, present and absent keys mixed, in batches of 0, 1, ..., 64, 0, 1, ... keys
/// (tests/PITFALLS.md, 16: a batch must ask the right filter).
std::string CheckMultiGets(rocksdb::DB* db, const TestDb::Model& model,
                           const std::vector<std::string>& absent,
                           const rocksdb::ReadOptions& read_options = {});

/// Iteration over everything, forwards and backwards.
std::string CheckScan(rocksdb::DB* db, const TestDb::Model& model,
                      const rocksdb::ReadOptions& read_options = {});

/// Iteration inside each prefix of the model (as the prefix extractor of the database has it), with
/// one iterator for all, and from the keys `absent_prefixes` on, with whose prefix there must be
/// nothing.
std::string CheckPrefixScans(rocksdb::DB* db, const TestDb::Model& model,
                             const std::vector<std::string>& absent_prefixes,
                             const rocksdb::ReadOptions& read_options = {});

/// All of the above but prefix scans.
std::string CheckReads(rocksdb::DB* db, const TestDb::Model& model,
                       const std::vector<std::string>& absent,
                       const rocksdb::ReadOptions& read_options = {});

}  // namespace blocksieve::testing
