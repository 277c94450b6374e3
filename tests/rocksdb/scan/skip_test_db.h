#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "lib/column/values.h"
#include "tests/support/must.h"
#include "tests/support/test_db.h"

// Databases with a skip index, and scans with and without the index.

namespace blocksieve::testing {

/// The columns of definitions such as "pkg=field:1".
inline std::vector<Column> Columns(const std::vector<std::string>& definitions) {
  std::vector<Column> columns;
  for (const std::string& definition : definitions) {
    columns.push_back(Must(Column::Parse(definition)));
  }
  return columns;
}

/// An index with short granules, so that a small file has many.
inline SkipIndexOptions ShortGranules(const std::vector<std::string>& definitions,
                                      uint64_t granule_rows = 4) {
  SkipIndexOptions options;
  options.columns = Columns(definitions);
  options.granule_rows = granule_rows;
  options.block_granules = false;
  return options;
}

/// The collector of these options, which are valid.
inline std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewCollectorFactory(
    rocksdb_plugin::SkipIndexSettings settings) {
  MustBeOk(rocksdb_plugin::ToRocksStatus(SkipIndexBuilder::Create(settings.index).status()));
  return std::make_shared<rocksdb_plugin::SkipIndexCollectorFactory>(std::move(settings));
}

inline DbConfig SkipConfig(const rocksdb_plugin::SkipIndexSettings& settings) {
  DbConfig config = MakeConfig(FilterShape::kFull, nullptr);
  config.table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  config.table.block_size = 512;
  config.options.table_properties_collector_factories.push_back(NewCollectorFactory(settings));
  return config;
}

/// Fails without a value below, like merge operators of counters.
class NeedsBase final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "NeedsBase"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& operand,
             std::string* merged, rocksdb::Logger*) const override {
    if (existing == nullptr) return false;
    *merged = existing->ToString() + operand.ToString();
    return true;
  }
};

inline Predicate Where(const std::string& text, std::span<const Column> columns) {
  return Must(Predicate::Parse(text, columns));
}

using ScannedRows = std::vector<std::pair<std::string, std::string>>;

/// Scan options of tests: always read candidates, however few rows exist.
inline SkipScanOptions AlwaysSkip() {
  SkipScanOptions options;
  options.max_rechecked_share = 1;
  options.explain = true;
  return options;
}

inline ScannedRows Scan(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                        const Predicate& predicate, const SkipScanOptions& options,
                        ScanExplanation* explanation = nullptr) {
  ScannedRows rows;
  std::unique_ptr<SkipScan> scan;
  const rocksdb::Status status = SkipScan::Create(db, column_family, predicate, options, &scan);
  EXPECT_TRUE(status.ok()) << status.ToString();
  if (scan == nullptr) return rows;
  for (; scan->Valid(); scan->Next()) {
    rows.emplace_back(scan->key().ToString(), scan->value().ToString());
  }
  EXPECT_TRUE(scan->status().ok()) << scan->status().ToString();
  if (explanation != nullptr) *explanation = scan->Explain();
  return rows;
}

/// An iterator of PruneReads, and the rows that it shows and that match.
struct PrunedRead {
  explicit PrunedRead(rocksdb::DB* db, const std::string& condition = "n = 7",
                      const rocksdb::ReadOptions& base = {}) {
    MustBeOk(PruneReads(db, nullptr, condition, base, &pruning), condition);
    iterator.reset(db->NewIterator(pruning->read_options()));
    Read();
  }

  void Read() {
    rows.clear();
    num_shown = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++num_shown) {
      if (!pruning->Matches(iterator->key(), iterator->value())) continue;
      rows[iterator->key().ToString()] = iterator->value().ToString();
    }
    EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
  }

  ReadPruningCounts counts() const { return pruning->counts(); }

  std::shared_ptr<ReadPruning> pruning;
  std::unique_ptr<rocksdb::Iterator> iterator;
  TestDb::Model rows;
  uint64_t num_shown = 0;
};

/// The first rows of an order, from rows in key order.
inline ScannedRows Sorted(const ScannedRows& rows, const ScanOrder& order, size_t limit) {
  std::vector<std::pair<Value, const std::pair<std::string, std::string>*>> values;
  for (const auto& row : rows) {
    std::optional<Value> best;
    internal::ForEachCompared(order.column, row.second, [&](const Value& value) {
      // Values of JSON columns may not outlive this call; tests order by other columns.
      if (!best || (value.Compare(*best) < 0) != order.is_descending) best = value;
      return true;
    });
    if (best) values.emplace_back(*best, &row);
  }
  std::stable_sort(values.begin(), values.end(), [&](const auto& a, const auto& b) {
    return order.is_descending ? b.first.Compare(a.first) < 0 : a.first.Compare(b.first) < 0;
  });
  ScannedRows sorted;
  for (const auto& [value, row] : values) {
    if (sorted.size() < limit) sorted.push_back(*row);
  }
  return sorted;
}

/// What CheckFilters says.
inline std::vector<std::string> ProblemsOf(rocksdb::DB* db) {
  std::vector<std::string> problems;
  MustBeOk(CheckFilters(db, {}, &problems));
  return problems;
}

/// Scans with and without the index. Expects equal results, and returns the rows. In reverse, with
/// limits and orders: RandomDatabaseTest.
inline ScannedRows ScanBoth(rocksdb::DB* db, const Predicate& predicate,
                            ScanExplanation* explanation = nullptr,
                            SkipScanOptions options = AlwaysSkip(),
                            rocksdb::ColumnFamilyHandle* column_family = nullptr) {
  const ScannedRows rows = Scan(db, column_family, predicate, options, explanation);
  options.use_index = false;
  EXPECT_EQ(Scan(db, column_family, predicate, options), rows);
  return rows;
}

/// The number as six digits.
inline std::string Key(uint64_t i) {
  std::string key = "k000000";
  for (size_t digit = key.size() - 1; i != 0 && digit > 0; i /= 10, --digit) {
    key[digit] = static_cast<char>('0' + i % 10);
  }
  return key;
}

/// A database with short granules over two columns, a number and a text, and rows for it.
class SkipFixture : public ::testing::Test {
 protected:
  inline static const std::vector<std::string> kDefinitions = {"n=int:field:1", "t=field:2"};

  SkipFixture() : config_(SkipConfig({ShortGranules(kDefinitions)})) {}

  static std::string Value(uint64_t n, const std::string& text = "text") {
    return std::to_string(n) + "\t" + text;
  }
  Predicate Is(const std::string& text) { return Where(text, columns_); }

  /// The matching rows, by ScanBoth.
  size_t Count(rocksdb::DB& db, const std::string& where, ScanExplanation* explanation = nullptr,
               const SkipScanOptions& options = AlwaysSkip()) {
    return ScanBoth(&db, Is(where), explanation, options).size();
  }

  /// Calls check() with the last writes in the memtable, in a file, and compacted.
  template <class Check>
  static void ForEachState(TestDb* db, Check check) {
    for (const std::string state : {"memtable", "flushed", "compacted"}) {
      SCOPED_TRACE(state);
      if (state == "flushed") db->Flush();
      if (state == "compacted") db->Compact();
      check();
    }
  }

  void Fill(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family = nullptr) {
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    for (uint64_t i = 0; i < 200; ++i) {
      MustBeOk(db->Put({}, column_family, Key(i), Value(i / 10)));
    }
    MustBeOk(db->Flush({}, column_family));
  }

  const std::vector<Column> columns_ = Columns(kDefinitions);
  DbConfig config_;
};

}  // namespace blocksieve::testing
