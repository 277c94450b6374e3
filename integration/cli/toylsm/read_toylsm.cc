#include "integration/cli/toylsm/toylsm_engine.h"

namespace blocksieve::cli {
namespace {

class ReadToyLsm final : public ReadDatabase {
 public:
  explicit ReadToyLsm(const std::string& path) : stored_(path) {}

  SkipIndexSummary Indexes() override { return IndexesOf(stored_.version(), stored_.context()); }

  std::unique_ptr<RowScan> Scan(const Predicate& predicate, const ScanRequest& request) override {
    return ScanToyLsm(&stored_, predicate, request);
  }

 private:
  StoredToyLsm stored_;
};

}  // namespace

std::unique_ptr<ReadDatabase> OpenToyLsm(const std::string& path) {
  return std::make_unique<ReadToyLsm>(path);
}

}  // namespace blocksieve::cli
