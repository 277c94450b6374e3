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
///
/// With a merge operator, a row that cannot match may have an operand in a block that is read, and
/// its base in one that is left out. If the merge then fails, another iterator of the same snapshot
/// reads on from the row before, leaving out nothing, until the next seek.
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
    BLOCKSIEVE_RETURN_IF_ERROR(PruneOrReadAll(db_, column_family_, db_options, condition_, base,
                                              /*can_lack_bases=*/true, &pruning));
    const ReadPruningCounts counts = pruning->counts();
    const bool may_lack_bases =
        db_options.merge_operator != nullptr && counts.files_pruned + counts.files_by_block != 0;
    rocksdb::ReadOptions options = pruning->read_options();
    std::unique_ptr<rocksdb::ManagedSnapshot> snapshot;
    if (may_lack_bases && options.snapshot == nullptr) {
      snapshot = std::make_unique<rocksdb::ManagedSnapshot>(db_);
      options.snapshot = snapshot->snapshot();
    }
    std::unique_ptr<rocksdb::Iterator> iterator;
    BLOCKSIEVE_RETURN_IF_ERROR(Make(options, &iterator));
    base_ = std::move(iterator);
    pruned_.reset();
    pruning_ = std::move(pruning);
    snapshot_ = std::move(snapshot);
    may_lack_bases_ = may_lack_bases;
    status_ = rocksdb::Status::OK();
    return status_;
  }

  bool Valid() const override { return status_.ok() && base_->Valid(); }
  rocksdb::Status status() const override { return status_.ok() ? base_->status() : status_; }

  void SeekToFirst() override { SeekFrom(nullptr, &rocksdb::Iterator::Next); }
  void SeekToLast() override { SeekFrom(nullptr, &rocksdb::Iterator::Prev); }
  void Seek(const rocksdb::Slice& target) override { SeekFrom(&target, &rocksdb::Iterator::Next); }
  void SeekForPrev(const rocksdb::Slice& target) override {
    SeekFrom(&target, &rocksdb::Iterator::Prev);
  }
  void Next() override { MoveBy(&rocksdb::Iterator::Next); }
  void Prev() override { MoveBy(&rocksdb::Iterator::Prev); }

  rocksdb::Status GetProperty(std::string name, std::string* value) override {
    if (name != kPruningProperty) return base_->GetProperty(std::move(name), value);
    *value = pruning_->ToString();
    return rocksdb::Status::OK();
  }

 private:
  using Step = void (rocksdb::Iterator::*)();

  rocksdb::Status Make(const rocksdb::ReadOptions& options,
                       std::unique_ptr<rocksdb::Iterator>* iterator) const {
    iterator->reset(make_(options));
    if (*iterator != nullptr) return (*iterator)->status();
    return rocksdb::Status::InvalidArgument("blocksieve: the function made no iterator");
  }

  bool IsMadeAnew() const override { return snapshot_ != nullptr; }

  // RocksDB decides whether the iterator can be refreshed; then all begins anew, as new files may
  // be left out.
  rocksdb::Status OnRefreshed(const rocksdb::Snapshot* snapshot) override {
    return PublicCall({}, [&] {
      rocksdb::ReadOptions options = pruning_->read_options();
      options.snapshot = snapshot;
      return Open(db_->GetOptions(column_family_), options);
    });
  }

  // Moves the base iterator to the target, or to the end from which `step` goes.
  void Place(const rocksdb::Slice* target, Step step) {
    const bool is_forward = step == &rocksdb::Iterator::Next;
    if (target == nullptr) {
      is_forward ? base_->SeekToFirst() : base_->SeekToLast();
    } else {
      is_forward ? base_->Seek(*target) : base_->SeekForPrev(*target);
    }
  }

  void SeekFrom(const rocksdb::Slice* target, Step step) {
    if (pruned_ != nullptr) base_ = std::move(pruned_);
    Place(target, step);
    Find(step);
    ReadAllIfItFailed(target, /*is_past=*/false, step);
  }

  void MoveBy(Step step) {
    const std::string from = may_lack_bases_ ? base_->key().ToString() : std::string();
    (base_.get()->*step)();
    Find(step);
    const rocksdb::Slice last(from);
    ReadAllIfItFailed(&last, /*is_past=*/true, step);
  }

  // Repeats the move by a base iterator that leaves out nothing. `is_past`: to a row past `target`.
  void ReadAllIfItFailed(const rocksdb::Slice* target, bool is_past, Step step) {
    if (!may_lack_bases_ || pruned_ != nullptr || !base_->status().IsCorruption()) return;
    rocksdb::ReadOptions options = pruning_->read_options();
    if (snapshot_ != nullptr) options.snapshot = snapshot_->snapshot();
    std::unique_ptr<rocksdb::Iterator> all;
    status_ = PruneOrReadAll(db_, column_family_, db_->GetOptions(column_family_), std::nullopt,
                             options, /*can_lack_bases=*/true, &reading_all_);
    if (status_.ok()) status_ = Make(reading_all_->read_options(), &all);
    if (!status_.ok()) return;
    pruned_ = std::exchange(base_, std::move(all));
    Place(target, step);
    if (is_past && base_->Valid() && column_family_->GetComparator()->Equal(base_->key(), *target))
      (base_.get()->*step)();
    Find(step);
  }

  // Moves on by `step` to a row that matches.
  void Find(Step step) {
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
  bool may_lack_bases_ = false;
  std::unique_ptr<rocksdb::ManagedSnapshot> snapshot_;  // if `options` had none
  std::shared_ptr<ReadPruning> reading_all_;            // of the base iterator, if `pruned_` is set
  std::unique_ptr<rocksdb::Iterator> pruned_;           // set aside until the next seek
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
