#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/files.h"
#include "bench/toylsm/tree.h"

namespace blocksieve::bench::toy {
namespace {

constexpr double kTargetFpr = 0.01;
constexpr uint32_t kBlocksPerFilter = 8;
constexpr size_t kHundredths = 9;  // of the keys, for which the mean is taken

struct FilterSetup {
  const char* name;
  std::optional<FilterKind> kind;  // none: no filters
  uint32_t granule_blocks = 0;     // 0: a filter per file
};

constexpr FilterSetup kSetups[] = {
    {"no filter", {}, 0},
    {"blocked Bloom, per file", FilterKind::kBlockedBloom, 0},
    {"ribbon, per file", FilterKind::kRibbon, 0},
    {"blocked Bloom, per granule", FilterKind::kBlockedBloom, kBlocksPerFilter},
    {"ribbon, per granule", FilterKind::kRibbon, kBlocksPerFilter},
};

class Lookups {
 public:
  Lookups(toylsm::Db& db, const Rows& rows, const FilterSetup& setup)
      : db_(db), rows_(rows), setup_(setup) {}

  toylsm::Counters Absent(const std::vector<std::string>& keys) {
    ForgetReads(db_);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i % 1'024 == 0) CheckInterrupt();
      if (Must(db_.Get(keys[i]), "read").has_value()) Fail("an absent key was found");
    }
    return Counted(/*found=*/0);
  }

  toylsm::Counters Present(const std::vector<uint32_t>& rows) {
    ForgetReads(db_);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i % 1'024 == 0) CheckInterrupt();
      CheckPresent(rows[i]);
    }
    return Counted(rows.size());
  }

  // Mean bytes of filters in an initially empty cache after lookups of 1 % of the keys, in order.
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
      Fail("{}: a key that was written {}", setup_.name,
           value ? "has another value" : "was not found");
    }
  }

  toylsm::Counters Counted(uint64_t found) const {
    const toylsm::Counters& counts = db_.counters();
    const uint64_t positives = counts.filter_false_positives + counts.filter_true_positives;
    if (setup_.kind && (counts.filter_true_positives != found ||
                        counts.data_blocks_from_disk + counts.data_blocks_from_cache != positives ||
                        counts.filter_negatives == 0)) {
      Fail(
          "{}: the counts do not add up: {} keys found, {} true and {} false positives, {} "
          "negatives",
          setup_.name, found, counts.filter_true_positives, counts.filter_false_positives,
          counts.filter_negatives);
    }
    return counts;
  }

  toylsm::Db& db_;
  const Rows& rows_;
  const FilterSetup& setup_;
};

void AddCounts(const char* filters, const char* keys, const toylsm::Counters& counts,
               uint64_t lookups, Results& results) {
  const auto per_lookup = [&](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(lookups);
  };
  results.Of(filters, {{"keys", keys}})
      .Add("data blocks: all", "",
           per_lookup(counts.data_blocks_from_disk + counts.data_blocks_from_cache))
      .Add("data blocks: from disk", "", per_lookup(counts.data_blocks_from_disk))
      .Add("filter blocks: all", "",
           per_lookup(counts.filter_blocks_from_disk + counts.filter_blocks_from_cache))
      .Add("filter blocks: from disk", "", per_lookup(counts.filter_blocks_from_disk))
      .Add("bytes: from disk", "bytes", per_lookup(counts.bytes_from_disk))
      .Add("bytes: from cache", "bytes", per_lookup(counts.bytes_from_cache))
      .Add("false positives", "", per_lookup(counts.filter_false_positives));
}

void MeasureSetup(toylsm::Db& db, const Rows& rows, const LookupKeys& keys,
                  const FilterSetup& setup, Results& results) {
  const auto runs = static_cast<double>(db.version()->runs.size());
  results.SetFact("runs", db.version()->runs.size());
  uint64_t filter_bytes = 0, num_filters = 0;
  for (const auto& file : db.version()->AllFiles()) {
    for (const toylsm::BlockHandle& filter : file->index().filters) {
      filter_bytes += filter.raw_bytes;
      ++num_filters;
    }
  }
  auto row = results.Of(setup.name);
  row.Add("size", "bytes", static_cast<double>(filter_bytes))
      .Add("bits per key", "",
           8 * static_cast<double>(filter_bytes) / static_cast<double>(rows.size()))
      .Add("block indexes", "bytes", static_cast<double>(db.counters().block_index_bytes));
  Lookups lookups(db, rows, setup);
  const toylsm::Counters absent = lookups.Absent(keys.absent);
  AddCounts(setup.name, "absent keys", absent, keys.absent.size(), results);
  AddCounts(setup.name, "present keys", lookups.Present(keys.present), keys.present.size(),
            results);
  if (!setup.kind) return;
  const auto memory = static_cast<double>(filter_bytes + num_filters * sizeof(toylsm::Block));
  const double resident = lookups.ResidentFilterBytes();
  row.Add("in the cache: all filters", "bytes", memory)
      .Add("in the cache: after 1 % of keys", "bytes", resident)
      .Add("in the cache: share", "share", resident / memory)
      .Add("wasted data blocks, relative to FPR × runs", "x",
           static_cast<double>(absent.filter_false_positives) /
               (static_cast<double>(keys.absent.size()) * kTargetFpr * runs));
}

}  // namespace

void MeasureLookups(const Dataset& dataset, const Effort& effort, Job& job) {
  const Rows& rows = dataset.rows;
  const uint64_t seed = job.options.seed;
  job.progress.Show("choosing keys to look up");
  const LookupKeys keys = DrawLookupKeys(rows, effort.lookups, seed);
  const uint64_t cache_bytes = std::max<uint64_t>(rows.num_bytes() / 8, 256 << 10);
  job.results.SetFact("cache",
                      fmt::format("{:.1f} MB for {:.1f} MB", static_cast<double>(cache_bytes) / 1e6,
                                  static_cast<double>(rows.num_bytes()) / 1e6));
  for (const FilterSetup& setup : kSetups) {
    const TempDir dir(job.db_dir);
    toylsm::Options options = TreeOptions(rows);
    options.cache_bytes = cache_bytes;
    if (setup.kind) {
      options.key_filters = {{.kind = *setup.kind, .target_fpr = kTargetFpr}};
      options.filter_granule_blocks = setup.granule_blocks;
    }
    job.progress.Show(fmt::format("{}: filling", setup.name));
    WriteRows(*OpenDb(options, dir.path()), rows, seed);
    job.progress.Show(fmt::format("{}: looking up", setup.name));
    MeasureSetup(*OpenDb(options, dir.path()), rows, keys, setup, job.results);
  }
}

}  // namespace blocksieve::bench::toy
