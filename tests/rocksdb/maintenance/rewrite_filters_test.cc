// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Filters of an open database. While it is in use: RandomDatabaseTest; as far as requested:
// cli/rewrite_test.py.

namespace blocksieve::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> ProblemsOf(rocksdb::DB* db,
                                    rocksdb::ColumnFamilyHandle* family = nullptr) {
  std::vector<std::string> problems;
  MustBeOk(CheckFilters(db, {family}, &problems));
  return problems;
}

std::vector<FilterMetric> MetricsOf(rocksdb::DB* db) {
  std::vector<FilterMetric> metrics;
  MustBeOk(GetFilterMetrics(db, {}, &metrics));
  return metrics;
}

/// A database with three column families, whose policies differ.
class RewriteFiltersTest : public ::testing::Test {
 protected:
  using Policies = std::map<std::string, std::optional<EnableOptions>>;
  static const Policies& Stock() {
    static const auto& stock = *new Policies{{"default", {}}, {"points", {}}, {"seeks", {}}};
    return stock;
  }

  ~RewriteFiltersTest() override { Close(); }

  void Close() {
    for (auto& [name, handle] : handles_) MustBeOk(db_->DestroyColumnFamilyHandle(handle), name);
    handles_.clear();
    db_.reset();
  }

  // nullopt: stock Bloom filters.
  void Open(const Policies& policies) {
    Close();
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.env = UnsyncedEnv();
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const auto& [name, policy] : policies) {
      DbConfig config = MakeConfig(FilterShape::kFull, nullptr);
      if (bits_ != 0) config.table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(bits_));
      rocksdb::ColumnFamilyOptions family = config.ToOptions();
      if (policy) MustBeOk(Enable({&options, &family}, *policy), name);
      families.emplace_back(name, family);
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    MustBeOk(rocksdb_plugin::OpenDb(&db_, [&](rocksdb_plugin::OpenedDb* opened) {
      return rocksdb::DB::Open(options, dir_ / "db", families, &handles, opened);
    }));
    for (auto* const handle : handles) handles_[handle->GetName()] = handle;
  }

  // Writes a file of 100 rows.
  void Write(const std::string& family, uint64_t first = 0) {
    for (uint64_t i = first; i < first + 100; ++i) {
      MustBeOk(db_->Put({}, handles_[family], MakeKey(KeyShape::kCounter, i), "value"));
    }
    MustBeOk(db_->Flush({}, handles_[family]));
  }

  std::map<std::string, uint64_t> FilesByPolicy(const std::string& family) {
    rocksdb::TablePropertiesCollection files;
    MustBeOk(db_->GetPropertiesOfAllTables(handles_[family], &files));
    std::map<std::string, uint64_t> number;
    for (const auto& [path, properties] : files) {
      if (properties->filter_size != 0) ++number[properties->filter_policy_name];
    }
    return number;
  }

  double bits_ = 10;  // of stock filters
  const TempDir dir_;
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> handles_;
};

TEST_F(RewriteFiltersTest, OneCallTakesAllFamilies) {
  bits_ = 0;
  Open(Stock());
  for (uint64_t file = 0; file < 2; ++file) {
    for (const auto& [family, handle] : handles_) Write(family, 100 * file);
  }
  const uint64_t num_files = 6;
  const EnableOptions ours = {
      .target_fpr = 0.01, .columns = {"v=field:1"}, .carrier = Carrier::kFilterAndSidecar};
  Open({{"default", ours}, {"points", ours}, {"seeks", ours}});
  std::vector<std::string> problems;
  std::vector<FilterMetric> metrics;
  for (const rocksdb::Status& unclear :
       {RewriteFilters(db_.get(), {}), RebuildSkipIndexes(db_.get(), {}),
        CheckFilters(db_.get(), {}, &problems), GetFilterMetrics(db_.get(), {}, &metrics)}) {
    EXPECT_TRUE(unclear.IsInvalidArgument());
    EXPECT_THAT(unclear.ToString(), HasSubstr("that DB::Open returned, as the database also has "
                                              "these column families: points, seeks"));
  }
  const std::vector<rocksdb::ColumnFamilyHandle*> all = {nullptr, handles_["points"],
                                                         handles_["seeks"], nullptr};
  MustBeOk(CheckFilters(db_.get(), all, &problems));
  const std::string problem = ": 2 of 2 files have no filters; RewriteFilters builds them";
  EXPECT_THAT(problems,
              ElementsAre("column family default" + problem, "column family points" + problem,
                          "column family seeks" + problem));
  MustBeOk(GetFilterMetrics(db_.get(), all, &metrics));
  EXPECT_THAT(FilterMetricsText(metrics), HasSubstr(",column_family=\"seeks\"} 2"));

  uint64_t done = 0;
  uint64_t max_files = 2;
  const auto progress = [&](const FileProgress& so_far) {
    EXPECT_EQ(so_far.files_done + so_far.files_left, num_files - done);
    return so_far.files_done < max_files;
  };
  const auto stop_and_resume = [&](const auto& call) {
    done = 0;
    max_files = 3;  // the first family's, and one of the second
    EXPECT_THAT(call().ToString(), HasSubstr("stopped by progress"));
    done = std::exchange(max_files, num_files);
    MustBeOk(call());
  };
  stop_and_resume([&] { return RebuildSkipIndexes(db_.get(), all, progress); });
  stop_and_resume([&] {
    EXPECT_EQ(FilesByPolicy("default")["blocksieve"], done == 0 ? 0u : 2u);
    EXPECT_EQ(FilesByPolicy("points")["blocksieve"], done == 0 ? 0u : 1u);
    return RewriteFilters(db_.get(), all, {}, progress);
  });
  EXPECT_EQ(FilesByPolicy("seeks")["blocksieve"], 2u);
}

TEST(RewriteFiltersRefusalTest, FifoIsNotSupportedAndRatesByLevelNeedTheListener) {
  EXPECT_THAT(RewriteFilters(nullptr, {}).ToString(), HasSubstr("db"));
  DbConfig config = MakeConfig(FilterShape::kFull, PolicyFromString("bloomfilter:10:false"));
  TestDb db(config);
  EXPECT_THAT(
      RewriteFilters(&db.db(), {}).ToString(),
      HasSubstr("column family default has no filter policy of this version of blocksieve"));
  config.table.filter_policy = PolicyFromString("{id=blocksieve;bits_per_key=9}");
  db.Reopen(config);
  EXPECT_THAT(RewriteFilters(&db.db(), {}).ToString(), HasSubstr("need the listener"));
  EXPECT_THAT(ProblemsOf(&db.db()), ElementsAre(HasSubstr("need the listener")));
  config.options.compaction_style = rocksdb::kCompactionStyleFIFO;
  config.options.max_open_files = -1;
  db.Reopen(config);
  EXPECT_TRUE(RewriteFilters(&db.db(), {}).IsNotSupported());
}

TEST_F(RewriteFiltersTest, AreCheckedForWhatRocksDbDoesNotReport) {
  const auto problems_of = [&](const std::string& family) {
    std::string text;
    for (const std::string& problem : ProblemsOf(db_.get(), handles_[family])) {
      text += problem + "\n";
    }
    return text;
  };
  const Policies ours = {
      {"default", {{.target_fpr = 0.01}}}, {"points", {{.bits_per_key = 10}}}, {"seeks", {}}};
  Open(ours);
  for (const auto& [family, handle] : handles_) {
    Write(family);
    EXPECT_EQ(problems_of(family), "");
  }
  const std::string log = ReadFile(dir_ / "db/LOG");
  EXPECT_THAT(log, HasSubstr("column family points: version 0"));
  EXPECT_THAT(log, HasSubstr("options in effect: bits_per_key: 10"));

  // As a program whose plug-in is not loaded opens it.
  bits_ = 0;
  Open(Stock());
  Write("points", 100);
  EXPECT_THAT(problems_of("points"),
              AllOf(HasSubstr("the filter policy is not blocksieve's, in spite of filter_policy={"),
                    HasSubstr("bits_per_key=10"), HasSubstr("1 of 2 files have no filters")));
  EXPECT_THAT(problems_of("seeks"), HasSubstr("filter_policy=nullptr does not read"));
  Open(ours);
  EXPECT_EQ(problems_of("points"), "1 of 2 files have no filters; RewriteFilters builds them\n");
  MustBeOk(RewriteFilters(db_.get(), {handles_["points"]}, {.only_unfiltered = true}));
  EXPECT_EQ(problems_of("points"), "");
}

// Random keys, each with a prefix of its own, which have no room in one bit per key.
TEST(CheckFiltersTest, SaysWhatPrefixesMakeOfBitsPerKey) {
  for (const auto& [bits, expected] : std::map<std::string, std::string>{
           {"1", "bits_per_key leaves less than 1 bit for each key and prefix; raise it"},
           {"2", ""},
           {"16", ""}}) {
    DbConfig config;
    config.options.create_if_missing = true;
    UseFeatures({.bits_per_key = std::stod(bits),
                 .prefixes = "lengths:12",
                 .carrier = Carrier::kFilterAndSidecar},
                &config);
    TestDb db(config);
    for (uint64_t i = 0; i < 5000; ++i) {
      db.Put(std::to_string(1'000'000'000'000 + i * 7919), "value");
    }
    db.Compact();  // and no move, which keeps the filter of a flush
    const std::vector<std::string> problems = ProblemsOf(&db.db());
    EXPECT_EQ(problems.size(), expected.empty() ? 0u : 1u);
    EXPECT_THAT(problems, Each(HasSubstr(expected)));
    EXPECT_THAT(ReadFile(db.path() + "/LOG"), HasSubstr(expected));
  }
}

TEST(CheckFiltersTest, SaysWhatRocksDbLeavesOfBitsPerKey) {
  DbConfig config = MakeConfig(FilterShape::kFull, NewPolicy({.bits_per_key = 10}));
  config.options.listeners = {NewListener()};
  config.options.optimize_filters_for_hits = true;
  TestDb db(config);
  for (const uint64_t keys : {10'000, 1000}) {
    for (uint64_t i = 0; i < keys; ++i) db.Put(std::to_string(i * 0x9e3779b97f4a7c15), "value");
    db.Flush();
    if (keys == 10'000) db.Compact();
  }
  EXPECT_THAT(
      ProblemsOf(&db.db()),
      ElementsAre(::testing::ContainsRegex("filters take [1-3].[0-9] of bits_per_key=10: with")));
}

TEST(CheckFiltersTest, CountsFilesWithoutFiltersUnderAnyPolicy) {
  DbConfig config = MakeConfig(FilterShape::kFull, PolicyFromString("bloomfilter:0"));
  TestDb db(config);
  db.Put("a", "1");
  db.Flush();
  EXPECT_THAT(
      ProblemsOf(&db.db()),
      ElementsAre("1 of 1 files have no filters; filter_policy=bloomfilter:0:false builds none"));
  config.table.filter_policy = PolicyFromString("ribbonfilter:10");
  db.Reopen(config);
  db.Put("b", "1");
  db.Flush();
  EXPECT_THAT(ProblemsOf(&db.db()),
              ElementsAre("1 of 2 files have no filters; compactions build them"));
  config.options.optimize_filters_for_hits = true;  // the last level gets none
  db.Reopen(config);
  EXPECT_THAT(ProblemsOf(&db.db()), ElementsAre());
  // The newest OPTIONS file counts, not an older one of blocksieve.
  config.table.filter_policy = PolicyFromString("blocksieve:0.01");
  db.Reopen(config);
  config.table.filter_policy = PolicyFromString("bloomfilter:10");
  db.Reopen(config);
  EXPECT_THAT(ProblemsOf(&db.db()), ElementsAre());
}

/// Another program's policy, which builds and reads RocksDB's own filters.
struct TheirPolicy final : rocksdb::FilterPolicy {
  const char* Name() const override { return "theirs"; }
  const char* CompatibilityName() const override { return stock->CompatibilityName(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return stock->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return stock->GetFilterBitsReader(contents);
  }
  std::shared_ptr<const rocksdb::FilterPolicy> stock = PolicyFromString("bloomfilter:10");
};

// Who goes back by setting another policy alone has files whose filters nobody reads.
TEST(CheckFiltersTest, FiltersThatThePolicyDoesNotReadAreNoFilters) {
  for (const std::string kind : {"auto", "stock"}) {
    DbConfig config =
        MakeConfig(FilterShape::kFull, PolicyFromString("{id=blocksieve;kind=" + kind + "}"));
    TestDb db(config);
    for (int i = 0; i < 1000; ++i) db.Put("key" + std::to_string(i), "value");
    db.Flush();
    for (const std::string reader : {"bloomfilter:10", "ribbonfilter:10", "theirs", "nullptr",
                                     "rocksdb.BuiltinBloomFilter", "blocksieve:0.1"}) {
      SCOPED_TRACE(kind + " " + reader);
      config.table.filter_policy = nullptr;
      if (reader == "theirs") config.table.filter_policy = std::make_shared<TheirPolicy>();
      if (reader.find_first_of(".:") != reader.npos) {
        config.table.filter_policy = PolicyFromString(reader);
      }
      db.Reopen(config);
      std::string value;
      for (int i = 0; i < 100; ++i) {
        static_cast<void>(db->Get({}, "key" + std::to_string(i) + "x", &value));
      }
      const bool is_read = db.Use().rejected != 0;
      EXPECT_EQ(is_read, reader == "blocksieve:0.1" || (kind == "stock" && reader != "nullptr"));
      const std::vector<std::string> problems = ProblemsOf(&db.db());
      const std::string said = problems.empty() ? "" : problems.back();
      for (const char* const words : {"1 of 1 files have filters that filter_policy=",
                                      " does not read; ", "blocksieve revert"}) {
        EXPECT_EQ(said.find(words) == said.npos, is_read) << said;
      }
      EXPECT_THAT(FilterMetricsText(MetricsOf(&db.db())),
                  HasSubstr(",column_family=\"default\"} " + std::string(is_read ? "0" : "1")));
    }
  }
}

TEST(FilterMetricsTest, AreThoseOfFilesAndCounters) {
  DbConfig config = MakeConfig(FilterShape::kFull, PolicyFromString("blocksieve:0.1"));
  TestDb db(config);
  for (int i = 0; i < 1000; ++i) db.Put("key" + std::to_string(i), "value");
  db.Flush();
  std::string value;
  for (int i = 0; i < 2000; ++i) {
    static_cast<void>(db->Get({}, "key" + std::to_string(i) + (i < 1000 ? "" : "x"), &value));
  }
  const std::vector<FilterMetric> metrics = MetricsOf(&db.db());
  const auto value_of = [&](const std::string& name, const std::string& labels) {
    for (const FilterMetric& metric : metrics) {
      if (metric.name == "blocksieve_" + name &&
          metric.labels == "database=\"" + db.path() + "\"," + labels)
        return metric.value;
    }
    return -1.0;
  };
  const FilterUse use = db.Use();
  EXPECT_EQ(value_of("files", R"(column_family="default",level="0",filter="blocksieve")"), 1);
  EXPECT_EQ(value_of("files_without_filter", R"(column_family="default")"), 0);
  EXPECT_EQ(value_of("filter_bytes", R"(column_family="default",level="0")"), db.FilterBytes());
  EXPECT_EQ(value_of("lookups_total", R"(result="found")"), 1000);
  EXPECT_EQ(value_of("lookups_total", R"(result="absent")"), 1000);
  EXPECT_EQ(value_of("filter_probes_total", R"(result="ruled_out")"), use.rejected);
  EXPECT_EQ(value_of("filter_probes_total", R"(result="true_positive")"), 1000);
  EXPECT_EQ(value_of("filter_probes_total", R"(result="false_positive")"), 1000 - use.rejected);
  EXPECT_GT(use.rejected, 0u);
  const std::string text = FilterMetricsText(metrics);
  EXPECT_THAT(text, HasSubstr("# TYPE blocksieve_lookups_total counter\n"));
  EXPECT_THAT(text, HasSubstr("\",result=\"memtable\"} 0\n"));
}

}  // namespace
}  // namespace blocksieve::testing
