// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/random/settings.h"

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/version.h>

#include "tests/rocksdb/scan/skip_test_db.h"

namespace ROCKSDB_NAMESPACE {
// In the library since 7.0, in its public headers only later.
extern const Comparator* BytewiseComparatorWithU64Ts();
}  // namespace ROCKSDB_NAMESPACE

namespace blocksieve::testing {
namespace {

// Of the values, of which "-" means none, one is drawn.
struct Setting {
  const char* name;
  std::vector<const char*> values;
  bool is_for_life = false;
};

const Setting kSettings[] = {
    {"comparator", {"-", "-", "-", "-", "-", "-", "reverse", "strange", "timestamps"}, true},
    {"transactions", {"-", "-", "-", "-", "-", "committed", "prepared", "unprepared"}, true},
    {"merges", {"-", "-", "yes"}, true},
    {"delete_ranges", {"-", "yes"}, true},
    {"tailing", {"-", "yes"}, true},
    {"threads", {"-"}, true},   // two that read beside the operations
    {"counts", {"-"}, true},    // of rows, often
    {"rewrites", {"-"}, true},  // of files and their indexes, often
    {"keys", {"-"}, true},      // of which they draw
    {"places", {"-"}, true},    // of the product, which fail now and then
    // All files have a block index, which may be the primary one.
    {"uniform", {"-", "-", "yes"}, true},
    {"cf.compaction_style",
     {"-", "-", "-", "kCompactionStyleUniversal", "kCompactionStyleFIFO"},
     true},
    {"cf.enable_blob_files", {"-", "-", "-", "-", "-", "true"}, true},
    {"cf.preclude_last_level_data_seconds", {"-", "-", "1", "2"}, true},
    {"db.unordered_write", {"-", "-", "-", "-", "-", "true"}, true},

    {"index", {"-", "properties", "sidecars", "block", "block", "primary"}},
    {"index_columns", {"n,w", "n,w", "w,n", "-"}},  // of a block index
    {"index_ranges", {"-", "yes"}},
    {"index_prefixes", {"-", "-", "RULE"}},
    {"index_id", {"-", "-", "-", "-", "-", "no"}},  // without the collector, as in a short text
    {"listener", {"yes", "yes", "-"}},

    {"table.filter_policy",
     {"-", "bloomfilter:10:false", "{id=blocksieve}", "{id=blocksieve;target_fpr=0.5}",
      "{id=blocksieve;bits_per_key=10}", "{id=blocksieve;ranges=true}",
      "{id=blocksieve;ranges=true}", "{id=blocksieve;ranges=true;plain_range_reads=true}",
      "{id=blocksieve;ranges=true;prefixes=RULE;target_fpr=0.3}",
      "{id=blocksieve;prefixes=RULE;bits_per_key=6;plain_range_reads=true}",
      "{id=blocksieve;prefixes=RULE;prefix_fpr=0.0001}", "{id=blocksieve;prefixes=auto}",
      "{id=blocksieve;ranges=true;filter_memory=2k;budget=a}",
      "{id=blocksieve;kind=stock;filter_memory=300}"}},
    {"table.whole_key_filtering", {"-", "-", "-", "false"}},
    {"cf.prefix_extractor",
     {"-", "-", "blocksieve.range", "blocksieve.range", "rocksdb.CappedPrefix.1",
      "rocksdb.CappedPrefix.3", "rocksdb.CappedPrefix.6", "rocksdb.FixedPrefix.7"}},
    {"table.index_type",
     {"-", "kBinarySearchWithFirstKey", "kHashSearch", "kTwoLevelIndexSearch",
      "kTwoLevelIndexSearch", "kTwoLevelIndexSearch"}},
    {"table.partition_filters", {"-", "true", "true", "true", "true"}},
    {"table.metadata_block_size", {"64", "128", "256", "512", "1024"}},
    {"table.decouple_partitioned_filters", {"-", "true"}},
    {"cf.prefix_seek_opt_in_only", {"-", "true"}},
    {"db.prefix_seek_opt_in_only", {"-", "true"}},
    {"cf.min_tombstones_for_range_conversion", {"-", "-", "-", "-", "2", "4"}, true},
    {"table.block_size", {"-", "1", "32", "64", "128", "256", "512", "1024"}},
    {"table.no_block_cache", {"-", "-", "-", "-", "-", "-", "-", "true"}},
    {"table.block_cache", {"16K", "64K", "1M"}},
    {"table.format_version", {"-", "-", "2", "3", "4", "5"}},
    {"table.cache_index_and_filter_blocks", {"-", "true"}},
    {"table.pin_l0_filter_and_index_blocks_in_cache", {"-", "-", "true"}},
    {"table.optimize_filters_for_memory", {"-", "-", "true"}},
    {"table.detect_filter_construct_corruption", {"-", "true"}},
    {"table.index_block_restart_interval", {"-", "4"}},
    {"cf.compression", {"-", "-", "kZSTD"}},
    // With several threads, AddKey and Finish of filters run on different ones.
    {"cf.compression_opts", {"-", "{parallel_threads=2}", "{parallel_threads=3}"}},
    {"cf.write_buffer_size", {"65536", "65536", "98304"}},
    {"cf.target_file_size_base", {"2048", "8192"}},
    {"cf.max_bytes_for_level_base", {"6144", "24576"}},
    {"cf.level0_file_num_compaction_trigger", {"3", "4", "5"}},
    {"cf.level_compaction_dynamic_level_bytes", {"false", "true"}},
    {"cf.compaction_options_universal",
     {"-", "-", "-", "{incremental=true}", "{allow_trivial_move=true}",
      "{incremental=true;allow_trivial_move=true}"}},
    {"cf.disable_auto_compactions", {"-", "-", "-", "true"}},
    {"cf.max_sequential_skip_in_iterations", {"-", "1", "2", "3"}},
    {"cf.memtable_prefix_bloom_size_ratio", {"-", "0.1"}},
    {"cf.memtable_whole_key_filtering", {"-", "true"}},
    {"cf.optimize_filters_for_hits", {"-", "-", "-", "-", "-", "-", "-", "true"}},
    {"db.max_subcompactions", {"-", "2", "3"}},
    {"db.max_open_files", {"-1", "-1", "-1", "12"}},
    {"db.allow_mmap_reads", {"-", "-", "-", "-", "-", "true"}},
};

// Orders by length, then in reverse, so that scans do not know the next key.
class StrangeOrder final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "StrangeOrder"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return b.compare(a);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class AppendAndCut final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "blocksieve.test.append_and_cut"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& operand,
             std::string* merged, rocksdb::Logger*) const override {
    merged->clear();
    if (existing == nullptr && NeedsBase(operand.ToStringView())) return false;
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

bool HasRangesOrPrefixes(const std::string& policy) {
  return policy.find("ranges=") != std::string::npos ||
         policy.find("prefixes=") != std::string::npos;
}

}  // namespace

const ColumnList& Settings::Columns() {
  static const ColumnList columns =
      testing::Columns({"n=int:field:1", "w=words:2", "k=key:uint8(-1)"});
  return columns;
}

const rocksdb::Comparator* Settings::comparator() const {
  static const StrangeOrder strange;
  if (Is("comparator", "reverse")) return rocksdb::ReverseBytewiseComparator();
  if (Is("comparator", "strange")) return &strange;
  if (has_timestamps()) return rocksdb::BytewiseComparatorWithU64Ts();
  return rocksdb::BytewiseComparator();
}

void Settings::Remove(const std::string& name) {
  std::erase_if(args_.args, [&](const auto& arg) { return arg.first == name; });
}

Settings::Settings(const Operation& opening, const Settings* earlier) : args_(opening) {
  for (const Setting& setting : kSettings) {
    if (!setting.is_for_life || earlier == nullptr) continue;
    Remove(setting.name);
    if (earlier->Has(setting.name)) args_.Add(setting.name, earlier->Get(setting.name));
  }
  Settle();
  // RocksDB opens no file without its primary index.
  if (earlier != nullptr && earlier->Is("index", "primary")) {
    Remove("index");
    args_.Add("index", "primary");
    Settle();
  }
}

void Settings::Settle() {
  const auto set = [&](const std::string& name, const std::string& value) {
    Remove(name);
    args_.Add(name, value);
  };
  if (has_timestamps()) {
    for (const char* const name :
         {"transactions", "merges", "delete_ranges", "tailing", "index", "uniform",
          "cf.enable_blob_files", "cf.compaction_style", "cf.preclude_last_level_data_seconds",
          "db.unordered_write", "cf.min_tombstones_for_range_conversion", "threads"}) {
      Remove(name);
    }
  }
  if (Has("merges")) Remove("delete_ranges");
  if (Has("merges") || Has("delete_ranges") || Has("cf.enable_blob_files")) Remove("tailing");
  if (Has("tailing")) Remove("cf.min_tombstones_for_range_conversion");
  if (Has("transactions")) {
    Remove("db.unordered_write");
    Remove("delete_ranges");
    if (!Is("transactions", "committed")) Remove("tailing");  // which show an old state
  }
  if (is_fifo()) Remove("db.max_open_files");
  if (Has("threads")) Remove("db.unordered_write");  // with it, snapshots change
  if (ROCKSDB_MAJOR == 9 && is_universal() && Has("transactions")) set("transactions", "committed");
  if (!is_universal() || Has("cf.enable_blob_files")) Remove("cf.preclude_last_level_data_seconds");
  // Block indexes.
  if (!kHasBlockIndexes) Remove("uniform");
  if (Has("uniform") && !has_block_index()) set("index", "block");
  if (!kHasBlockIndexes && has_block_index()) set("index", "properties");
  if (Is("index", "primary") && !Has("uniform")) set("index", "block");
  if (has_block_index()) {
    if (!is_bytewise()) {
      Remove("index_ranges");
      Remove("index_prefixes");
    }
    if (!Has("index_columns") && !Has("index_ranges") && !Has("index_prefixes"))
      args_.Add("index_columns", "n,w");
    Remove("cf.compression_opts");
    if (HasRangesOrPrefixes(Get("table.filter_policy")))
      set("table.filter_policy", "{id=blocksieve}");
    if (Is("table.index_type", "kHashSearch") ||
        (Is("index", "primary") && Is("table.index_type", "kTwoLevelIndexSearch")))
      Remove("table.index_type");
    if (Has("uniform")) Remove("index_id");
  }
  // Filters and extractors. With ranges, RocksDB refuses to open with another extractor.
  if (!is_bytewise() && !has_timestamps()) {
    if (HasRangesOrPrefixes(Get("table.filter_policy")))
      set("table.filter_policy", "{id=blocksieve}");
    if (Is("cf.prefix_extractor", "blocksieve.range")) Remove("cf.prefix_extractor");
  }
  if (HasRangesOrPrefixes(Get("table.filter_policy"))) {
    set("cf.prefix_extractor", "blocksieve.range");
    Remove("table.whole_key_filtering");
  }
  // A hash index needs a prefix of every key.
  if (Is("table.index_type", "kHashSearch")) set("cf.prefix_extractor", "rocksdb.CappedPrefix.6");
  if (Is("table.index_type", "kHashSearch") && HasRangesOrPrefixes(Get("table.filter_policy")))
    set("table.filter_policy", "{id=blocksieve}");
  if (!Is("table.index_type", "kTwoLevelIndexSearch")) {
    Remove("table.partition_filters");
    Remove("table.metadata_block_size");
    Remove("table.decouple_partitioned_filters");
  }
  if (Has("table.no_block_cache")) {
    Remove("table.cache_index_and_filter_blocks");
    Remove("table.pin_l0_filter_and_index_blocks_in_cache");
  }
}

DbConfig Settings::ToConfig() const {
  [[maybe_unused]] static const int registered = blocksieve_rocksdb_register();
  std::string texts[3];  // of db, cf and table
  for (const auto& [name, value] : args_.args) {
    const std::string prefixes[] = {"db.", "cf.", "table."};
    for (size_t i = 0; i < 3; ++i) {
      if (name.starts_with(prefixes[i]))
        texts[i] += name.substr(prefixes[i].size()) + "=" + value + ";";
    }
  }
  rocksdb::ConfigOptions lenient;  // of options that this RocksDB lacks
  lenient.ignore_unknown_options = true;
  rocksdb::DBOptions db;
  rocksdb::ColumnFamilyOptions family;
  DbConfig config;
  MustBeOk(rocksdb::GetDBOptionsFromString(lenient, db, texts[0], &db), texts[0]);
  MustBeOk(rocksdb::GetColumnFamilyOptionsFromString(lenient, family, texts[1], &family), texts[1]);
  MustBeOk(rocksdb::GetBlockBasedTableOptionsFromString(lenient, {}, texts[2], &config.table),
           texts[2]);
  rocksdb::Options& options = config.options = rocksdb::Options(db, family);
  options.create_if_missing = true;
  options.env = UnsyncedEnv();
  options.comparator = comparator();
  if (Has("merges")) options.merge_operator = std::make_shared<AppendAndCut>();
  options.max_bytes_for_level_multiplier = 3;
  options.num_levels = is_fifo() ? 1 : 5;
  options.max_background_jobs = 2;
  options.min_blob_size = 50;
  if (!Has("cf.compression")) options.compression = rocksdb::kNoCompression;
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  if (Has("listener") || Has("index") || Has("table.filter_policy"))
    options.listeners = {NewListener()};
  if (has_block_index()) {
    EnableOptions index{.ranges = Has("index_ranges"), .prefixes = Get("index_prefixes")};
    if (Has("index_columns")) index.columns = Columns();
    if (Is("index_columns", "w,n"))
      index.columns = testing::Columns({"k=filters:key:uint8(-1)", "w=words:2", "n=int:field:1"});
    UseBlockIndex(index, Is("index", "primary"), &config);
    if (Has("index_id")) config.options.table_properties_collector_factories.clear();
  } else if (Has("index")) {
    const bool has_sidecars = Is("index", "sidecars");
    SkipIndexOptions index;
    index.columns = Columns();
    index.granule_rows = 8;
    index.block_granules = false;
    options.table_properties_collector_factories.push_back(
        NewCollectorFactory({index, has_sidecars ? 0 : UINT64_MAX}));
  }
  return config;
}

bool Settings::has_other_extractor() const { return Get("cf.prefix_extractor").starts_with("r"); }

bool Settings::NeedsTotalOrder() const {
  return has_other_extractor() &&
         (!is_bytewise() || Is("cf.prefix_extractor", "rocksdb.FixedPrefix.7") ||
          Is("table.index_type", "kHashSearch"));
}

bool Settings::HasColumns() const {
  return Has("index") && (!has_block_index() || Has("index_columns"));
}

bool Settings::CanPrune(bool by_value) const {
  if (!by_value) return has_block_index() && CanFilterTables();
  return CanFilterTables() && !Has("merges") && !has_timestamps() && HasColumns();
}

bool Settings::CanMultiScan() const {
  // MultiScans of RocksDB 11.2 crash without a block cache.
  return has_block_index() && is_bytewise() && HidesUncommitted() && !Has("table.no_block_cache");
}

std::string DrawPrefixRule(Dice* dice) {
  static const char* const kRules[] = {"delimiter:/",    "delimiter:%3A,depth:1", "delimiter:q",
                                       "delimiter:%00",  "delimiter:%FF",         "lengths:1,2",
                                       "lengths:4,7,12", "fields:len8",           "fields:1*,2"};
  return kRules[dice->Below(std::size(kRules))];
}

Operation DrawSettings(const std::string& verb, Dice* dice) {
  Operation drawn{verb};
  for (const Setting& setting : kSettings) {
    std::string value = setting.values[dice->Below(setting.values.size())];
    if (const size_t rule = value.find("RULE"); rule != std::string::npos)
      value.replace(rule, 4, DrawPrefixRule(dice));
    if (value != "-") drawn.Add(setting.name, value);
  }
  return drawn;
}

void MergeInto(std::string* value, std::string_view operand) {
  constexpr size_t kMaxMerged = 60;
  value->append(operand);
  if (value->size() > kMaxMerged) value->erase(0, value->size() - kMaxMerged);
}

}  // namespace blocksieve::testing
