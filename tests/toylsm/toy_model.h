#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "integration/toylsm/db.h"
#include "tests/support/environment.h"
#include "tests/support/must.h"
#include "tests/toylsm/fault_env.h"

// The model of a database: a map.

namespace blocksieve::toylsm {

using Model = std::map<std::string, std::string>;
using testing::LongTests;
using testing::Must;

inline void MustBeOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }

/// Options so small that flushes and compactions happen soon.
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
  for (FilterOptions& filter : options.key_filters) {
    filter.ranges = true;
    filter.range_fpr = 0.05;
  }
  options.skip_index.columns = {"word=field:1", "number=int:2", "tags=words:3"};
  options.cache_bytes = 64 << 10;
  return options;
}

/// All remaining rows of an iterator or a scan.
template <class Rows>
Result<Model> ReadAll(const std::unique_ptr<Rows>& rows) {
  Model all;
  for (; rows->Valid(); rows->Next()) all.emplace(rows->key(), rows->value());
  if (!rows->status().ok()) return rows->status();
  return all;
}

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

/// Reads a database in every way. All results must equal the model's. Returns the errors.
inline std::vector<Status> CheckReads(Db* db, const Model& model,
                                      const std::vector<Predicate>& predicates) {
  std::vector<Status> errors;
  const auto is_right = [&errors](const auto& result, const auto& expected) {
    if (!result.ok()) errors.push_back(result.status());
    return !result.ok() || *result == expected;
  };
  EXPECT_TRUE(is_right(ReadAll(db->NewIterator()), model));
  Model keys = model;
  keys.insert({{"absent", ""}, {"key0", ""}, {"key8", ""}, {"zebra", ""}});
  for (const auto& [key, unused] : keys) {
    const auto row = model.find(key);
    EXPECT_TRUE(
        is_right(db->Get(key), row == model.end() ? std::nullopt : std::optional(row->second)))
        << key;
    const KeyRange range{.begin = key, .end = key + '\0'};
    EXPECT_TRUE(is_right(ReadAll(db->NewIterator(range)), Within(model, range))) << key;
  }
  for (const Predicate& predicate : predicates) {
    const Model matching = Matching(model, predicate);
    EXPECT_TRUE(is_right(ReadAll(db->Scan(predicate)), matching)) << predicate.ToText();
    EXPECT_TRUE(is_right(ReadAll(db->Scan(predicate, /*use_index=*/false)), matching));
  }
  return errors;
}

/// A database and the model that it must agree with.
class ModelDb {
 public:
  explicit ModelDb(Options options) : options_(std::move(options)) {}

  Db* operator->() { return db_.get(); }
  Db* get() { return db_.get(); }
  /// The acknowledged writes.
  const Model& model() const { return model_; }

  /// `value` nullopt: a delete. After an error the write may or may not have happened.
  Status Write(const std::string& key, std::optional<std::string> value, bool sync = false) {
    Status status = value ? db_->Put(key, *value, {.sync = sync}) : db_->Delete(key, {sync});
    unsynced_.emplace_back(key, std::move(value));
    if (!status.ok()) return status;
    Apply(unsynced_.back(), &model_);
    ++num_acknowledged_;
    if (sync) ForgetHistory();
    return status;
  }
  Status Flush() { return Synced(db_->Flush()); }
  Status Compact() { return Synced(db_->Compact()); }

  /// Opens or reopens the database. It must have the state after some write: at least all
  /// acknowledged ones or, after a power loss, all synced ones.
  Status Reopen(bool lost_power = false) {
    db_ = nullptr;
    auto db = Db::Open(options_, "/db");
    if (!db.ok()) return db.status();
    db_ = *std::move(db);
    const Model found = Must(ReadAll(db_->NewIterator()));
    for (size_t n = 0;; ++n) {
      if ((lost_power || n >= num_acknowledged_) && found == synced_) break;
      if (n == unsynced_.size()) {
        ADD_FAILURE() << "writes were lost, resurrected or torn";
        break;
      }
      Apply(unsynced_[n], &synced_);
    }
    model_ = found;
    ForgetHistory();
    return Status::Ok();
  }

 private:
  using Change = std::pair<std::string, std::optional<std::string>>;

  static void Apply(const Change& change, Model* model) {
    model->erase(change.first);
    if (change.second) model->emplace(change.first, *change.second);
  }

  Status Synced(Status status) {
    if (status.ok()) ForgetHistory();
    return status;
  }
  void ForgetHistory() {
    synced_ = model_;
    unsynced_.clear();
    num_acknowledged_ = 0;
  }

  const Options options_;
  std::unique_ptr<Db> db_;
  Model model_;
  Model synced_;                  // the state that survives a power loss
  std::vector<Change> unsynced_;  // later changes; the last one may have failed
  size_t num_acknowledged_ = 0;   // of these
};

}  // namespace blocksieve::toylsm
