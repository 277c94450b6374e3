#include <filesystem>
#include <system_error>

#include "integration/cli/engine/engine.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/toylsm/toylsm_engine.h"
#include "integration/toylsm/db.h"

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
  }

  void Put(std::string_view key, std::string_view value) override {
    batch_.Put(key, value);
    if (batch_.bytes().size() >= kBatchBytes) WriteBatch();
  }

  void Flush() override {
    WriteBatch();
    Check(db_->Flush());
  }

  // Ends only when all is done; at a second signal, with the process.
  bool Compact() override {
    Check(db_->Compact());
    return true;
  }

  SkipIndexSummary Indexes() const override {
    return IndexesOf(*db_->version(), {&db_->counters(), &db_->cache()});
  }

 private:
  void WriteBatch() {
    Check(db_->Write(batch_));
    batch_ = {};
  }

  void Check(const Status& status) const {
    if (status.ok()) return;
    term::Fail("cannot write database {}: {}; rows of this load may be missing from it", path_,
               status.message());
  }

  const std::string path_;
  std::unique_ptr<toylsm::Db> db_;
  toylsm::WriteBatch batch_;
};

}  // namespace

std::unique_ptr<LoadedDatabase> LoadToyLsm(const LoadTarget& target) {
  return std::make_unique<LoadedToyLsm>(target);
}

}  // namespace blocksieve::cli
