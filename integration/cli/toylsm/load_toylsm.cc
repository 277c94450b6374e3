#include <filesystem>
#include <system_error>

#include "integration/cli/engine/engine.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/toylsm/toylsm_engine.h"
#include "integration/toylsm/db.h"
#include "integration/toylsm/iterator.h"

namespace blocksieve::cli {
namespace {

constexpr size_t kBatchBytes = 1 << 20;

class LoadedToyLsm final : public LoadedDatabase {
 public:
  explicit LoadedToyLsm(const LoadTarget& target) : path_(target.path) {
    if (target.granule_rows != 0) {
      term::FailUsage("--granule-rows {}: a granule of toylsm is a data block, whatever its rows",
                      target.granule_rows);
    }
    if (target.max_index_bytes) {
      term::FailUsage("--max-index-bytes {}: toylsm has no such limit", *target.max_index_bytes);
    }
    toylsm::Options options;
    options.value_target_fpr = target.target_fpr;
    options.value_columns = target.columns;
    for (toylsm::KeyFilterOptions& filter : options.key_filters) {
      filter.range_fpr = target.range_fpr.value_or(0);
    }
    std::error_code error;
    if (std::filesystem::exists(toylsm::ManifestPath(path_), error)) {
      StoredToyLsm stored(path_);
      options.value_columns =
          WithKeptColumns(target.columns, IndexesOf(stored.version(), stored.context()), &notes_);
    }
    std::filesystem::create_directories(path_, error);
    if (error) term::Fail("cannot create database {}: {}", path_, error.message());
    Result<std::unique_ptr<toylsm::Db>> db = toylsm::Db::Open(options, path_);
    if (db.status().code() == StatusCode::kInvalidArgument) {
      term::FailUsage("cannot index so: {}", db.status().message());
    }
    if (!db.ok()) term::Fail("cannot open database {}: {}", path_, db.status().message());
    db_ = *std::move(db);
    is_new_ = NumRows() == 0U;
  }

  bool is_new() const override { return is_new_; }
  uint64_t rows_durable() const override { return rows_durable_; }

  // It is small, so all of it is read.
  std::optional<uint64_t> NumRows() override {
    uint64_t rows = 0;
    const std::unique_ptr<toylsm::Iterator> at = db_->NewIterator();
    for (at->SeekToFirst(); at->Valid(); at->Next()) ++rows;
    return at->status().ok() ? std::optional(rows) : std::nullopt;
  }

  void Put(std::string_view key, std::string_view value) override {
    batch_.Put(key, value);
    ++rows_in_batch_;
    if (batch_.bytes().size() >= kBatchBytes) WriteBatch();
  }

  void Flush() override {
    WriteBatch();
    Check(db_->Flush());
  }

  // Ends only when all is done; at a second signal, with the process.
  bool Compact(const CompactionProgress& progress) override {
    Check(db_->Compact(progress));
    return true;
  }

  SkipIndexSummary Indexes() const override {
    return IndexesOf(*db_->version(), {&db_->counters(), &db_->cache()});
  }

 private:
  void WriteBatch() {
    Check(db_->Write(batch_));
    // Logged, and read again from there if it is never flushed.
    rows_durable_ += rows_in_batch_;
    rows_in_batch_ = 0;
    batch_ = {};
  }

  void Check(const Status& status) const {
    if (status.ok()) return;
    term::Fail("cannot write database {}: {}", path_, status.message());
  }

  const std::string path_;
  std::unique_ptr<toylsm::Db> db_;
  bool is_new_ = false;
  uint64_t rows_in_batch_ = 0;
  uint64_t rows_durable_ = 0;
  toylsm::WriteBatch batch_;
};

}  // namespace

std::unique_ptr<LoadedDatabase> LoadToyLsm(const LoadTarget& target) {
  return std::make_unique<LoadedToyLsm>(target);
}

}  // namespace blocksieve::cli
