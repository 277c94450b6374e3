#include "integration/rocksdb/options/options_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "integration/rocksdb/options/loaded_options.h"
#include "tests/support/db_checks.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using blocksieve::testing::MustBeOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

const OptionsSection kDb = OptionsSection::Db();
const OptionsSection kFamily = OptionsSection::Family("default");
const OptionsSection kTable = OptionsSection::Table("default");

std::string FileWith(const std::string& family_options, const std::string& rest = "") {
  return "# by hand\n[Version]\n  rocksdb_version=7.8.3\n  "
         "options_file_version=1.1\n\n[DBOptions]\n"
         "\twal_dir=/a\\:b\\#c   # where\n  max_open_files = 10\n[CFOptions \"default\"]\n" +
         family_options + "\n" + rest;
}

// Sets the option, checks that nothing but it differs, and returns the text.
std::string After(const std::string& text, const OptionsSection& section, const std::string& option,
                  const std::string& value) {
  const OptionsText before(text);
  OptionsText after = before;
  MustBeOk(after.Set(section, option, value), option);
  MustBeOk(SameBut(before, after, {{section, option, value}}), option);
  EXPECT_THAT(after.Find(section, option), Optional(value));
  return after.text();
}

TEST(OptionsTextTest, FindsWhatRocksDbTakes) {
  const OptionsText text(
      FileWith("  write_buffer_size=1  # [x]\nwrite_buffer_size=2",
               "[ TableOptions/BlockBasedTable  \"default\" ] # first\nblock_size=1\n"
               "filter_policy=bloomfilter:10\n"
               "[CFOptions \"a\\:\\#\\\\b\"]\n\n[TableOptions/PlainTable "
               "\"default\"]\nbloom_bits_per_key=3\nencoding_type=kPrefix"));
  EXPECT_THAT(text.Families(), ElementsAre("default", "a:#\\b"));
  EXPECT_THAT(text.Find(kDb, "wal_dir"), Optional(std::string("/a:b#c")));
  EXPECT_THAT(text.Find(kDb, "max_open_files"), Optional(std::string("10")));
  EXPECT_THAT(text.Find(kFamily, "write_buffer_size"), Optional(std::string("1")));
  EXPECT_EQ(text.Find(kTable, "filter_policy"), std::nullopt);
  EXPECT_EQ(text.TableFactory("default"), "PlainTable");
  EXPECT_EQ(text.TableFactory("a:#\\b"), "BlockBasedTable");
  EXPECT_THAT(
      OptionsText(FileWith("table_factory={id=PlainTable;user_key_len=8}")).TableFactory("default"),
      "PlainTable");
}

TEST(OptionsTextTest, EditsNothingButTheValue) {
  const std::string text = FileWith("write_buffer_size=1\r\n write_buffer_size=2\r");
  const auto replaced = [&](const std::string& old, const std::string& now) {
    std::string copy = text;
    return copy.replace(copy.find(old), old.size(), now);
  };
  EXPECT_EQ(After(text, kDb, "wal_dir", "/x#\\"), replaced("/a\\:b\\#c", "/x\\#\\\\"));
  EXPECT_EQ(After(text, kDb, "wal_dir", ""), replaced("/a\\:b\\#c", ""));
  EXPECT_EQ(After(text, kFamily, "write_buffer_size", "3"), replaced("size=1", "size=3"));
  EXPECT_EQ(After(text, kFamily, "num_levels", "5"), replaced("=2\r\n", "=2\n num_levels=5\r\n"));
  EXPECT_EQ(
      After(text + "\n# end", kTable, "block_size", "5000"),
      replaced("=2\r\n", "=2\n[TableOptions/BlockBasedTable \"default\"]\n  block_size=5000\r\n") +
          "\n# end");
  EXPECT_EQ(After("[DBOptions]\r\n[CFOptions \"default\"]\r\n[CF", kFamily, "num_levels", "5"),
            "[DBOptions]\r\n[CFOptions \"default\"]\r\n  num_levels=5\r\n[CF");
  OptionsText other(text);
  EXPECT_TRUE(other.Set(kDb, "wal_dir", "/x ").IsInvalidArgument());
  EXPECT_TRUE(other.Set(OptionsSection::Table("none"), "block_size", "1").IsNotFound());
  EXPECT_EQ(other.text(), text);
  OptionsText comment("[DBOptions]\nwal_dir=/a#b\n");
  MustBeOk(comment.Set(kDb, "wal_dir", "\\"), "before a comment");
  EXPECT_THAT(comment.Find(kDb, "wal_dir"), Optional(std::string("\\")));
}

TEST(OptionsTextTest, MakesASectionOfInlineTableOptions) {
  for (const char* const option :
       {"table_factory={id=BlockBasedTable;", "block_based_table_factory={"}) {
    const std::string text = FileWith(
        std::string(option) + "filter_policy={id=blocksieve;target_fpr=0.01};block_size=16384;" +
        "flush_block_policy_factory=FlushBlockBySizePolicyFactory} # inline\nnum_levels=3");
    const OptionsText before(text);
    EXPECT_THAT(before.Find(kTable, "filter_policy"),
                Optional(std::string("{id=blocksieve;target_fpr=0.01}")));
    const std::string after = After(text, kTable, "filter_policy", "ribbonfilter:9");
    EXPECT_THAT(
        after,
        HasSubstr(
            "\ntable_factory=BlockBasedTable # inline\nnum_levels=3\n[TableOptions/BlockBasedTable "
            "\"default\"]\n  block_size=16384\n  filter_policy=ribbonfilter:9\n"
            "  flush_block_policy_factory=FlushBlockBySizePolicyFactory\n"));
  }
}

TEST(OptionsTextTest, AddsFamiliesAndListsChanges) {
  OptionsText text(
      FileWith("num_levels=3\n[TableOptions/BlockBasedTable \"default\"]\nblock_size=9000\n"));
  const OptionsText before = text;
  rocksdb::ColumnFamilyOptions options;
  options.num_levels = 4;
  MustBeOk(text.AddFamily("a:\"#", options), "add");
  EXPECT_TRUE(text.AddFamily("a:\"#", options).IsInvalidArgument());
  MustBeOk(text.Set(kTable, "block_size", "8000"), "size");
  MustBeOk(text.Set(kDb, "max_open_files", "11"), "files");
  MustBeOk(text.Set(kDb, "max_open_files", "10"), "as before");
  MustBeOk(text.Set(kTable, "filter_policy", "bloomfilter:10"), "policy");
  EXPECT_TRUE(SameBut(before, text, {}).IsCorruption());
  EXPECT_TRUE(SameBut(before, text, {{OptionsSection::Family("a:\"#"), "", ""}}).IsCorruption());
  MustBeOk(SameBut(before, text,
                   {{OptionsSection::Family("a:\"#"), "", ""},
                    {kTable, "block_size", "8000"},
                    {kTable, "filter_policy", "bloomfilter:10"}}),
           "all");
  LoadedOptions loaded;
  MustBeOk(Load(text, &loaded), "load");
  EXPECT_EQ(loaded.Find("a:\"#")->num_levels, 4);
  std::vector<std::string> changes;
  for (const OptionChange& change : text.Changes()) {
    if (change.section.family != "default") continue;
    changes.push_back(change.title + " " + change.option + ": " +
                      change.before.value_or("nothing") + ", " + change.after);
  }
  EXPECT_THAT(
      changes,
      ElementsAre(
          "TableOptions/BlockBasedTable \"default\" block_size: 9000, 8000",
          "TableOptions/BlockBasedTable \"default\" filter_policy: nothing, bloomfilter:10"));
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
