#include "bench/toylsm/lookups.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/files.h"
#include "integration/toylsm/db.h"

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

void Check(const Status& status, const char* what) {
  if (!status.ok()) Fail("the toy LSM failed to {} the database: {}", what, status.message());
}

// A tree of several levels for any number of rows.
toylsm::Options TreeOptions(const Rows& rows, const FilterSetup& setup, uint64_t cache_bytes) {
  toylsm::Options options;
  options.memtable_bytes = std::clamp<uint64_t>(rows.num_bytes() / 40, 64 << 10, 4 << 20);
  options.level1_bytes = options.memtable_bytes;
  options.size_ratio = 4;
  options.file_bytes = options.memtable_bytes;
  options.cache_bytes = cache_bytes;
  options.key_filters = {};
  if (setup.kind) {
    options.key_filters = {{.kind = *setup.kind, .target_fpr = kTargetFpr}};
    options.filter_granule_blocks = setup.granule_blocks;
  }
  return options;
}

// In random order. Equal rows, options and seeds make equal trees.
void WriteRows(toylsm::Db& db, const Rows& rows, uint64_t seed) {
  const std::vector<uint32_t> order = RandomOrder(rows.size(), seed);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 1'024 == 0) CheckInterrupt();
    Check(db.Put(rows.key(order[i]), rows.value(order[i])), "write to");
  }
  Check(db.Flush(), "flush");
}

class Lookups {
 public:
  Lookups(toylsm::Db& db, const Rows& rows, const FilterSetup& setup)
      : db_(db), rows_(rows), setup_(setup) {}

  toylsm::Counters Absent(const std::vector<std::string>& keys) {
    ForgetReads();
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i % 1'024 == 0) CheckInterrupt();
      if (Must(db_.Get(keys[i]), "read").has_value()) Fail("an absent key was found");
    }
    return Counted(/*found=*/0);
  }

  toylsm::Counters Present(const std::vector<uint32_t>& rows) {
    ForgetReads();
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
      ForgetReads();
      for (size_t row = begin; row < begin + count; ++row) CheckPresent(row);
      resident += db_.cache().resident_bytes(toylsm::Block::Kind::kFilter);
    }
    return Ratio(resident, kHundredths);
  }

 private:
  void ForgetReads() {
    db_.cache().Clear();
    db_.counters() = {};
  }

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
  const auto per_lookup = [&](uint64_t count) { return Ratio(count, lookups); };
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
  const size_t runs = db.version()->runs.size();
  results.SetFact("runs", runs);
  uint64_t filter_bytes = 0, num_filters = 0;
  for (const auto& file : db.version()->AllFiles()) {
    for (const toylsm::BlockHandle& filter : file->index().filters) {
      filter_bytes += filter.raw_bytes;
      ++num_filters;
    }
  }
  auto row = results.Of(setup.name);
  row.Add("size", "bytes", filter_bytes)
      .Add("bits per key", "", Ratio(8 * filter_bytes, rows.size()))
      .Add("block indexes", "bytes", db.counters().block_index_bytes);
  Lookups lookups(db, rows, setup);
  const toylsm::Counters absent = lookups.Absent(keys.absent);
  AddCounts(setup.name, "absent keys", absent, keys.absent.size(), results);
  AddCounts(setup.name, "present keys", lookups.Present(keys.present), keys.present.size(),
            results);
  if (!setup.kind) return;
  const uint64_t memory = filter_bytes + num_filters * sizeof(toylsm::Block);
  const double resident = lookups.ResidentFilterBytes();
  row.Add("in the cache: all filters", "bytes", memory)
      .Add("in the cache: after 1 % of keys", "bytes", resident)
      .Add("in the cache: share", "share", Ratio(resident, memory))
      .Add("wasted data blocks, relative to FPR × runs", "x",
           Ratio(absent.filter_false_positives, keys.absent.size() * runs) / kTargetFpr);
}

}  // namespace

void MeasureLookups(const Rows& rows, uint64_t lookups, Job& job) {
  job.progress.Show("choosing keys to look up");
  const LookupKeys keys = DrawLookupKeys(rows, lookups, job.options.seed);
  const uint64_t cache_bytes = std::max<uint64_t>(rows.num_bytes() / 8, 256 << 10);
  job.results.SetFact("cache", fmt::format("{:.1f} MB for {:.1f} MB", Ratio(cache_bytes, 1e6),
                                           Ratio(rows.num_bytes(), 1e6)));
  for (const FilterSetup& setup : kSetups) {
    const TempDir dir(job.db_dir);
    const auto open = [&] {
      return Must(toylsm::Db::Open(TreeOptions(rows, setup, cache_bytes), dir.path().string()),
                  "open");
    };
    job.progress.Show(fmt::format("{}: filling", setup.name));
    WriteRows(*open(), rows, job.options.seed);
    job.progress.Show(fmt::format("{}: looking up", setup.name));
    MeasureSetup(*open(), rows, keys, setup, job.results);
  }
}

}  // namespace blocksieve::bench::toy
