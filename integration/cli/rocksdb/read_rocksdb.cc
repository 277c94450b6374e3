#include <rocksdb/db.h>

#include <utility>

#include "blocksieve/rocksdb/skip_scan.h"
#include "integration/cli/engine/engine.h"
#include "integration/cli/rocksdb/rocksdb_engine.h"
#include "integration/cli/rocksdb/stored_database.h"
#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

class RocksDbScan final : public RowScan {
 public:
  explicit RocksDbScan(std::unique_ptr<SkipScan> scan) : scan_(std::move(scan)) {}

  bool Valid() const override { return scan_->Valid(); }
  void Next() override { scan_->Next(); }
  std::string_view key() const override { return scan_->key().ToStringView(); }
  std::string_view value() const override { return scan_->value().ToStringView(); }
  std::string problem() const override {
    return scan_->status().ok() ? "" : scan_->status().ToString();
  }
  ScanExplanation Explain() const override { return scan_->Explain(); }

 private:
  const std::unique_ptr<SkipScan> scan_;
};

class ReadRocksDb final : public ReadDatabase {
 public:
  explicit ReadRocksDb(const std::string& path) : path_(path), db_(OpenReadOnly(path)) {}

  SkipIndexSummary Indexes() override { return IndexesOf(db_.get(), path_); }

  std::unique_ptr<RowScan> Scan(const Predicate& predicate, const ScanRequest& request) override {
    SkipScanOptions options;
    options.limit = request.limit;
    options.reverse = request.reverse;
    options.order = request.order;
    options.count_granules = request.counts && request.limit == 0;
    options.use_index = request.use_index;
    options.explain = request.explain;
    options.progress = request.progress;
    std::unique_ptr<SkipScan> scan;
    const rocksdb::Status status = SkipScan::Create(db_.get(), nullptr, predicate, options, &scan);
    if (!status.ok()) term::Fail("cannot scan database {}: {}", path_, status.ToString());
    return std::make_unique<RocksDbScan>(std::move(scan));
  }

 private:
  const std::string path_;
  const std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

std::unique_ptr<ReadDatabase> OpenRocksDb(const std::string& path) {
  return std::make_unique<ReadRocksDb>(path);
}

}  // namespace blocksieve::cli
