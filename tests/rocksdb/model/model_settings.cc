// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/model/model_settings.h"

#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>

#include <cstdio>
#include <memory>

#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/rocksdb/block_index/use_block_index.h"
#include "tests/rocksdb/ranges/range_db.h"
#include "tests/support/key_sets.h"
#include "tests/support/new_policy.h"

namespace ROCKSDB_NAMESPACE {
// In the library since 7.0, in its public headers only later.
extern const Comparator* BytewiseComparatorWithU64Ts();
}  // namespace ROCKSDB_NAMESPACE

namespace blocksieve::testing {
namespace {

template <class... Numbers>
std::string Print(const char* format, Numbers... numbers) {
  char text[64];
  std::snprintf(text, sizeof(text), format, static_cast<unsigned>(numbers)...);
  return text;
}

// Kinds of keys. Keys of the last three are mostly too much alike for range filters.
constexpr uint64_t kNumKeyKinds = 7;
constexpr uint64_t kFarApart = 4;

std::string KeyOfKind(uint64_t kind, Dice* dice) {
  switch (kind) {
    case 0:
      return MakeKey(KeyShape::kCounter, dice->Bits());
    case 1:
      return MakeKey(KeyShape::kCounter, dice->OneIn(30) ? dice->Bits() : dice->Below(50'000));
    case 2:
      return Print("user%06u", dice->Below(1'000'000));
    case 3:
      return Print("%02u:%05u", dice->Below(20), dice->Below(100'000));
    case 4:
      return Print("/usr/share/doc/p%03u/f%02u", dice->Below(60), dice->Below(20));
    case 5:
      return std::string(dice->Below(30), 'q') + static_cast<char>(dice->Below(256));
    default: {
      constexpr std::string_view kBytes("\0\1ab\xff", 5);
      std::string key;
      for (uint64_t left = dice->Below(6); left > 0; --left) key += kBytes[dice->Below(5)];
      return key;
    }
  }
}

class AppendAndCut final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "blocksieve.test.append_and_cut"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& operand,
             std::string* merged, rocksdb::Logger*) const override {
    merged->clear();
    if (existing != nullptr) merged->assign(existing->data(), existing->size());
    MergeInto(merged, {operand.data(), operand.size()});
    return true;
  }
};

// Swallows the log lines of files whose keys are too much alike for range filters.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// A template, so that options that a version lacks are not compiled.
template <class Options>
void DrawNewerOptions(Dice* dice, Options* options) {
  if constexpr (requires { options->decouple_partitioned_filters; }) {
    options->decouple_partitioned_filters = dice->OneIn(2);
  }
  if constexpr (requires { options->prefix_seek_opt_in_only; }) {
    options->prefix_seek_opt_in_only = dice->OneIn(2);
  }
  if constexpr (requires { options->min_tombstones_for_range_conversion; }) {
    if (dice->OneIn(3)) {
      options->min_tombstones_for_range_conversion = static_cast<uint32_t>(2 + dice->Below(3));
    }
  }
}

void DrawTable(const ModelKind& kind, const ModelTraits& traits, Dice* dice,
               rocksdb::BlockBasedTableOptions* table) {
  const uint32_t newest_format = table->format_version;
  table->block_size = dice->OneIn(8) ? 1 : 128U << dice->Below(4);
  table->no_block_cache = dice->OneIn(8);
  table->block_cache = rocksdb::NewLRUCache(dice->OneIn(2) ? 1 << 20 : 1 << 14);
  table->format_version =
      dice->OneIn(2) ? newest_format : 2 + static_cast<uint32_t>(dice->Below(4));
  table->cache_index_and_filter_blocks = !table->no_block_cache && dice->OneIn(2);
  table->pin_l0_filter_and_index_blocks_in_cache = !table->no_block_cache && dice->OneIn(3);
  table->optimize_filters_for_memory = dice->OneIn(3);
  table->detect_filter_construct_corruption = dice->OneIn(2);
  table->index_block_restart_interval = dice->OneIn(2) ? 1 : 4;
  using Table = rocksdb::BlockBasedTableOptions;
  switch (kind.is_repeatable ? 4 : dice->Below(traits.primary_index ? 2 : 5)) {
    case 0:
      break;
    case 1:
      table->index_type = Table::kBinarySearchWithFirstKey;
      break;
    default:
      table->index_type = Table::kTwoLevelIndexSearch;
      table->partition_filters = kind.is_repeatable || !dice->OneIn(5);
      table->metadata_block_size = 64U << dice->Below(5);
      DrawNewerOptions(dice, table);
  }
}

const char* DrawRule(Dice* dice) {
  static const char* const kRules[] = {"delimiter:/",    "delimiter:%3A,depth:1", "delimiter:q",
                                       "delimiter:%00",  "delimiter:%FF",         "lengths:1,2",
                                       "lengths:4,7,12", "fields:len8",           "fields:1*,2"};
  return kRules[dice->Below(std::size(kRules))];
}

// Other boundaries than the files of the last opening have.
std::shared_ptr<const rocksdb::FilterPolicy> DrawPrefixes(Dice* dice) {
  FilterPolicyOptions policy;
  policy.prefixes = dice->OneIn(10) ? "auto" : DrawRule(dice);
  policy.ranges = dice->OneIn(2);
  if (dice->OneIn(3)) policy.prefix_fpr = 1e-4;
  if (dice->OneIn(3)) {
    policy.target_fpr = 0.3;
  } else if (dice->OneIn(3)) {
    policy.bits_per_key = 6;
  }
  policy.plain_range_reads = dice->OneIn(3);
  return NewPolicy(policy);
}

// blocksieve's policy with ranges and its extractor, or another policy from before or after it.
void DrawFilters(const ModelKind& kind, Dice* dice, ModelOpening* opening) {
  DbConfig& config = opening->config;
  const DbConfig ours =
      RangeConfig(FilterShape::kFull, {.policy = {.plain_range_reads = kind.plain_reads}});
  const uint64_t policy = kind.is_repeatable ? 0
                          : kind.points_only || kind.has_block_index
                              ? 1 + dice->Below(5) / 4  // mostly blocksieve's
                              : dice->Below(8);
  // With ranges, RocksDB refuses to open with another extractor.
  const uint64_t extractor = dice->Below(4);
  switch (policy) {
    case 1:
      config.table.filter_policy = NewPolicy({.target_fpr = dice->OneIn(2) ? 0.01 : 0.5});
      break;
    case 2:
      config.table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
      break;
    case 3:  // no filters
      break;
    default:
      config.table.filter_policy =
          kind.has_prefixes ? DrawPrefixes(dice) : ours.table.filter_policy;
      config.options.prefix_extractor = ours.options.prefix_extractor;
      return;
  }
  config.table.whole_key_filtering = !dice->OneIn(4);
  if (extractor == 2) {
    // Other lengths than the files of the last opening have. By name, as one that is made in code
    // hides short keys from RocksDB's auto_prefix_mode.
    MustBeOk(
        rocksdb::SliceTransform::CreateFromString(
            rocksdb::ConfigOptions(), "rocksdb.CappedPrefix." + std::to_string(1 + dice->Below(6)),
            &config.options.prefix_extractor),
        "extractor");
    opening->has_other_extractor = true;
  } else if (extractor != 1) {
    config.options.prefix_extractor = ours.options.prefix_extractor;
  }
}

}  // namespace

ModelKeys::ModelKeys(Dice* dice, bool far_apart) : dice_(*dice), keys_(3) {
  const uint64_t kind =
      dice_.Below(far_apart ? kFarApart : kNumKeyKinds + 1);  // the last value: all kinds
  while (keys_.size() < (far_apart ? 300 : 1500)) {
    keys_.push_back(KeyOfKind(
        kind == kNumKeyKinds || dice_.OneIn(50) ? dice_.Below(kNumKeyKinds) : kind, dice));
  }
}

std::string ModelKeys::Near() {
  std::string key = Any();
  switch (dice_.Below(6)) {
    case 0:
      key += '\0';
      break;
    case 1:
      if (!key.empty()) ++key.back();
      break;
    case 2:
      if (!key.empty()) key.pop_back();
      break;
    case 3:
      key += static_cast<char>(dice_.Below(256));
      break;
    default:
      break;
  }
  return key;
}

std::pair<std::string, std::string> ModelKeys::Range() {
  std::pair<std::string, std::string> range{Near(), Near()};
  if (!dice_.OneIn(10)) {  // mostly short ones
    range.second = range.first;
    if (dice_.OneIn(2) && !range.second.empty()) {
      range.second.back() = static_cast<char>(dice_.Below(256));
    } else {
      range.second += static_cast<char>(dice_.Below(256));
    }
  }
  if (range.second < range.first) std::swap(range.first, range.second);
  return range;
}

void MergeInto(std::string* value, std::string_view operand) {
  constexpr size_t kMaxMerged = 60;
  value->append(operand);
  if (value->size() > kMaxMerged) value->erase(0, value->size() - kMaxMerged);
}

ModelTraits::ModelTraits(const ModelKind& kind, Dice* dice)
    : universal(dice->OneIn(4)),
      deletes_ranges(dice->OneIn(3) && !kind.timestamps),
      has_tailing(!deletes_ranges && dice->OneIn(2) && !kind.timestamps),
      merges(!deletes_ranges && !has_tailing && !kind.timestamps),
      ingests(!universal && !kind.timestamps && !kind.reads_in_threads),
      primary_index(kind.has_block_index && dice->OneIn(3)),
      transactions(!deletes_ranges && !kind.timestamps && dice->OneIn(3)) {}

ModelOpening::ModelOpening(const ModelKind& kind, const ModelTraits& traits, Dice* dice) {
  rocksdb::Options& options = config.options;
  options.create_if_missing = true;
  options.env = UnsyncedEnv();
  // With several threads, AddKey and Finish of filters run on different ones.
  options.compression = dice->OneIn(3) ? rocksdb::kZSTD : rocksdb::kNoCompression;
  options.compression_opts.parallel_threads = 1 + static_cast<uint32_t>(dice->Below(3));
  options.merge_operator = std::make_shared<AppendAndCut>();
  if (kind.timestamps) options.comparator = rocksdb::BytewiseComparatorWithU64Ts();
  // A small tree of many levels and files.
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 8 << 10;
  options.max_bytes_for_level_base = 24 << 10;
  options.max_bytes_for_level_multiplier = 3;
  options.level0_file_num_compaction_trigger = 3 + static_cast<int>(dice->Below(3));
  options.num_levels = 5;
  options.level_compaction_dynamic_level_bytes = dice->OneIn(2);
  options.max_background_jobs = 2;
  options.max_subcompactions = 1 + static_cast<uint32_t>(dice->Below(3));
  options.max_open_files = dice->OneIn(4) ? 12 : -1;
  if (traits.universal) options.compaction_style = rocksdb::kCompactionStyleUniversal;
  options.max_sequential_skip_in_iterations = dice->OneIn(2) ? 8 : 1 + dice->Below(3);
  if (dice->OneIn(2)) {
    options.memtable_prefix_bloom_size_ratio = 0.1;
    options.memtable_whole_key_filtering = dice->OneIn(2);
  }
  options.allow_mmap_reads = dice->OneIn(6);
  options.optimize_filters_for_hits = dice->OneIn(8);
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  if (kind.is_repeatable) {
    options.write_buffer_size = 64 << 20;
    options.disable_auto_compactions = true;
    options.max_subcompactions = 1;
  }
  // Conversion makes range deletes, of which RocksDB's tailing iterators know nothing.
  if (!traits.has_tailing) DrawNewerOptions(dice, &options);
  DrawTable(kind, traits, dice, &config.table);
  DrawFilters(kind, dice, this);
  if (!kind.has_block_index) return;
  options.compression_opts.parallel_threads = 1;
  BlockIndexOptions index{.ranges = !dice->OneIn(4)};
  if (!index.ranges || dice->OneIn(3)) index.prefixes = DrawRule(dice);
  UseBlockIndex(index, traits.primary_index, &config);
}

}  // namespace blocksieve::testing
