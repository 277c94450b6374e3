#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/rocksdb/scan/skip_test_db.h"

namespace blocksieve::testing {

/// A database with short granules over two columns, a number and a text, and rows for it.
class SkipFixture : public ::testing::Test {
 protected:
  inline static const std::vector<std::string> kDefinitions = {"n=int:field:1", "t=field:2"};

  SkipFixture() : config_(SkipConfig(ShortGranules(kDefinitions))) {}

  static std::string Value(uint64_t n) { return std::to_string(n) + "\ttext"; }
  Predicate Is(const std::string& text) { return Where(text, columns_); }

  void Fill(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family = nullptr) {
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    for (uint64_t i = 0; i < 200; ++i) {
      MustBeOk(db->Put({}, column_family, Key(i), Value(i / 10)), "put");
    }
    MustBeOk(db->Flush({}, column_family), "flush");
  }

  const std::vector<Column> columns_ = Columns(kDefinitions);
  DbConfig config_;
};

}  // namespace blocksieve::testing
