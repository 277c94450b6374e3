#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/terminal.h"
#include "bench/toylsm/experiment.h"
#include "bench/toylsm/tree.h"

namespace blocksieve::bench::toy {
namespace {

using toylsm::Count;

constexpr double kTargetFpr = 0.01;
constexpr uint32_t kBlocksPerFilter = 8;
constexpr size_t kHundredths = 9;  // that are looked at, of hundred

struct FilterSetup {
  std::string name;
  std::optional<FilterKind> kind;  // none: no filters
  uint32_t granule_blocks = 0;     // 0: a filter per file
};

std::vector<FilterSetup> FilterSetups() {
  return {
      {"no filter", {}, 0},
      {"blocked Bloom, per file", FilterKind::kBlockedBloom, 0},
      {"ribbon, per file", FilterKind::kRibbon, 0},
      {"blocked Bloom, per granule", FilterKind::kBlockedBloom, kBlocksPerFilter},
      {"ribbon, per granule", FilterKind::kRibbon, kBlocksPerFilter},
  };
}

LookupCounts ReadCounts(const toylsm::Counters& counters, uint64_t lookups) {
  return {
      .lookups = lookups,
      .data_blocks_from_disk = counters.Get(Count::kDataBlocksFromDisk),
      .data_blocks_from_cache = counters.Get(Count::kDataBlocksFromCache),
      .filter_blocks_from_disk = counters.Get(Count::kFilterBlocksFromDisk),
      .filter_blocks_from_cache = counters.Get(Count::kFilterBlocksFromCache),
      .bytes_from_disk = counters.Get(Count::kBytesFromDisk),
      .bytes_from_cache = counters.Get(Count::kBytesFromCache),
      .filter_negatives = counters.Get(Count::kFilterNegatives),
      .false_positives = counters.Get(Count::kFilterFalsePositives),
      .true_positives = counters.Get(Count::kFilterTruePositives),
  };
}

class Lookups {
 public:
  Lookups(toylsm::Db& db, const Rows& rows, LookupResult& result)
      : db_(db), rows_(rows), result_(result) {}

  LookupCounts Absent(const std::vector<std::string>& keys) {
    ForgetReads(db_);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i % 1'024 == 0) CheckInterrupt();
      if (Must(db_.Get(keys[i]), "read").has_value()) Fail("an absent key was found");
    }
    return Counted(keys.size(), /*found=*/0);
  }

  LookupCounts Present(const std::vector<uint32_t>& rows) {
    ForgetReads(db_);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i % 1'024 == 0) CheckInterrupt();
      CheckPresent(rows[i]);
    }
    return Counted(rows.size(), rows.size());
  }

  // Mean bytes of filters in the cache after looking a hundredth of the keys up, in key order.
  double ResidentFilterBytes() {
    uint64_t resident = 0;
    const size_t count = std::max<size_t>(1, rows_.size() / 100);
    for (size_t i = 0; i < kHundredths; ++i) {
      const size_t begin = (rows_.size() - count) * i / (kHundredths - 1);
      ForgetReads(db_);
      for (size_t row = begin; row < begin + count; ++row) CheckPresent(row);
      resident += db_.cache().resident_bytes(toylsm::Block::Kind::kFilter);
    }
    return static_cast<double>(resident) / kHundredths;
  }

 private:
  void CheckPresent(size_t row) {
    const std::optional<std::string> value = Must(db_.Get(rows_.key(row)), "read");
    if (!value || *value != rows_.value(row)) {
      Fail("{}: a key that was written {}", result_.filters,
           value ? "has another value" : "was not found");
    }
  }

  LookupCounts Counted(uint64_t lookups, uint64_t found) const {
    const LookupCounts counts = ReadCounts(db_.counters(), lookups);
    const bool has_filters = result_.target_fpr > 0;
    const uint64_t positives = counts.false_positives + counts.true_positives;
    if (has_filters && (counts.true_positives != found || counts.data_blocks() != positives ||
                        counts.filter_negatives == 0)) {
      Fail(
          "{}: the counts of {} lookups do not add up: {} keys found, {} true and {} false "
          "positives, {} negatives, {} data blocks",
          result_.filters, lookups, found, counts.true_positives, counts.false_positives,
          counts.filter_negatives, counts.data_blocks());
    }
    return counts;
  }

  toylsm::Db& db_;
  const Rows& rows_;
  const LookupResult& result_;
};

void ReadFilterSizes(const toylsm::Db& db, LookupResult& result) {
  for (const auto& file : db.version()->AllFiles()) {
    for (const toylsm::BlockHandle& filter : file->index().filters) {
      result.filter_bytes += filter.raw_bytes;
      result.filter_memory_bytes += filter.raw_bytes + sizeof(toylsm::Block);
    }
  }
}

}  // namespace

void MeasureLookups(const Rows& rows, const LookupKeys& keys, uint64_t seed,
                    const std::filesystem::path& db_dir, Progress& progress, Results& results) {
  const std::filesystem::path path = db_dir / "db";
  for (const FilterSetup& setup : FilterSetups()) {
    LookupResult& result = results.lookups.emplace_back();
    result.filters = setup.name;
    toylsm::Options options = TreeOptions(rows);
    options.cache_bytes = results.cache_bytes;
    if (setup.kind) {
      result.target_fpr = kTargetFpr;
      result.per_granule = setup.granule_blocks > 0;
      options.key_filters = {{.kind = *setup.kind, .target_fpr = kTargetFpr}};
      options.filter_granule_blocks = setup.granule_blocks;
    }
    progress.Show(fmt::format("{}: filling", setup.name));
    WriteRows(*OpenDb(options, path), rows, seed);
    {
      const auto db = OpenDb(options, path);
      result.block_index_bytes = db->counters().Get(Count::kBlockIndexBytes) +
                                 db->maintenance_counters().Get(Count::kBlockIndexBytes);
      result.runs = db->version()->runs.size();
      ReadFilterSizes(*db, result);
      Lookups lookups(*db, rows, result);
      progress.Show(fmt::format("{}: looking up", setup.name));
      result.absent = lookups.Absent(keys.absent);
      result.present = lookups.Present(keys.present);
      result.resident_filter_bytes = lookups.ResidentFilterBytes();
    }
    std::filesystem::remove_all(path);
  }
}

}  // namespace blocksieve::bench::toy
