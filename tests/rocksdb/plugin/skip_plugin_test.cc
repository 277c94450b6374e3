#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <string>
#include <string_view>

#include "tests/rocksdb/scan/skip_test_db.h"

// The skip index as users link it: the core in the program makes columns and predicates, and the
// copy of the core in the plug-in uses them.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

TEST(SkipPlugin, ColumnsAndPredicatesPassIntoTheSharedObject) {
  SkipIndexOptions options = ShortGranules({"n=int:field:1", "w=words:2", "j=json:/a"});
  TestDb db(SkipConfig(options));
  for (uint64_t i = 0; i < 200; ++i) {
    const std::string number = std::to_string(i);
    db.Put(Key(i), i % 50 == 3 ? "{\"a\": \"" + number + "\"}" : number + "\tsome lib" + number);
  }
  db.Flush();
  db.Compact();
  for (const char* const where :
       {"n = 17", "w HAS 'lib19'", "j = '53'", "n IN (5, 6) OR j IS NOT NULL"}) {
    SCOPED_TRACE(where);
    ScanExplanation explanation;
    EXPECT_GT(ScanBoth(&db.db(), Where(where, options.columns), &explanation).size(), 0u);
    EXPECT_FALSE(explanation.is_full_scan) << explanation.ToText();
    EXPECT_LT(explanation.granules_selected, explanation.num_granules) << explanation.ToText();
  }
  SkipIndexSummary summary;
  MustBeOk(ReadSkipIndexes(&db.db(), nullptr, &summary), "summary");
  EXPECT_EQ(summary.columns.size(), 3u);
}

// What option strings mean: option_promises_test.cc.
TEST(SkipPlugin, OptionsFilesNameTheIndexAndReadBack) {
  // Delimiters and blanks with a meaning in option strings and OPTIONS files.
  const SkipIndexOptions same = ShortGranules(
      {"semi=field(;):2", "brace=field({)[}]:3", "hash=field(#)[%]:1", "bar=field(|)[=]:1",
       "back=field(\\\\):1", "x=json:/a b/c", " outer =json:/ x "});
  TestDb db(SkipConfig(same));
  db.Put("a", "x");
  db.Flush();
  const StoredOptions stored(db.path());
  const auto& factories = stored.column_family().table_properties_collector_factories;
  ASSERT_EQ(factories.size(), 1u);
  EXPECT_EQ(factories[0]->ToString(), (*NewSkipIndexCollectorFactory(same))->ToString());

  rocksdb::ColumnFamilyOptions options;
  for (const char* const bad : {"columns=n", "columns=n=%4", "granule_rows=x",
                                "columns=n=field:1;target_fpr=7", "columns=n=field:1;unknown=1"}) {
    const std::string text =
        std::string("table_properties_collectors={{id=blocksieve.skip_index;").append(bad) + "}}";
    EXPECT_FALSE(rocksdb::GetColumnFamilyOptionsFromString(StrictConfig(), {}, text, &options).ok())
        << text;
  }
}

}  // namespace
}  // namespace blocksieve
