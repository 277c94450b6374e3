// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/merge_operator.h>

#include "integration/rocksdb/options/loaded_options.h"
#include "integration/rocksdb/options/options_text.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/test_db.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using blocksieve::testing::MustBeOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

// Texts, which are edited.

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
  MustBeOk(SameBut(before, after, after.edits()), option);
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
  MustBeOk(comment.Set(kDb, "wal_dir", "\\"));
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
  text.AddFamily("a:\"#");
  MustBeOk(text.Set(OptionsSection::Family("a:\"#"), "num_levels", "4"));
  MustBeOk(text.Set(kTable, "block_size", "8000"));
  MustBeOk(text.Set(kDb, "max_open_files", "11"));
  MustBeOk(text.Set(kDb, "max_open_files", "10"));
  MustBeOk(text.Set(kTable, "filter_policy", "bloomfilter:10"));
  EXPECT_TRUE(SameBut(before, text, {}).IsCorruption());
  EXPECT_TRUE(SameBut(before, text, {{OptionsSection::Family("a:\"#"), "", ""}}).IsCorruption());
  MustBeOk(SameBut(before, text, text.edits()));
  LoadedOptions loaded;
  MustBeOk(Load(text, &loaded));
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

// What RocksDB loads.

class LoadedOptionsTest : public ::testing::Test {
 protected:
  LoadedOptionsTest() { blocksieve_rocksdb_register(); }

  // "family option value", and "!" if it is needed, of each object that RocksDB left out.
  static std::vector<std::string> LeftOut(const LoadedOptions& loaded) {
    std::vector<std::string> texts;
    for (const NamedObject& object : loaded.objects) {
      EXPECT_NE(object.reason, "");
      texts.push_back(object.family + " " + object.option + " " + object.value +
                      (object.is_needed() ? "!" : ""));
    }
    return texts;
  }
};

std::string File(const std::string& db, const std::string& family, const std::string& table = "",
                 const std::string& version = "7.0.0") {
  return "[Version]\nrocksdb_version=" + version + "\noptions_file_version=1.1\n[DBOptions]\n" +
         db + "\n[CFOptions \"default\"]\n" + family +
         "\n[TableOptions/BlockBasedTable \"default\"]\n" + table + "\n";
}

TEST_F(LoadedOptionsTest, LeavesOutObjectsOfOtherProgramsAndNamesThem) {
  LoadedOptions loaded;
  MustBeOk(Load(OptionsText(File(
                    "listeners={blocksieve}\nwal_filter=Theirs\n"
                    "file_checksum_gen_factory=Crc",
                    "compaction_filter=F\ncompaction_filter_factory={id=X;ttl=3600}\n"
                    "sst_partitioner_factory={id=P;a={b=c}}\nmemtable_factory=M\n"
                    "merge_operator={id=Add;bits=8}\ncomparator=rev:\n"
                    "prefix_extractor=E\nnum_levels=3\n"
                    "table_properties_collectors=T:{id=blocksieve.skip_index;columns="
                    "a=field:1}:{id=U;x=1}",
                    "filter_policy=blocksieve:2\nflush_block_policy_factory=B\nblock_size=8192")),
                &loaded));
  EXPECT_THAT(
      LeftOut(loaded),
      ElementsAre(
          " file_checksum_gen_factory Crc", " wal_filter Theirs!", "default compaction_filter F",
          "default compaction_filter_factory {id=X;ttl=3600}", "default comparator rev:!",
          "default memtable_factory M", "default merge_operator {id=Add;bits=8}",
          "default prefix_extractor E", "default sst_partitioner_factory {id=P;a={b=c}}",
          "default table_properties_collectors T", "default table_properties_collectors {id=U;x=1}",
          "default filter_policy blocksieve:2", "default flush_block_policy_factory B"));
  const rocksdb::ColumnFamilyOptions& family = *loaded.Find("default");
  EXPECT_EQ(loaded.db.listeners.size(), 1u);
  EXPECT_EQ(family.comparator, nullptr);
  EXPECT_STREQ(family.merge_operator->Name(), "Add");
  EXPECT_STREQ(family.memtable_factory->Name(), "SkipListFactory");
  EXPECT_EQ(family.table_properties_collector_factories.size(), 1u);
  EXPECT_EQ(family.num_levels, 3);
}

TEST_F(LoadedOptionsTest, RefusesWhatRocksDbRefusesOrReadsOtherwise) {
  LoadedOptions loaded;
  const auto error = [&](const std::string& text) {
    return Load(OptionsText(text, "OPTIONS-000001"), &loaded).ToString();
  };
  EXPECT_THAT(error(""), HasSubstr("DBOptions"));
  EXPECT_THAT(error(File("max_open_files=many", "")), HasSubstr("max_open_files"));
  EXPECT_THAT(error(File("no_such=1", "")), HasSubstr("no_such"));
  EXPECT_THAT(
      error("[DBOptions]\n[CFOptions \"default\"]\nblock_based_table_factory.block_size=5000\n"),
      "OK");
  // RocksDB takes either, by the order of a hash table.
  EXPECT_THAT(
      error("[DBOptions]\n[CFOptions \"default\"]\nplain_table_factory={bloom_bits_per_key=9}\n"
            "block_based_table_factory={block_size=5000}\n"),
      AnyOf(HasSubstr("RocksDB's parser loaded"), HasSubstr("Cannot modify BlockBasedTable")));
  EXPECT_THAT(error(File("no_such=1", "", "", "99.0.0")), "OK");
  EXPECT_TRUE(loaded.is_newer);
  EXPECT_EQ(loaded.version, "99.0.0");
  EXPECT_THAT(error(File("", "table_factory=Theirs\n[TableOptions/Theirs \"default\"]\na=b")),
              "OK");
  EXPECT_THAT(LeftOut(loaded), IsEmpty());  // a later section replaces it
  EXPECT_THAT(error(File("", "") + "[TableOptions/Theirs \"default\"]\na=b\n"), "OK");
  EXPECT_THAT(LeftOut(loaded), ElementsAre("default table_factory Theirs!"));
  EXPECT_EQ(loaded.Find("default")->table_factory, nullptr);
}

// Until 11.9, RocksDB takes a list in braces for one name.
TEST_F(LoadedOptionsTest, NamesOurListenerIfRocksDbDropsItWithTheirs) {
  LoadedOptions loaded;
  MustBeOk(Load(OptionsText(File("listeners={blocksieve:Theirs}", "")), &loaded));
  EXPECT_EQ(loaded.objects.size() + loaded.db.listeners.size(), 2u);
  MustBeOk(Load(OptionsText(File("listeners=blocksieve:Theirs", "")), &loaded));
  EXPECT_THAT(LeftOut(loaded), ElementsAre(" listeners Theirs"));
  EXPECT_EQ(loaded.db.listeners.size(), 1u);
}

TEST_F(LoadedOptionsTest, SaysWhatPoliciesBuild) {
  const std::pair<PolicyEffect, std::vector<const char*>> cases[] = {
      {PolicyEffect::kNone, {"", "nullptr"}},
      {PolicyEffect::kOurs,
       {"blocksieve", "blocksieve:0.01", "{id=blocksieve;bits_per_key=9}",
        "id=blocksieve;kind=bloom"}},
      {PolicyEffect::kBuilds,
       {"bloomfilter:10", "bloomfilter:10:false", "rocksdb.BloomFilter:9.9", "ribbonfilter:10:2",
        "{id=ribbonfilter:10:2;}"}},
      {PolicyEffect::kOnlyReads,
       {"rocksdb.BuiltinBloomFilter", "bloomfilter:0", "bloomfilter:0.4:false"}},
      {PolicyEffect::kStockWithoutBits,
       {"bloomfilter", "ribbonfilter", "rocksdb.BloomFilter", "rocksdb.RibbonFilter",
        "{id=bloomfilter}"}},
      {PolicyEffect::kRefused,
       {"blocksieve:2", "{id=blocksieve;target_fpr=2}", "{id=blocksieve;prefixes=callback}",
        "{id=blocksieve;bit_per_key=1}"}},
      {PolicyEffect::kForeign, {"blocksive:0.01", "mine", "{id=mine;a=1}"}}};
  for (const auto& [kind, policies] : cases) {
    for (const char* const policy : policies) {
      const PolicyVerdict effect = Judge(policy);
      EXPECT_EQ(effect.kind, kind) << policy;
      EXPECT_TRUE(kind != PolicyEffect::kBuilds || effect.builds()) << policy;
      EXPECT_TRUE(kind != PolicyEffect::kRefused || effect.reason != "") << policy;
    }
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
