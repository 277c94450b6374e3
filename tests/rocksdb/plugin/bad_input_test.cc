#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/table.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb.h"
#include "blocksieve/rocksdb/skip_index_files.h"
#include "tests/support/logs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_db.h"

// Every function of blocksieve/rocksdb.h with what it refuses: the status names the option, its
// value, what is allowed and what to do; nothing else happens.

namespace blocksieve::testing {
namespace {

using rocksdb::Options;
using rocksdb::Status;
using Table = rocksdb::BlockBasedTableOptions;
using ::testing::HasSubstr;

struct BadInput {
  std::function<Status(Options*)> call;
  std::vector<std::string> words;   // that the status must hold
  bool rocksdb_repeats_it = false;  // behind our message, the text that was wrong
};

const std::string& Megabyte() {
  static const auto& text = *new std::string(1 << 20, 'x');
  return text;
}
constexpr const char* kNotUtf8 = "\xff\xfe";

template <class T>
Status StatusOf(const Result<T>& result) {
  if (result.ok()) return Status::OK();
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return Status::InvalidArgument(result.status().message());
}

std::vector<BadInput> FilterOptionCases() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<FilterPolicyOptions, std::vector<std::string>>> bad = {
      {{.target_fpr = 0}, {"target_fpr is 0; allowed is 1e-07 to 0.5"}},
      {{.target_fpr = -0.01}, {"target_fpr is -0.01; allowed is 1e-07 to 0.5"}},
      {{.target_fpr = kNan}, {"target_fpr is nan; allowed is 1e-07 to 0.5"}},
      // A value just outside is not shown as the bound.
      {{.target_fpr = std::nextafter(0.5, 1)}, {"target_fpr is 0.5000000000000001; allowed"}},
      {{.target_fpr = std::nextafter(1e-7, 0)}, {"target_fpr is 9.999999999999998e-08; allowed"}},
      {{.wasted_reads = 0}, {"wasted_reads is 0; allowed is 1e-06 to 100"}},
      {{.bits_per_key = 33}, {"bits_per_key is 33; allowed is 0.1 to 32"}},
      {{.bits_per_key = kNan}, {"bits_per_key is nan"}},
      {{.target_fpr = 0.01, .wasted_reads = 0.5},
       {"target_fpr=0.01, wasted_reads=0.5 exclude each other; allowed is one", "NAME=none"}},
      {{.kind = static_cast<PolicyKind>(77)}, {"kind is unknown", "auto, bloom, ribbon"}},
      {{.ranges = true, .range_fpr = 0.5}, {"range_fpr is 0.5; allowed is 1e-05 to 0.3"}},
      {{.wasted_reads = 1, .ranges = true, .range_fpr = 0.1},
       {"range_fpr=0.1 excludes wasted_reads", "range_fpr=none"}},
      {{.ranges = true, .seek_fraction = 0.5}, {"seek_fraction=0.5 needs wasted_reads"}},
      {{.wasted_reads = 1, .ranges = true, .seek_fraction = 1},
       {"seek_fraction is 1; allowed is 0.01 to 0.99"}},
  };
  std::vector<BadInput> cases;
  for (const auto& [filter, words] : bad) {
    const FilterPolicyOptions& policy = filter;
    cases.push_back({[=](Options* options) { return EnableFilter(options, policy); }, words});
    cases.push_back({[=](Options* o) { return EnableRangeFilter(o, {.policy = policy}); }, words});
    cases.push_back({[=](Options*) { return StatusOf(NewFilterPolicy(policy)); }, words});
  }
  const std::vector<std::pair<FilterPolicyOptions, std::string>> without_ranges = {
      {{.range_fpr = 0.1}, "range_fpr=0.1 needs ranges=true"},
      {{.wasted_reads = 1, .seek_fraction = 0.5}, "seek_fraction=0.5 needs ranges=true"},
      {{.plain_range_reads = true}, "plain_range_reads=true needs ranges=true"}};
  for (const auto& [filter, problem] : without_ranges) {
    const FilterPolicyOptions& policy = filter;
    cases.push_back({[=](Options* options) { return EnableFilter(options, policy); }, {problem}});
    cases.push_back({[=](Options*) { return StatusOf(NewFilterPolicy(policy)); }, {problem}});
  }
  return cases;
}

std::vector<BadInput> IndexOptionCases() {
  const char* const null = nullptr;
  const std::vector<std::pair<SkipIndexOptions, std::vector<std::string>>> bad = {
      {{}, {"number of columns is 0; allowed is 1 to 256"}},
      {{.columns = {"a=field:1", "a=field:2"}}, {"columns has \"a\" twice; allowed is once"}},
      {{.columns = {"a=field:1", "garbage"}}, {"'garbage' is not NAME=EXTRACTOR"}},
      {{.columns = {null}}, {"column definition ''"}},
      {{.columns = {""}}, {"column definition ''"}},
      {{.columns = {kNotUtf8}}, {"column definition '\xff\xfe'", "extractors are"}},
      {{.columns = {Megabyte()}}, {"column definition 'xxxx", "...'", "extractors are"}},
      {{.columns = {"a=field:0"}}, {"'a=field:0'", "N from 1 to"}},
      {{.columns = {"a=field:1"}, .target_fpr = 2}, {"target_fpr is 2; allowed is 1e-07 to 0.5"}},
  };
  std::vector<BadInput> cases;
  for (const auto& [columns, words] : bad) {
    const SkipIndexOptions& index = columns;
    cases.push_back({[=](Options* options) { return EnableSkipIndex(options, index); }, words});
    cases.push_back(
        {[=](Options*) { return StatusOf(NewSkipIndexCollectorFactory(index)); }, words});
  }
  return cases;
}

// Option strings, as SetOptions and OPTIONS files have them.
std::vector<BadInput> TextCases() {
  std::vector<BadInput> cases;
  const auto policy = [&](const std::string& text, const std::vector<std::string>& words) {
    cases.push_back({[text](Options*) {
                       std::shared_ptr<const rocksdb::FilterPolicy> made;
                       return rocksdb::FilterPolicy::CreateFromString(StrictConfig(), text, &made);
                     },
                     words});
  };
  const auto index = [&](const std::string& options, const std::vector<std::string>& words) {
    const std::string text =
        "table_properties_collectors={{id=blocksieve.skip_index;" + options + "}}";
    cases.push_back({[text](Options*) {
                       rocksdb::ColumnFamilyOptions made;
                       return rocksdb::GetColumnFamilyOptionsFromString(StrictConfig(), {}, text,
                                                                        &made);
                     },
                     words});
  };
  for (const std::string& value : {std::string(), Megabyte(), std::string(kNotUtf8)}) {
    const std::string is = value.empty() ? " is empty; allowed is " : " is " + value.substr(0, 40);
    policy("blocksieve:" + value, {"target_fpr" + is, "1e-07 to 0.5"});
    cases.back().rocksdb_repeats_it = true;
    for (const char* const name : {"target_fpr", "wasted_reads", "bits_per_key", "kind", "ranges",
                                   "max_build_bytes", "range_fpr", "seek_fraction"}) {
      policy("{id=blocksieve;" + std::string(name) + "=" + value + "}", {name + is, "allowed is"});
    }
    for (const char* const name : {"granule_rows", "granule_bytes", "block_granules", "target_fpr",
                                   "max_index_bytes", "max_property_bytes", "value_suffix_bytes"}) {
      index("columns=a=field:1;" + std::string(name) + "=" + value, {name + is, "allowed is"});
    }
    if (!value.empty()) index("columns=" + value, {"column definition '" + value.substr(0, 40)});
  }
  index("columns=%zz", {"columns has a % without two hex digits"});
  return cases;
}

// What stands in the way of a feature.
std::vector<BadInput> PlaceCases() {
  std::vector<BadInput> cases;
  const auto range = [&](const std::vector<std::string>& words, auto change) {
    cases.push_back({[change](Options* options) {
                       Options changed = *options;
                       Table table;
                       change(&changed, &table);
                       changed.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
                       const std::string before = TextOf(changed);
                       const Status status = EnableRangeFilter(&changed);
                       EXPECT_EQ(TextOf(changed), before);
                       return status;
                     },
                     words});
  };
  range({"ranges=true needs the comparator", "rocksdb.ReverseBytewiseComparator"},
        [](Options* o, Table*) { o->comparator = rocksdb::ReverseBytewiseComparator(); });
  range({"whole_key_filtering=true; it is false"},
        [](Options*, Table* table) { table->whole_key_filtering = false; });
  range({"index_type=kBinarySearch", "kHashSearch"},
        [](Options*, Table* table) { table->index_type = Table::kHashSearch; });
  range({"memtable_factory is HashSkipList", "SkipListFactory"}, [](Options* o, Table*) {
    o->memtable_factory.reset(rocksdb::NewHashSkipListRepFactory());
  });
  range({"prefix extractor rocksdb.FixedPrefix", "set replace_prefix_extractor"},
        [](Options* o, Table*) { o->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3)); });
  const std::string needs_tables = "; filters and skip indexes need block-based tables";
  for (const bool is_null : {false, true}) {
    for (const auto& enable : std::vector<std::function<Status(Options*)>>{
             [](Options* o) { return EnableFilter(o); },
             [](Options* o) { return EnableRangeFilter(o); },
             [](Options* o) { return EnableSkipIndex(o, {.columns = {"a=field:1"}}); }}) {
      cases.push_back({[=](Options*) {
                         Options other;
                         other.table_factory.reset(is_null ? nullptr
                                                           : rocksdb::NewPlainTableFactory());
                         return enable(&other);
                       },
                       {(is_null ? "table_factory is null" : "is PlainTable") + needs_tables}});
      cases.push_back({[=](Options*) { return enable(nullptr); }, {"are null; give an address"}});
    }
  }
  const std::string needs_listener =
      " needs a listener in DBOptions: give {&db_options, &column_family_options}";
  cases.push_back({[](Options* o) {
                     rocksdb::ColumnFamilyOptions* const family = o;
                     return EnableFilter(family, {.bits_per_key = 10});
                   },
                   {"bits_per_key" + needs_listener}});
  cases.push_back({[](Options* o) {
                     rocksdb::ColumnFamilyOptions* const family = o;
                     return EnableSkipIndex(family, {.columns = {"a=field:1"}});
                   },
                   {"max_property_bytes=4096" + needs_listener}});
  return cases;
}

class BadInputs : public ::testing::Test {
 protected:
  BadInputs() {
    enabled_.create_if_missing = true;
    MustBeOk(EnableRangeFilter(&enabled_), "ranges");
    MustBeOk(EnableSkipIndex(&enabled_, {.columns = {"a=field:1", "w=words:2"}}), "index");
    db_ = OpenDb(enabled_, dir_ / "db");
    snapshot_ = std::make_unique<rocksdb::ManagedSnapshot>(db_.get());
  }

  std::vector<BadInput> ScanCases();
  std::vector<BadInput> NullCases();

  // Twice on options that are new, on those that have everything, and on those of an open database.
  void ExpectRefusals(const std::vector<BadInput>& cases) {
    for (Options options : {Options(), enabled_, db_->GetOptions()}) {
      const std::string before = TextOf(options);
      for (const BadInput& bad : cases) {
        Status status;
        StderrOf([&] { status = bad.call(&options); });
        StderrOf([&] { status = bad.call(&options); });
        ASSERT_TRUE(status.IsInvalidArgument()) << bad.words[0] << ": " << status.ToString();
        for (const std::string& word : bad.words) ASSERT_THAT(status.ToString(), HasSubstr(word));
        ASSERT_TRUE(bad.rocksdb_repeats_it || status.ToString().size() < 1000) << bad.words[0];
        ASSERT_EQ(TextOf(options), before) << bad.words[0];
      }
    }
  }

  const TempDir dir_;
  Options enabled_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<rocksdb::ManagedSnapshot> snapshot_;
};

std::vector<BadInput> BadInputs::ScanCases() {
  std::vector<BadInput> cases;
  const auto scan = [&](const std::string& query, const SkipScanOptions& options,
                        const std::vector<std::string>& words) {
    cases.push_back({[this, query, options](Options*) {
                       std::unique_ptr<SkipScan> made;
                       const Status status =
                           SkipScan::Create(db_.get(), nullptr, query, options, &made);
                       EXPECT_EQ(made, nullptr);
                       return status;
                     },
                     words});
  };
  scan(Megabyte(), {}, {"position 1: ", "xxxx", "..."});
  scan("a = '" + Megabyte().substr(10), {}, {"position 5: ", "...", "quote is not closed"});
  scan(Megabyte() + "x", {}, {"position 1048577: a predicate has at most 1048576 bytes"});
  scan(kNotUtf8, {}, {"position 1: unknown column '\xff\xfe'; known are a, w"});
  scan("a = ", {}, {"position 5: expected", "found the end"});
  scan("color = 'red'", {}, {"position 1: ", "color"});
  scan("TRUE LIMIT 1", {.limit = 1}, {"order or a limit", "allowed is one of them"});
  const ScanOrder by_a{*Column::Parse("a=field:1")};
  scan("TRUE", {.order = by_a}, {"order needs a limit, which is 0; set limit"});
  scan("TRUE", {.limit = 1, .reverse = true, .order = by_a}, {"order excludes reverse=true; set"});
  scan("TRUE", {.limit = 1, .order = ScanOrder{*Column::Parse("w=words:2")}},
       {"order is by w", "allowed is a column of whole values"});
  scan("TRUE", {.limit = 7, .count_granules = true}, {"count_granules=true excludes limit=7; set"});
  for (const double share : {-0.1, 1.5, std::nan("")}) {
    scan("TRUE", {.max_rechecked_share = share},
         {"max_rechecked_share is ", "; allowed is 0 to 1"});
  }
  static const rocksdb::Slice bound = "x";
  const auto reads = [&](const std::string& name, auto change) {
    SkipScanOptions options;
    change(&options.read_options);
    scan("TRUE", options, {"read_options." + name + " is set; leave it at its default"});
  };
  using Reads = rocksdb::ReadOptions;
  reads("snapshot", [&](Reads* r) { r->snapshot = snapshot_->snapshot(); });
  reads("iterate_lower_bound", [](Reads* r) { r->iterate_lower_bound = &bound; });
  reads("iterate_upper_bound", [](Reads* r) { r->iterate_upper_bound = &bound; });
  reads("read_tier", [](Reads* r) { r->read_tier = rocksdb::kBlockCacheTier; });
  reads("tailing", [](Reads* r) { r->tailing = true; });
  reads("prefix_same_as_start", [](Reads* r) { r->prefix_same_as_start = true; });
  reads("timestamp", [](Reads* r) { r->timestamp = &bound; });
  reads("iter_start_ts", [](Reads* r) { r->iter_start_ts = &bound; });
  reads("value_size_soft_limit", [](Reads* r) { r->value_size_soft_limit = 20; });
  return cases;
}

std::vector<BadInput> BadInputs::NullCases() {
  const std::string no_db = "db is null; allowed is an address";
  static std::unique_ptr<SkipScan> scan;
  static SkipIndexSummary summary;
  return {
      {[](Options*) { return SkipScan::Create(nullptr, nullptr, "TRUE", {}, &scan); }, {no_db}},
      {[](Options*) {
         return SkipScan::Create(nullptr, nullptr, *Predicate::Parse("TRUE", {}), {}, &scan);
       },
       {no_db}},
      {[this](Options*) { return SkipScan::Create(db_.get(), nullptr, "TRUE", {}, nullptr); },
       {"scan is null; allowed is an address"}},
      {[](Options*) { return ReadSkipIndexes(nullptr, nullptr, &summary); }, {no_db}},
      {[this](Options*) { return ReadSkipIndexes(db_.get(), nullptr, nullptr); },
       {"summary is null; allowed is an address"}},
      {[](Options*) { return BackfillSkipIndexes(nullptr, nullptr); }, {no_db}},
      {[](Options*) { return RebuildSkipIndexes(nullptr, nullptr); }, {no_db}},
      {[](Options*) { return SaveSkipIndexes(nullptr, "x"); }, {no_db}},
      {[](Options*) { return CopySkipIndexes(nullptr, nullptr, "x"); }, {no_db}},
      {[](Options*) { return CreateCheckpointWithSkipIndexes(nullptr, "x"); }, {no_db}},
  };
}

TEST_F(BadInputs, AreRefusedAndChangeNothing) {
  ExpectRefusals(FilterOptionCases());
  ExpectRefusals(IndexOptionCases());
  ExpectRefusals(TextCases());
  ExpectRefusals(PlaceCases());
  ExpectRefusals(ScanCases());
  ExpectRefusals(NullCases());
  // The limits themselves.
  for (const FilterPolicyOptions& good :
       {FilterPolicyOptions{}, {.wasted_reads = 100}, {.bits_per_key = 0.1}, {.target_fpr = 0.5}}) {
    MustBeOk(EnableFilter(&enabled_, good), "filter");
  }
  rocksdb::ColumnFamilyOptions family;
  MustBeOk(EnableSkipIndex(&family, {.columns = {"a=field:1"}, .max_property_bytes = UINT64_MAX}),
           "all in properties");
}

}  // namespace
}  // namespace blocksieve::testing
