#include "integration/cli/rocksdb/rocksdb_engine.h"

#include "integration/cli/rocksdb/table_layout.h"

namespace blocksieve::cli {
namespace {

class TheRocksDbEngine final : public Engine {
 public:
  std::string_view name() const override { return "rocksdb"; }
  std::unique_ptr<LoadedDatabase> Load(const LoadTarget& target) const override {
    return LoadRocksDb(target);
  }
  std::unique_ptr<ReadDatabase> Open(const std::string& path) const override {
    return OpenRocksDb(path);
  }
  std::vector<FilePlace> ListFiles(const std::string& path) const override {
    return ListRocksDbFiles(path);
  }
  std::unique_ptr<TableFile> OpenFile(const FilePlace& place) const override {
    return OpenRocksDbFile(place);
  }
  AskedRatesByFamily RatesAskedFor(const std::string& path) const override {
    return RatesAskedOfRocksDb(path);
  }
  std::string OptionFor(const FilterPlan& plan) const override {
    return "filter_policy={id=blocksieve;" + plan.setting() + ";kind=auto}";
  }
  // As documented of BlockBasedTableOptions::block_cache in version 7.
  uint64_t DefaultCacheBytes() const override { return 8 << 20; }
  bool IsFile(ByteView end) const override { return IsTable(end); }
};

}  // namespace

const Engine& RocksDbEngine() {
  static const TheRocksDbEngine engine;
  return engine;
}

}  // namespace blocksieve::cli
