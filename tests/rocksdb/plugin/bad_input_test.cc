// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/convenience.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/slice_transform.h>

#include <functional>
#include <optional>
#include <type_traits>

#include "blocksieve/c.h"
#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// All invalid input of all functions that take options, those of C too: the status names the
// option, its value, what is allowed and what to do; nothing else happens. The ends of every range:
// cli/options_test.py. Scans: enable_test.cc.

namespace blocksieve::testing {
namespace {

using rocksdb::Options;
using Table = rocksdb::BlockBasedTableOptions;
using ::testing::HasSubstr;

struct BadInput {
  std::vector<std::string> words;  // expected in the status
  std::function<rocksdb::Status(Options*)> call;
  bool is_loud = false;             // also on stderr, as RocksDB may drop the status
  bool rocksdb_repeats_it = false;  // RocksDB appends the text to the message
};
using Cases = std::vector<BadInput>;
using Words = std::vector<std::string>;

const std::string& Megabyte() {
  static const auto& text = *new std::string(1 << 20, 'x');
  return text;
}
constexpr const char* kNotUtf8 = "\xff\xfe";

// A function in C that takes a text, or null, and perhaps options in the struct of rocksdb/c.h.
template <class Call>
BadInput InC(const Words& words, Call* call, const std::optional<std::string>& given) {
  return {words, [=](Options* options) {
            const char* const text = given ? given->c_str() : nullptr;
            char* error = nullptr;
            if constexpr (std::is_invocable_v<Call, const char*, char**>) {
              call(text, &error);
            } else {
              call(reinterpret_cast<rocksdb_options_t*>(options), text, &error);
            }
            const std::string said = error == nullptr ? "" : error;
            rocksdb_free(error);
            return said.starts_with("Invalid argument: ") ? rocksdb::Status::InvalidArgument(said)
                                                          : rocksdb::Status::OK();
          }};
}

Cases FilterOptionCases() {
  const std::pair<EnableOptions, Words> bad[] = {
      {{.target_fpr = std::nan("")}, {"target_fpr is nan; allowed: 1e-07 to 0.5"}},
      // A value just outside the range is not rounded to the bound.
      {{.target_fpr = std::nextafter(0.5, 1)}, {"target_fpr is 0.5000000000000001; allowed"}},
      {{.wasted_reads = 0}, {"wasted_reads is 0; allowed: 1e-06 to 100"}},
      {{.target_fpr = 0.01, .wasted_reads = 0.5},
       {"target_fpr=0.01, wasted_reads=0.5 exclude each other; allowed: one", "NAME=none"}},
      {{.kind = static_cast<FilterKind>(77)}, {"kind is unknown", "auto, bloom, ribbon"}},
      {{.ranges = true, .range_fpr = 0.5}, {"range_fpr is 0.5; allowed: 1e-05 to 0.3"}},
      {{.wasted_reads = 1, .ranges = true, .range_fpr = 0.1},
       {"range_fpr is 0.1; allowed: none with wasted_reads"}},
      {{.ranges = true, .seek_fraction = 0.5},
       {"seek_fraction is 0.5; allowed: none, unless wasted_reads"}},
      {{.wasted_reads = 1, .ranges = true, .seek_fraction = 1},
       {"seek_fraction is 1; allowed: 0.01 to 0.99"}},
      {{.range_fpr = 0.1}, {"range_fpr is 0.1; allowed: none, unless ranges=true"}},
      {{.wasted_reads = 1, .seek_fraction = 0.5},
       {"seek_fraction is 0.5; allowed: none, unless ranges=true"}},
      {{.plain_range_reads = true},
       {"plain_range_reads is true; allowed: false, unless ranges=true"}},
      {{.prefixes = Megabyte()}, {"prefixes is xxxx", "at byte 0: expected delimiter:, lengths:"}},
      {{.prefixes = "delimiter:/", .prefix_fpr = 1}, {"prefix_fpr is 1; allowed: 1e-07 to 0.5"}},
      {{.kind = FilterKind::kStock, .ranges = true},
       {"ranges is true; allowed: false with kind=stock"}},
      {{.kind = FilterKind::kStock, .prefixes = "auto"},
       {"prefixes is auto; allowed: none with kind=stock"}},
      {{.kind = FilterKind::kStock, .max_build_bytes = 1},
       {"max_build_bytes is 1; allowed: 0 with kind=stock", "cache_usage_options"}},
      {{.prefix_fpr = 0.1}, {"prefix_fpr is 0.1; allowed: none, unless prefixes is set"}},
  };
  Cases cases;
  for (const auto& each : bad) {
    const EnableOptions filter = each.first;
    const Words& words = each.second;
    cases.push_back({words, [=](Options* options) {
                       EnableOptions features = filter;
                       features.carrier = Carrier::kFilterAndSidecar;
                       return Enable(options, features);
                     }});
    cases.push_back({words, [=](Options*) {
                       std::shared_ptr<const rocksdb::FilterPolicy> policy;
                       return NewFilterPolicy(filter, &policy);
                     }});
  }
  return cases;
}

Cases IndexOptionCases() {
  const char* const null = nullptr;
  const std::pair<EnableOptions, Words> bad[] = {
      {{.columns = {"a=field:1", "a=field:2"}}, {"columns has \"a\" twice; allowed: once"}},
      {{.columns = {"a=field:1", "garbage"}}, {"'garbage', position 1: expected NAME=EXTRACTOR"}},
      {{.columns = {null}}, {"column definition ''"}},
      {{.columns = {""}}, {"column definition ''"}},
      {{.columns = {kNotUtf8}}, {"column definition '\xff\xfe'", "expected NAME="}},
      {{.columns = {Megabyte()}}, {"column definition 'xxxx", "...'", "expected NAME="}},
      {{.columns = {"a=field:0"}},
       {"'a=field:0', position 9: expected a number from 1 to 1000000; found '0'"}},
      {{.columns = {"a=field:1"}, .value_fpr = 2}, {"value_fpr is 2; allowed: 1e-07 to 0.5"}},
  };
  Cases cases;
  for (const auto& each : bad) {
    const EnableOptions features = each.first;
    cases.push_back({each.second, [=](Options* o) { return Enable(o, features); }});
  }
  return cases;
}

rocksdb::Status MakePolicy(const std::string& text) {
  std::shared_ptr<const rocksdb::FilterPolicy> made;
  return rocksdb::FilterPolicy::CreateFromString(StrictConfig(), text, &made);
}

rocksdb::Status MakeIndex(const std::string& options) {
  rocksdb::ColumnFamilyOptions made;
  return rocksdb::GetColumnFamilyOptionsFromString(
      StrictConfig(), {},
      "table_properties_collectors={{id=blocksieve.skip_index;" + options + "}}", &made);
}

// Option strings, as SetOptions and OPTIONS files have them.
Cases TextCases() {
  Cases cases;
  for (const std::string& value :
       std::vector<std::string>{"", Megabyte(), kNotUtf8, "0.01x", "0,01", "ten", "1e-400", "64XB",
                                "Bloom", "10:false"}) {
    const std::string is = value.empty() ? " is empty" : " is " + value.substr(0, 40);
    cases.push_back({{"target_fpr" + is, "1e-07 to 0.5"},
                     [=](Options*) { return MakePolicy("blocksieve:" + value); },
                     /*is_loud=*/true,
                     /*rocksdb_repeats_it=*/true});
    for (const char* const name :
         {"target_fpr", "wasted_reads", "bits_per_key", "kind", "ranges", "max_build_bytes",
          "range_fpr", "seek_fraction", "prefix_fpr", "plain_range_reads"}) {
      const std::string text = "{id=blocksieve;" + std::string(name) + "=" + value + "}";
      const Words words = {name + is, "allowed:"};
      cases.push_back({words, [=](Options*) { return MakePolicy(text); }, true});
      cases.push_back(InC(words, blocksieve_filterpolicy_create, text));
      cases.push_back(InC(words, blocksieve_enable, text));
    }
    for (const char* const name : {"granule_rows", "granule_bytes", "block_granules", "target_fpr",
                                   "max_index_bytes", "max_property_bytes", "value_suffix_bytes"}) {
      const std::string text = "columns=a=field:1;" + std::string(name) + "=" + value;
      const Words words = {name + is, "allowed:"};
      cases.push_back({words, [=](Options*) { return MakeIndex(text); }});
    }
    cases.push_back(InC({"result" + is, "no, may_match"}, blocksieve_range_filter_count, value));
    if (value.empty()) {
      cases.push_back(InC({"option id is empty; allowed"}, blocksieve_filterpolicy_create, value));
      continue;
    }
    cases.push_back(InC({"options \"{a="}, blocksieve_enable, "{a=" + value));
    cases.push_back(InC({"allowed"}, blocksieve_enable, value + "=1"));
    cases.push_back({{"column definition '" + value.substr(0, 40)},
                     [=](Options*) { return MakeIndex("columns=" + value); }});
  }
  cases.push_back(InC({"target_fpr=0.1, wasted_reads=1 exclude each other"},
                      blocksieve_filterpolicy_create, "target_fpr=0.1;wasted_reads=1"));
  cases.push_back({{"option columns is %zz", "allowed: % followed by two hex digits"},
                   [](Options*) { return MakeIndex("columns=%zz" + Megabyte()); }});
  return cases;
}

using Change = std::function<void(Options*, Table*)>;

const EnableOptions kRanges = {.ranges = true, .carrier = Carrier::kFilterAndSidecar};

void Apply(const Change& change, Options* options) {
  Table table = *options->table_factory->GetOptions<Table>();
  change(options, &table);
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
}

// Options that exclude range filters, set before ranges are enabled.
rocksdb::Status EnableAfter(const Change& change) {
  Options options;
  Apply(change, &options);
  const std::string before = DumpOptions(options);
  rocksdb::Status status = Enable(&options, kRanges);
  EXPECT_EQ(DumpOptions(options), before);
  return status;
}

// The same options, set after ranges were enabled and found when the database is opened.
rocksdb::Status OpenAfter(const Change& change) {
  Options options;
  options.create_if_missing = true;
  MustBeOk(Enable(&options, kRanges));
  Apply(change, &options);
  const TempDir dir;
  std::unique_ptr<rocksdb::DB> db;
  return rocksdb_plugin::OpenDb(options, dir / "db", &db);
}

Cases RangeCases() {
  Cases cases;
  const auto before = [&](const Words& words, const Change& change) {
    cases.push_back({words, [=](Options*) { return EnableAfter(change); }});
  };
  const auto after = [&](const Words& words, const Change& change) {
    cases.push_back({words, [=](Options*) { return OpenAfter(change); }, /*is_loud=*/true});
  };
  const std::pair<Words, Change> both[] = {
      {{"comparator is rocksdb.ReverseBytewiseComparator; allowed: leveldb.", "(with ranges=true)"},
       [](Options* o, Table*) { o->comparator = rocksdb::ReverseBytewiseComparator(); }},
      {{"whole_key_filtering is false; allowed: true"},
       [](Options*, Table* table) { table->whole_key_filtering = false; }},
      {{"index_type is kHashSearch; allowed: kBinarySearch"},
       [](Options*, Table* table) { table->index_type = Table::kHashSearch; }},
      {{"memtable_factory is HashSkipList", "SkipListFactory"},
       [](Options* o, Table*) { o->memtable_factory.reset(rocksdb::NewHashSkipListRepFactory()); }},
  };
  for (const auto& [words, change] : both) {
    before(words, change);
    after(words, change);
  }
  const Change other_prefixes = [](Options* o, Table*) {
    o->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  };
  before({"prefix_extractor is rocksdb.FixedPrefix", "set replace_prefix_extractor"},
         other_prefixes);
  after({"prefix_extractor is rocksdb.FixedPrefix", "allowed: blocksieve.range"}, other_prefixes);
  after({"prefix_extractor is not set; allowed: blocksieve.range"},
        [](Options* o, Table*) { o->prefix_extractor.reset(); });
  return cases;
}

// Options that exclude every feature.
Cases PlaceCases() {
  Cases cases;
  const EnableOptions index = {.columns = {"a=field:1"}, .carrier = Carrier::kFilterAndSidecar};
  for (const EnableOptions& features : {EnableOptions(), kRanges, index}) {
    const auto enable = [=](Options* options) { return Enable(options, features); };
    cases.push_back({{"argument options is null; allowed: an address"},
                     [=](Options*) { return enable(nullptr); }});
    for (const std::string table : {"null", "PlainTable"}) {
      const auto call = [=](Options*) {
        Options other;
        other.table_factory.reset(table == "null" ? nullptr : rocksdb::NewPlainTableFactory());
        return enable(&other);
      };
      cases.push_back({{"table_factory is " + table + "; allowed: BlockBasedTable"}, call});
    }
  }
  const std::string is_null = " is null; allowed: an address";
  cases.push_back(InC({"options_text" + is_null}, blocksieve_filterpolicy_create, std::nullopt));
  cases.push_back(InC({"features" + is_null}, blocksieve_enable, std::nullopt));
  cases.push_back(InC({"result is null"}, blocksieve_range_filter_count, std::nullopt));
  const std::string needs_listener =
      " without DBOptions, which hold its listener; pass {&db_options, &column_family_options}";
  using Family = rocksdb::ColumnFamilyOptions*;
  cases.push_back({{"bits_per_key is 10; allowed: none" + needs_listener},
                   [](Options* o) { return Enable(Family(o), {.bits_per_key = 10}); }});
  cases.push_back({{"max_property_bytes is 4096; allowed: 18446744073709551615" + needs_listener},
                   [=](Options* o) { return Enable(Family(o), index); }});
  return cases;
}

class BadInputTest : public ::testing::Test {
 protected:
  BadInputTest() {
    enabled_.create_if_missing = true;
    MustBeOk(Enable(&enabled_, {.ranges = true, .columns = {"a=field:1", "w=words:2"}}));
    db_ = OpenDb(enabled_, dir_ / "db");
  }

  // Twice, on new options, on options with all features, and on those of an open database.
  void ExpectRefusals(const Cases& cases) {
    for (Options options : {Options(), enabled_, db_->GetOptions()}) {
      const std::string before = DumpOptions(options);
      for (const BadInput& bad : cases) {
        rocksdb::Status status;
        CatchStderr([&] { status = bad.call(&options); });
        const std::string loud = CatchStderr([&] { status = bad.call(&options); });
        ASSERT_TRUE(status.IsInvalidArgument()) << bad.words[0] << ": " << status.ToString();
        for (const std::string& word : bad.words) ASSERT_THAT(status.ToString(), HasSubstr(word));
        ASSERT_TRUE(!bad.is_loud || loud.find(bad.words[0]) != loud.npos) << bad.words[0];
        ASSERT_TRUE(bad.rocksdb_repeats_it || status.ToString().size() < 1000) << bad.words[0];
        ASSERT_EQ(DumpOptions(options), before) << bad.words[0];
      }
    }
  }

  const TempDir dir_;
  Options enabled_;
  std::unique_ptr<rocksdb::DB> db_;
};

TEST_F(BadInputTest, AreRefusedAndChangeNothing) {
  ExpectRefusals(FilterOptionCases());
  ExpectRefusals(IndexOptionCases());
  ExpectRefusals(TextCases());
  ExpectRefusals(RangeCases());
  ExpectRefusals(PlaceCases());
  // The limits themselves.
  for (const EnableOptions& good :
       {EnableOptions{}, {.wasted_reads = 100}, {.bits_per_key = 0.1}, {.target_fpr = 0.5}}) {
    MustBeOk(Enable(&enabled_, good));
  }
  rocksdb::ColumnFamilyOptions family;
  MustBeOk(Enable(&family, {.columns = {"a=field:1"}, .max_property_bytes = UINT64_MAX}));
  Options other;
  other.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  MustBeOk(Enable(
      &other,
      {.ranges = true, .carrier = Carrier::kFilterAndSidecar, .replace_prefix_extractor = true}));
  EXPECT_STREQ(other.prefix_extractor->Name(), "blocksieve.range");
  PrepareRangeRead(nullptr, nullptr);  // has no status
}

}  // namespace
}  // namespace blocksieve::testing
