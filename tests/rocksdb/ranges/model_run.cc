#include "tests/rocksdb/ranges/model_run.h"

#include <algorithm>
#include <cstring>

#include "integration/rocksdb/compat/open_db.h"
#include "tests/rocksdb/ranges/model_steps.h"

namespace blocksieve::testing {

namespace {

constexpr size_t kMostSnapshots = 3;

}  // namespace

void ModelRun::Open() {
  report_.where =
      std::string(kind_.name) + ", seed " + std::to_string(seed_) + ", " + opening_.name;
  const rocksdb::Options options = opening_.config.ToOptions();
  if (traits_.transactions) {
    MustBeOk(rocksdb::TransactionDB::Open(options, {}, path_, &transactions_), report_.where);
    db_.reset(transactions_);
  } else {
    MustBeOk(rocksdb_plugin::OpenDb(options, path_, &db_), report_.where);
  }
  AdvanceTime();
}

void ModelRun::Close() {
  StopReads();
  DropIterators();
  DropSnapshots();
  db_.reset();
}

void ModelRun::Reopen() {
  Close();
  opening_ = ModelOpening(kind_, traits_, &dice_);
  Open();
}

void ModelRun::StopReads() {
  if (reads_) reads_->Stop(&report_);
  reads_.reset();
}

void ModelRun::DropSnapshots() {
  for (const RowView& view : snapshots_) {
    if (view.snapshot != nullptr) db_->ReleaseSnapshot(view.snapshot);
  }
  snapshots_.clear();
}

void ModelRun::AdvanceTime() {
  ++time_;
  now_.assign(sizeof(time_), '\0');
  std::memcpy(now_.data(), &time_, sizeof(time_));  // as EncodeU64Ts on little-endian
  now_slice_ = now_;
}

void ModelRun::Step() {
  if (kind_.reads_in_threads && !reads_) {
    reads_.emplace(db_.get(), 2, kind_.timestamps, kind_.plain_reads, dice_.Bits());
  }
  const uint64_t dice = dice_.Below(1000);
  if (dice < 230) {
    WriteBatch();
  } else if (dice < 260) {
    LookUp();
  } else if (dice < 750) {
    MoveIterator();
  } else if (dice < 910) {
    ScanShortly();
  } else if (dice < 920) {
    AddOrDropSnapshot();
  } else if (dice < 930) {
    Refresh();
  } else if (dice < 945) {
    Flush();
  } else if (dice < 948) {
    Compact();
  } else if (dice < 952) {
    Ingest();
  } else if (dice < 953) {
    Reopen();
  } else if (dice < 963) {
    Commit();
  } else if (dice < 980) {
    ScanOverBatch();
  } else if (dice < 981) {
    ScanOtherInstance();
  } else if (dice < 985) {
    ScanFile();
  } else if (dice < 986) {
    ScanAll();
  }
}

void ModelRun::AddOrDropSnapshot() {
  if (snapshots_.size() < kMostSnapshots) {
    // With timestamps, a time is enough.
    snapshots_.push_back(kind_.timestamps ? RowView{model_.Now(), nullptr, now_}
                                          : RowView{model_.Now(), db_->GetSnapshot(), ""});
    return;
  }
  const rocksdb::Snapshot* const dropped = snapshots_.front().snapshot;
  snapshots_.erase(snapshots_.begin());
  if (dropped == nullptr) return;
  std::erase_if(iterators_, [&](const auto& each) { return each->snapshot() == dropped; });
  db_->ReleaseSnapshot(dropped);
}

void RunModel(const ModelKind& kind, uint64_t seed, uint64_t operations, ModelReport* report) {
  ModelRun run(kind, seed, report);
  const uint64_t end = report->operations + operations;
  while (report->operations < end && report->num_wrong == 0) run.Step();
}

}  // namespace blocksieve::testing
