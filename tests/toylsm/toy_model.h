#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "integration/toylsm/db.h"
#include "tests/support/environment.h"
#include "tests/toylsm/memory_env.h"

// What the tests of the toy LSM share: the model that a database is compared with.

namespace blocksieve::toylsm {

using Model = std::map<std::string, std::string>;

using testing::LongTests;

template <class T>
T MustHave(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().message().c_str());
    std::abort();  // there is nothing to go on with
  }
  return *std::move(result);
}

inline void MustBeOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }

/// A database so small that everything happens soon.
inline Options SmallOptions(Env* env) {
  Options options;
  options.env = env;
  options.memtable_bytes = 8 << 10;
  options.level0_files = 3;
  options.level1_bytes = 16 << 10;
  options.size_ratio = 3;
  options.file_bytes = 4 << 10;
  options.block_bytes = 256;
  options.filter_granule_blocks = 3;
  for (KeyFilterOptions& filter : options.key_filters) filter.range_fpr = 0.05;
  options.value_columns = {*Column::Parse("word=field:1"), *Column::Parse("number=int:2"),
                           *Column::Parse("tags=words:3")};
  options.cache_bytes = 64 << 10;
  return options;
}

/// Everything an iterator sees, forward.
inline Result<Model> ReadAll(Iterator* iterator) {
  Model all;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    all.emplace(iterator->key(), iterator->value());
  }
  if (!iterator->status().ok()) return iterator->status();
  return all;
}

inline Result<Model> ReadAll(Scan* scan) {
  Model all;
  for (; scan->Valid(); scan->Next()) all.emplace(scan->key(), scan->value());
  if (!scan->status().ok()) return scan->status();
  return all;
}

/// Of the keys in the range.
inline Model Within(const Model& model, const KeyRange& range) {
  Model within;
  for (auto row = model.lower_bound(range.begin); row != model.end(); ++row) {
    if (range.EndsAt(row->first)) break;
    within.insert(*row);
  }
  return within;
}

inline Model Matching(const Model& model, const Predicate& predicate) {
  Model matching;
  for (const auto& row : model) {
    if (predicate.Matches(row.second)) matching.insert(row);
  }
  return matching;
}

}  // namespace blocksieve::toylsm
