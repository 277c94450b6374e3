// SPDX-License-Identifier: Apache-2.0
// toylsm: measures read amplification in the toy LSM. See kManual.

#include <algorithm>

#include "bench/support/inputs.h"
#include "integration/toylsm/db.h"

namespace blocksieve::bench::toy {
namespace {

constexpr double kTargetFpr = 0.01;
constexpr uint32_t kBlocksPerFilter = 8;

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
  for (const uint32_t row : RandomOrder(rows.size(), seed)) {
    CheckInterrupt();
    Check(db.Put(rows.key(row), rows.value(row)), "write to");
  }
  Check(db.Flush(), "flush");
}

// Looks up keys, with an initially empty cache, and adds the engine's counts to a table. Returns
// the false positives.
uint64_t CountLookups(toylsm::Db& db, const FilterSetup& setup, const Rows& rows,
                      const LookupKeys& keys, bool are_present, Results& results) {
  db.cache().Clear();
  db.counters() = {};
  const size_t lookups = are_present ? keys.present.size() : keys.absent.size();
  for (size_t i = 0; i < lookups; ++i) {
    CheckInterrupt();
    const auto key = are_present ? rows.key(keys.present[i]) : std::string_view(keys.absent[i]);
    const std::optional<std::string> value = Must(db.Get(key), "read");
    if (value.has_value() != are_present || (value && *value != rows.value(keys.present[i]))) {
      Fail("{}: a lookup of {:?} gave {}", setup.name, key, value ? "another value" : "none");
    }
  }
  const toylsm::Counters& counts = db.counters();
  const uint64_t found = are_present ? lookups : 0;
  const uint64_t data_blocks = counts.data_blocks_from_disk + counts.data_blocks_from_cache;
  if (setup.kind && (counts.filter_true_positives != found || counts.filter_negatives == 0 ||
                     data_blocks != counts.filter_false_positives + found)) {
    Fail(
        "{}: the counts do not add up: {} keys found, {} true and {} false positives, {} negatives",
        setup.name, found, counts.filter_true_positives, counts.filter_false_positives,
        counts.filter_negatives);
  }
  const auto per_lookup = [&](uint64_t count) { return Ratio(count, lookups); };
  const char* const kind = are_present ? "present" : "absent";
  results.In(fmt::format("Lookups of {} keys", kind), "Filters", "Per lookup.")[setup.name]
      .Add("data blocks", "", per_lookup(data_blocks))
      .Add("data blocks: from disk", "", per_lookup(counts.data_blocks_from_disk))
      .Add("filter blocks", "",
           per_lookup(counts.filter_blocks_from_disk + counts.filter_blocks_from_cache))
      .Add("filter blocks: from disk", "", per_lookup(counts.filter_blocks_from_disk))
      .Add("bytes: from disk", "bytes", per_lookup(counts.bytes_from_disk))
      .Add("false positives", "", per_lookup(counts.filter_false_positives));
  return counts.filter_false_positives;
}

void MeasureSetup(toylsm::Db& db, const Rows& rows, const LookupKeys& keys,
                  const FilterSetup& setup, Results& results) {
  uint64_t filter_bytes = 0;
  for (const auto& file : db.version()->AllFiles()) {
    for (const toylsm::BlockHandle& filter : file->index().filters)
      filter_bytes += filter.num_bytes;
  }
  const uint64_t index_bytes = db.counters().block_index_bytes;
  const uint64_t wasted = CountLookups(db, setup, rows, keys, /*are_present=*/false, results);
  CountLookups(db, setup, rows, keys, /*are_present=*/true, results);
  Line& line = results.In("Filter size", "Filters")[setup.name];
  line.Add("size", "bytes", filter_bytes)
      .Add("bits per key", "bits", Ratio(8 * filter_bytes, rows.size()))
      .Add("block indexes", "bytes", index_bytes);
  if (!setup.kind) return;
  line.Add("wasted data blocks, relative to FPR × runs", "x",
           Ratio(wasted, keys.absent.size() * db.version()->runs.size()) / kTargetFpr,
           NotAbove(1.05));
}

const JobManual kManual = {
    .benchmark = "toylsm",
    .description =
        R"(Measures read amplification in the toy LSM, by its own counters: data blocks read by lookups of
absent and of present keys with no filter, a filter per file and a filter per granule of blocks.)",
    .quick_help = "end within 60 seconds; large inputs are truncated",
    .min_rows = 10'000,
};

void Measure(Job& job) {
  const bool quick = job.options.quick;
  const Input input = ReadInput(job, quick ? 8 << 20 : 1 << 30);
  const Rows& rows = input.rows;
  job.progress.Show("choosing keys to look up");
  const LookupKeys keys = DrawLookupKeys(rows, quick ? 50'000 : 200'000, job.options.seed);
  const uint64_t cache_bytes = std::max<uint64_t>(rows.num_bytes() / 8, 256 << 10);
  job.results.title = "The toy LSM";
  job.results.lead = fmt::format(
      "A small LSM engine, with rows written in random order. Lookups with a filter per file or "
      "per granule of eight data blocks, at a false-positive rate of 1 % on all levels. Counts are "
      "the engine's.\nInput: {} Block cache: {:.1f} MB for {:.1f} MB of keys and values, empty at "
      "first.",
      input.description, Ratio(cache_bytes, 1e6), Ratio(rows.num_bytes(), 1e6));
  for (const FilterSetup& setup : kSetups) {
    const TempDir dir(job.db_dir);
    const auto open = [&] {
      return Must(toylsm::Db::Open(TreeOptions(rows, setup, cache_bytes), dir.path().string()),
                  "open");
    };
    job.progress.Show(fmt::format("{}: filling and looking up", setup.name));
    WriteRows(*open(), rows, job.options.seed);
    MeasureSetup(*open(), rows, keys, setup, job.results);
  }
}

}  // namespace
}  // namespace blocksieve::bench::toy

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(toy::kManual, argc, argv, toy::Measure);
}
