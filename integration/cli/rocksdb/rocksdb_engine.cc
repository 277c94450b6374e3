#include "integration/cli/rocksdb/rocksdb_engine.h"

#include <fmt/format.h>
#include <rocksdb/comparator.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "integration/cli/rocksdb/filter_options.h"
#include "integration/cli/rocksdb/stored_database.h"
#include "integration/cli/rocksdb/table_reading.h"
#include "integration/rocksdb/compat/cache.h"
#include "integration/rocksdb/compat/class_by_name.h"
#include "integration/rocksdb/levels/level_rates.h"
#include "integration/rocksdb/levels/run_shares.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/policy/policy_options.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::Policy;

// Null if the column family has another policy, or none.
const Policy* PolicyOf(const rocksdb::ColumnFamilyOptions& family) {
  const auto* const table = family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  return table == nullptr ? nullptr : rocksdb_plugin::As<Policy>(table->filter_policy.get());
}

std::map<std::string, rocksdb::ColumnFamilyOptions> FamiliesOf(const std::string& path) {
  std::map<std::string, rocksdb::ColumnFamilyOptions> families;
  for (auto& family : ReadStoredOptions(path, /*strict=*/false).families) {
    families.emplace(family.name, std::move(family.options));
  }
  return families;
}

std::string WithoutTimestamp(std::string key, const rocksdb::Comparator& comparator) {
  key.resize(key.size() - std::min(key.size(), comparator.timestamp_size()));
  return key;
}

LookupRange RangeOf(const rocksdb::LiveFileMetaData& file, const rocksdb::Comparator* comparator) {
  return {.smallest = WithoutTimestamp(file.smallestkey, *comparator),
          .largest = WithoutTimestamp(file.largestkey, *comparator),
          .less = [comparator](std::string_view a, std::string_view b) {
            return comparator->CompareWithoutTimestamp(a, false, b, false) < 0;
          }};
}

std::vector<FilePlace> ListFilesOf(const std::string& path) {
  const std::vector<rocksdb::LiveFileMetaData> files = LiveFiles(path);
  auto families = FamiliesOf(path);
  std::vector<FilePlace> places;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const rocksdb::ColumnFamilyOptions& options = families[file.column_family_name];
    // Under FIFO nothing is compacted: files stay on level 0.
    const bool stays = options.compaction_style == rocksdb::kCompactionStyleFIFO;
    places.push_back({.path = file.db_path + file.name,  // which begins with a slash
                      .family = file.column_family_name,
                      .level = file.level,
                      .is_short_lived = file.level == 0 && !stays,
                      .keys = RangeOf(file, options.comparator)});
  }
  return places;
}

AskedRatesByFamily RatesAskedOf(const std::string& path) {
  AskedRatesByFamily rates;
  for (const auto& family : ReadStoredOptions(path, /*strict=*/false).families) {
    const Policy* const policy = PolicyOf(family.options);
    if (policy == nullptr) continue;
    const FilterPolicyOptions& options = policy->options();
    constexpr double kDefaultSeekFraction = 0.5;  // as filter_policy.h says
    AskedRates& asked = rates[family.name];
    if (!rocksdb_plugin::HasLevelRates(options)) {
      asked.target_fpr = rocksdb_plugin::UniformTargetFpr(options);
    }
    asked.wasted_reads = options.wasted_reads;
    asked.bits_per_key = options.bits_per_key;
    if (options.ranges) asked.seek_fraction = options.seek_fraction.value_or(kDefaultSeekFraction);
    asked.kind_is_auto = options.kind == PolicyKind::kAuto;
    if (!asked.kind_is_auto) {
      asked.kind = rocksdb_plugin::KindOfFile(options.kind, /*is_short_lived=*/false);
    }
  }
  return rates;
}

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
    return ListFilesOf(path);
  }
  std::unique_ptr<TableFile> OpenFile(const FilePlace& place) const override {
    return OpenRocksDbFile(place);
  }
  AskedRatesByFamily RatesAskedFor(const std::string& path) const override {
    return RatesAskedOf(path);
  }
  bool NamesPlugin(const std::string& path) const override {
    const std::vector<OptionsFile> files = OptionsFile::All(path);
    return std::any_of(files.begin(), files.end(), HasPolicyOfBlocksieve);
  }
  std::string OptionFor(const FilterSetting& setting) const override {
    return "filter_policy={id=blocksieve;" + setting.ToText() + ";kind=auto}";
  }
  std::string StepsFor(const FilterSetting& setting, const std::string& path,
                       const std::string& family) const override {
    return StepsText(setting, OptionFor(setting), path, family);
  }
  std::string OptionsFileWith(const std::map<std::string, FilterSetting>& settings,
                              const std::string& path) const override {
    OptionsFile file = OptionsFile::Latest(path);
    for (const auto& [family, setting] : settings) PutOption(OptionFor(setting), {family}, &file);
    return file.text();
  }
  bool AllotsEmptyLevel0() const override { return true; }
  double LeastRate(FilterKind kind, double wasted_reads) const override {
    return rocksdb_plugin::LeastRate(kind, wasted_reads);
  }
  double LeastShareOfLookups() const override { return rocksdb_plugin::kLeastShareOfLookups; }
  std::vector<std::string> RangeOptionsFor(double target_fpr, double range_fpr) const override {
    return {fmt::format(
                "filter_policy={{id=blocksieve;target_fpr={};kind=auto;ranges=true;range_fpr={}}}",
                target_fpr, range_fpr),
            std::string("prefix_extractor=") + rocksdb_plugin::RangeExtractor::kName};
  }
  // OPTIONS files say only whether there is one. The default differs by version.
  uint64_t CacheBytes(const std::string& path) const override {
    const auto families = FamiliesOf(path);
    const bool has_cache = std::any_of(families.begin(), families.end(), [](const auto& family) {
      const auto* const table =
          family.second.table_factory->template GetOptions<rocksdb::BlockBasedTableOptions>();
      return table == nullptr || !table->no_block_cache;
    });
    if (!has_cache) return 0;
    const std::unique_ptr<rocksdb::TableFactory> factory(rocksdb::NewBlockBasedTableFactory());
    return factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache->GetCapacity();
  }
  bool IsFile(ByteView end) const override { return IsTable(end); }
};

}  // namespace

const Engine& RocksDbEngine() {
  static const TheRocksDbEngine engine;
  return engine;
}

}  // namespace blocksieve::cli
