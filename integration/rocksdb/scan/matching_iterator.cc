// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/iterator.h>
#include <rocksdb/snapshot.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "blocksieve/rocksdb/prune_reads.h"
#include "integration/rocksdb/compat/forwarding_iterator.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "lib/base/errors.h"

namespace blocksieve {

using namespace rocksdb_plugin;  // NOLINT: the same component

namespace {

constexpr std::string_view kPruningProperty = "blocksieve.pruning";

/// The rows of a base iterator that match a condition. Owns what the base iterator reads by.
class MatchingIterator final : public ForwardingIterator {
 public:
  MatchingIterator(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                   std::optional<Predicate> condition, IteratorFactory make)
      : db_(db),
        column_family_(column_family),
        condition_(std::move(condition)),
        make_(std::move(make)) {}

  ~MatchingIterator() override { base_.reset(); }  // before the options that it reads by

  /// Decides for the files of this moment, and makes the base iterator. `base` may be the options
  /// of the decision before. Errors: those of PruneReads and of the base iterator; then nothing
  /// has changed.
  rocksdb::Status Open(const rocksdb::Options& db_options, const rocksdb::ReadOptions& base) {
    std::shared_ptr<ReadPruning> pruning;
    BLOCKSIEVE_RETURN_IF_ERROR(
        PruneOrReadAll(db_, column_family_, db_options, condition_, base, &pruning));
    std::unique_ptr<rocksdb::Iterator> iterator(make_(pruning->read_options()));
    if (iterator == nullptr) {
      return rocksdb::Status::InvalidArgument("blocksieve: the function made no iterator");
    }
    BLOCKSIEVE_RETURN_IF_ERROR(iterator->status());
    base_ = std::move(iterator);
    pruning_ = std::move(pruning);
    status_ = rocksdb::Status::OK();
    return status_;
  }

  bool Valid() const override { return status_.ok() && base_->Valid(); }
  rocksdb::Status status() const override { return status_.ok() ? base_->status() : status_; }

  void SeekToFirst() override {
    base_->SeekToFirst();
    Find(&rocksdb::Iterator::Next);
  }
  void SeekToLast() override {
    base_->SeekToLast();
    Find(&rocksdb::Iterator::Prev);
  }
  void Seek(const rocksdb::Slice& target) override {
    base_->Seek(target);
    Find(&rocksdb::Iterator::Next);
  }
  void SeekForPrev(const rocksdb::Slice& target) override {
    base_->SeekForPrev(target);
    Find(&rocksdb::Iterator::Prev);
  }
  void Next() override {
    base_->Next();
    Find(&rocksdb::Iterator::Next);
  }
  void Prev() override {
    base_->Prev();
    Find(&rocksdb::Iterator::Prev);
  }

  rocksdb::Status GetProperty(std::string name, std::string* value) override {
    if (name != kPruningProperty) return base_->GetProperty(std::move(name), value);
    *value = pruning_->ToString();
    return rocksdb::Status::OK();
  }

 private:
  // RocksDB decides whether the iterator can be refreshed; then all begins anew, as new files may
  // be left out.
  rocksdb::Status OnRefreshed(const rocksdb::Snapshot* snapshot) override {
    return PublicCall({}, [&] {
      rocksdb::ReadOptions options = pruning_->read_options();
      options.snapshot = snapshot;
      return Open(db_->GetOptions(column_family_), options);
    });
  }

  // Moves on by `step` to a row that matches.
  void Find(void (rocksdb::Iterator::*step)()) {
    constexpr uint64_t kRowsBetweenLooks = 128;
    status_ = rocksdb::Status::OK();
    if (!condition_) return;
    const rocksdb::ReadOptions& options = pruning_->read_options();
    for (uint64_t skipped = 0; base_->Valid(); (base_.get()->*step)()) {
      if (!rocksdb_plugin::PrepareValue(base_.get())) return;  // its status says why
      if (condition_->Matches(Row(base_->key().ToStringView(), base_->value().ToStringView())))
        return;
      ++skipped;
      if (options.max_skippable_internal_keys != 0 &&
          skipped > options.max_skippable_internal_keys) {
        status_ = rocksdb::Status::Incomplete("Too many rows that do not match were skipped.");
        return;
      }
      if (options.deadline.count() != 0 && skipped % kRowsBetweenLooks == 0 &&
          db_->GetEnv()->NowMicros() > static_cast<uint64_t>(options.deadline.count())) {
        status_ = rocksdb::Status::TimedOut("deadline of ReadOptions, in rows that do not match");
        return;
      }
    }
  }

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const column_family_;
  const std::optional<Predicate> condition_;
  const IteratorFactory make_;
  std::shared_ptr<ReadPruning> pruning_;
  rocksdb::Status status_;
};

}  // namespace

rocksdb::Status NewIterator(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                            std::string_view condition, const rocksdb::ReadOptions& options,
                            const IteratorFactory& make,
                            std::unique_ptr<rocksdb::Iterator>* iterator) {
  return PublicCall({{"db", db}, {"iterator", iterator}}, [&]() -> rocksdb::Status {
    iterator->reset();
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    const rocksdb::Options db_options = db->GetOptions(column_family);
    std::optional<Predicate> predicate;
    if (!condition.empty()) {
      predicate.emplace(Predicate::Constant(true));
      BLOCKSIEVE_RETURN_IF_ERROR(ParseCondition(condition, db_options, &*predicate));
    }
    auto rows = std::make_unique<MatchingIterator>(
        db, column_family, std::move(predicate),
        make ? make : [=](const rocksdb::ReadOptions& read) {
          return db->NewIterator(read, column_family);
        });
    BLOCKSIEVE_RETURN_IF_ERROR(rows->Open(db_options, options));
    *iterator = std::move(rows);
    return rocksdb::Status::OK();
  });
}

rocksdb::Status NewIterator(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                            std::string_view condition, const rocksdb::ReadOptions& options,
                            std::unique_ptr<rocksdb::Iterator>* iterator) {
  return NewIterator(db, column_family, condition, options, IteratorFactory(), iterator);
}

}  // namespace blocksieve
