#include "tests/rocksdb/model/model_run.h"

#include <cstring>

#include "integration/rocksdb/compat/version_differences.h"

namespace blocksieve::testing {

ModelRun::ModelRun(const ModelKind& kind, uint64_t seed, ModelCounts* counts)
    : kind_(kind),
      dice_(seed),
      keys_(&dice_, kind.is_repeatable),
      traits_(kind, &dice_),
      opening_(kind, traits_, &dice_),
      counts_(*counts) {
  Open();
  WriteBatch();  // before anything is ingested
}

void ModelRun::Open() {
  const rocksdb::Options options = opening_.config.ToOptions();
  if (traits_.transactions) {
    MustBeOk(rocksdb::TransactionDB::Open(options, {}, path_, &transactions_), "open");
    db_.reset(transactions_);
  } else {
    MustBeOk(rocksdb_plugin::OpenDb(options, path_, &db_), "open");
  }
  AdvanceTime();
}

void ModelRun::Close() {
  StopReads();
  iterators_.clear();
  DropSnapshots();
  db_.reset();
}

void ModelRun::Reopen() {
  Close();
  opening_ = ModelOpening(kind_, traits_, &dice_);
  Open();
}

void ModelRun::DropSnapshots() {
  for (const Moment& moment : moments_) {
    if (moment.snapshot != nullptr) db_->ReleaseSnapshot(moment.snapshot);
  }
  moments_.clear();
}

void ModelRun::AddOrDropSnapshot() {
  constexpr size_t kMaxSnapshots = 3;
  if (moments_.size() < kMaxSnapshots) {
    moments_.push_back(kind_.timestamps ? Moment{nullptr, now_} : Moment{db_->GetSnapshot(), ""});
    return;
  }
  const rocksdb::Snapshot* const dropped = moments_.front().snapshot;
  moments_.erase(moments_.begin());
  if (dropped == nullptr) return;
  iterators_.remove_if([&](const auto& each) { return each.moment.snapshot == dropped; });
  db_->ReleaseSnapshot(dropped);
}

void ModelRun::AdvanceTime() {
  ++time_;
  now_.assign(sizeof(time_), '\0');
  std::memcpy(now_.data(), &time_, sizeof(time_));  // as EncodeU64Ts on little-endian
  now_slice_ = now_;
}

void ModelRun::Step() {
  if (kind_.reads_in_threads && threads_.empty()) StartReads();
  struct Choice {
    uint64_t weight;  // per thousand
    void (ModelRun::*step)();
  };
  constexpr Choice kChoices[] = {
      {230, &ModelRun::WriteBatch},
      {30, &ModelRun::LookUp},
      {490, &ModelRun::MoveIterator},
      {160, &ModelRun::ScanShortly},
      {10, &ModelRun::AddOrDropSnapshot},
      {10, &ModelRun::Refresh},
      {15, &ModelRun::Flush},
      {3, &ModelRun::Compact},
      {4, &ModelRun::Ingest},
      {1, &ModelRun::Reopen},
      {10, &ModelRun::Commit},
      {17, &ModelRun::ScanOverBatch},
      {1, &ModelRun::ScanOtherInstance},
      {4, &ModelRun::ScanFile},
      {1, &ModelRun::ScanAll},
  };
  uint64_t dice = dice_.Below(1000);
  for (const auto& [weight, step] : kChoices) {
    if (dice < weight) return (this->*step)();
    dice -= weight;
  }
}

void RunModel(const ModelKind& kind, uint64_t seed, ModelCounts* counts) {
  SCOPED_TRACE(std::string(kind.name) + ", seed " + std::to_string(seed));
  ModelRun run(kind, seed, counts);
  const uint64_t end = counts->operations + kOperationsOfSeed;
  while (counts->operations < end && !::testing::Test::HasFailure()) run.Step();
}

}  // namespace blocksieve::testing
