#include "integration/cli/maintenance/options_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "integration/cli/database/database.h"
#include "integration/cli/database/filter_options.h"
#include "integration/rocksdb/compat/stock_filters.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::Judge;

constexpr const char* kDefaultPolicy = "bloomfilter:10:false";

std::string RecordPrefix(const std::string& family) {
  return fmt::format("# blocksieve: files of \"{}\" had ", family);
}

// RocksDB rounds the size of a filter to cache lines, so 10 bits per key are 9.94 or 10.3.
double RoundedBits(double bits) {
  constexpr double kSlack = 0.35;
  const double whole = std::round(bits);
  return std::abs(bits - whole) <= kSlack ? whole : std::round(bits * 10) / 10;
}

}  // namespace

KeptOptions::KeptOptions(const std::string& database) {
  for (const std::string& name : OptionsFileNames(database, kKept)) {
    files_.push_back(ReadOptionsText(database + "/" + name));
  }
}

std::optional<std::string> KeptOptions::Find(const OptionsSection& section,
                                             const std::string& option) const {
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    auto value = file->Find(section, option);
    if (!IsNone(value) && !NamesBlocksieve(*value)) return value;
  }
  return std::nullopt;
}

std::optional<std::string> KeptOptions::RecordedPolicy(const std::string& family) const {
  const std::string prefix = RecordPrefix(family);
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    const size_t record = file->text().rfind("\n" + prefix);
    if (record == std::string::npos) continue;
    const size_t begin = record + 1 + prefix.size();
    return file->text().substr(begin, file->text().find('\n', begin) - begin);
  }
  return std::nullopt;
}

std::string KeptOptions::Record(const std::string& family, const std::string& policy) {
  return RecordPrefix(family) + policy + "\n";
}

FiltersOfFiles LookAtFilters(const DatabasePlace& place, const std::string& family) {
  constexpr size_t kMaxFiles = 16;
  std::vector<FilePlace> places = ListFiles(place);
  std::erase_if(places, [&](const FilePlace& file) { return file.family != family; });
  const auto size = [](const FilePlace& file) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file.path, error);
    return error ? 0 : bytes;
  };
  std::ranges::sort(places, std::greater(), size);
  FiltersOfFiles found;
  uint64_t num_bytes = 0;
  uint64_t num_entries = 0;
  double fpr_sum = 0;
  bool is_ribbon = false;
  for (size_t i = 0; i < places.size() && (i < kMaxFiles || !found.has_ours); ++i) {
    const auto file = TableFile::Open(places[i]);
    if (file == nullptr) continue;
    const FilterReport& filter = file->report().filter;
    found.has_ours |= filter.origin == FilterOrigin::kBlocksieve;
    if (filter.origin != FilterOrigin::kStock || i >= kMaxFiles) continue;
    num_bytes += filter.num_bytes;
    num_entries += filter.num_entries;
    fpr_sum += filter.predicted_fpr * static_cast<double>(filter.num_entries);
    is_ribbon |= filter.kind.find("ribbon") != std::string::npos;
  }
  if (num_entries == 0) return found;
  const auto keys = static_cast<double>(num_entries);
  // The policy takes the bits of a Bloom filter with the same FPR.
  const double bits = is_ribbon ? rocksdb_plugin::StockBloomBitsPerKey(fpr_sum / keys)
                                : 8 * static_cast<double>(num_bytes) / keys;
  found.stock_policy = is_ribbon ? fmt::format("ribbonfilter:{}", RoundedBits(bits))
                                 : fmt::format("bloomfilter:{}:false", RoundedBits(bits));
  return found;
}

std::optional<RestoredPolicy> PolicyToRestore(const StoredDatabase& stored, const KeptOptions& kept,
                                              const std::string& family,
                                              const std::optional<std::string>& given) {
  const auto section = OptionsSection::Table(family);
  const std::string present = stored.Policy(family);
  const auto before = kept.Find(section, kPolicy);
  const auto record = kept.RecordedPolicy(family);
  const auto is_kept = [](const std::string& policy) {
    const auto verdict = Judge(policy);
    return verdict.builds() || verdict.kind == rocksdb_plugin::PolicyEffect::kForeign;
  };
  std::optional<FiltersOfFiles> files;
  if (!before && !record && !NamesBlocksieve(present)) {
    if (is_kept(present)) return std::nullopt;
    files = LookAtFilters(stored.place, family);
    if (!files->has_ours) return std::nullopt;
  }
  if (given) return RestoredPolicy{*given, "by --filter-policy"};
  if (before && is_kept(*before)) return RestoredPolicy{*before, "as before blocksieve apply"};
  if (record) return RestoredPolicy{*record, "like the filters before blocksieve apply"};
  if (!files) files = LookAtFilters(stored.place, family);
  if (!files->stock_policy.empty()) {
    return RestoredPolicy{files->stock_policy, "like the stock filters that are left"};
  }
  return RestoredPolicy{kDefaultPolicy, "by default; no other is known"};
}

std::map<std::string, std::string> StandInPolicies(const StoredDatabase& stored) {
  std::map<std::string, std::string> policies;
  std::optional<KeptOptions> kept;
  for (const std::string& family : stored.Families()) {
    const auto policy = Judge(stored.Policy(family));
    if (policy.builds() || policy.kind == rocksdb_plugin::PolicyEffect::kNone) continue;
    if (!kept) kept.emplace(stored.place.path);
    std::string stock = kept->RecordedPolicy(family).value_or("");
    if (stock.empty()) stock = LookAtFilters(stored.place, family).stock_policy;
    policies[family] = stock.empty() ? kDefaultPolicy : stock;
  }
  return policies;
}

}  // namespace blocksieve::cli
