#include "integration/cli/database/database.h"

#include <rocksdb/comparator.h>
#include <rocksdb/file_system.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "integration/cli/database/open_database.h"
#include "integration/cli/term/failure.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve::cli {
namespace {

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

bool Exists(const std::filesystem::file_status& status) {
  return status.type() != std::filesystem::file_type::not_found;
}

std::filesystem::file_status StatusOf(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (Exists(status) && error) term::Fail("cannot open database {}: {}", path, error.message());
  return status;
}

}  // namespace

void CheckDatabase(const std::string& path) {
  if (!Exists(StatusOf(path))) term::Fail("database {} does not exist", path);
  if (!HasRocksDb(path)) term::Fail("{} is not a database: it has no file CURRENT", path);
}

void CheckFamily(const std::string& path, const std::string& family) {
  std::vector<std::string> names;
  for (const auto& known : ReadStoredOptions(path, /*strict=*/false).families) {
    if (known.name == family) return;
    names.push_back(known.name);
  }
  FailFamily(family, names);
}

void CheckLevel(const std::string& path, std::optional<uint64_t> level) {
  if (!level) return;
  int num_levels = 1;
  for (const auto& [name, options] : FamiliesOf(path)) {
    num_levels = std::max(num_levels, options.num_levels);
  }
  if (*level < static_cast<uint64_t>(num_levels)) return;
  term::FailUsage("--level is {}; allowed: 0 to {}", *level, num_levels - 1);
}

void CheckPlaceForDatabase(const std::string& path) {
  const auto status = StatusOf(path);
  if (!Exists(status) || HasRocksDb(path)) return;
  std::error_code error;
  if (std::filesystem::is_directory(status) && std::filesystem::is_empty(path, error)) return;
  if (error) term::Fail("cannot open database {}: {}", path, error.message());
  term::Fail("{} is neither a database nor an empty directory", path);
}

std::vector<FilePlace> ListFiles(const std::string& path) {
  const std::vector<rocksdb::LiveFileMetaData> files = LiveFiles(path);
  auto families = FamiliesOf(path);
  std::vector<FilePlace> places;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const rocksdb::ColumnFamilyOptions& options = families[file.column_family_name];
    // FIFO compaction leaves files on level 0.
    const bool stays = options.compaction_style == rocksdb::kCompactionStyleFIFO;
    places.push_back({.path = file.db_path + file.name,  // which begins with a slash
                      .family = file.column_family_name,
                      .level = file.level,
                      .is_short_lived = file.level == 0 && !stays,
                      .keys = RangeOf(file, options.comparator)});
  }
  return places;
}

std::vector<std::string> OrphanIndexes(const std::string& path) {
  std::set<std::string> directories{path};
  for (const rocksdb::LiveFileMetaData& file : LiveFiles(path)) directories.insert(file.db_path);
  std::vector<std::string> orphans;
  for (const std::string& directory : directories) {
    for (std::string& orphan :
         rocksdb_plugin::OrphanSidecars(rocksdb::FileSystem::Default().get(), directory)) {
      orphans.push_back(std::move(orphan));
    }
  }
  return orphans;
}

RequestedRatesByFamily ReadRequestedRates(const std::string& path) {
  RequestedRatesByFamily rates;
  for (const auto& [name, options] : FamiliesOf(path)) {
    if (const auto* const policy = PolicyOf(options)) rates[name] = policy->options();
  }
  return rates;
}

// OPTIONS files record only whether there is a cache. The default size differs by version.
uint64_t CacheBytes(const std::string& path) {
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

}  // namespace blocksieve::cli
