// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <iterator>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/options/loaded_options.h"
#include "integration/rocksdb/options/options_text.h"
#include "tests/fuzz/fuzz.h"

// OPTIONS files that were damaged or edited by hand: Load, which compares each value with that of
// RocksDB's parser, refuses what that refuses, and nothing else. The input is read as a text, and
// as edits of the lines of a file.

namespace blocksieve::testing {
namespace {

using rocksdb_plugin::LoadedOptions;
using rocksdb_plugin::OptionsSection;
using rocksdb_plugin::OptionsText;

rocksdb::Status LoadByRocksDb(const std::string& text, bool is_newer) {
  const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::ConfigOptions config;
  config.env = memory.get();
  config.ignore_unknown_options = is_newer;
  rocksdb::Status status = rocksdb::WriteStringToFile(memory.get(), text, "/file");
  if (!status.ok()) return status;
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  return rocksdb::LoadOptionsFromFile(config, "/file", &db, &families);
}

// Texts may name two table factories inline, or one option by two names: RocksDB takes one by the
// order of a hash table. Or they give an inline factory no name: RocksDB 9.10 makes none, 7.8 the
// default one.
bool IsAmbiguous(const OptionsText& text) {
  for (const std::string& family : text.Families()) {
    int num_tables = 0;
    int num_memtables = 0;
    for (const auto& [option, value] : text.Options(OptionsSection::Family(family))) {
      num_tables += option.find("table_factory") != std::string::npos;
      num_memtables += option.starts_with("memtable_factory") || option == "memtable";
      if (option.find('.') != std::string::npos) return true;
      const bool has_no_name = value.starts_with('{') && value.find("id=") == std::string::npos;
      if (option == "table_factory" && has_no_name) return true;
    }
    if (num_tables > 1 || num_memtables > 1) return true;
  }
  return false;
}

void TestText(const std::string& content, Input input) {
  const OptionsText text(content);
  LoadedOptions ours;
  const rocksdb::Status status = Load(text, &ours);
  const rocksdb::Status expected = LoadByRocksDb(content, ours.is_newer);
  if (status.IsCorruption() && expected.ok()) {
    Require(IsAmbiguous(text), status.ToString().c_str());
    return;
  }
  Require(status.ok() == expected.ok(), status.ToString().c_str());
  if (!status.ok() || ours.is_newer) return;  // RocksDB ignores what it cannot read of later files
  constexpr std::pair<const char*, const char*> kEdits[] = {
      {"filter_policy", "{id=blocksieve;target_fpr=0.02}"},
      {"filter_policy", "bloomfilter:9"},
      {"block_size", "5000"},
      {"format_version", "4"}};
  const auto families = text.Families();
  const OptionsSection section =
      OptionsSection::Table(families[input.Below(256) % families.size()]);
  if (text.TableFactory(section.family) != "BlockBasedTable") return;
  const auto [option, value] = kEdits[input.Below(std::size(kEdits))];
  OptionsText edited = text;
  Require(edited.Set(section, option, value).ok(), "it can be edited");
  const rocksdb::Status same = SameBut(text, edited, edited.edits());
  Require(same.ok() || IsAmbiguous(text), same.ToString().c_str());
}

// Files as RocksDB and as people write them.
std::vector<std::string> Files() {
  OptionsText written(
      "[Version]\n  rocksdb_version=7.0.0\n  options_file_version=1.1\n\n[DBOptions]\n"
      "  wal_dir=/a\\:b\\#c\\\\d\n  max_open_files=100\n  listeners={blocksieve}\n");
  for (const char* const family : {"default", "a:b", "#\\\"]"}) written.AddFamily(family);
  const std::pair<OptionsSection, std::pair<const char*, const char*>> options[] = {
      {OptionsSection::Table("a:b"), {"filter_policy", "bloomfilter:10"}},
      {OptionsSection::Family("a:b"), {"prefix_extractor", "rocksdb.FixedPrefix.4"}},
      {OptionsSection::Family("#\\\"]"), {"table_factory", "PlainTable"}}};
  for (const auto& [section, option] : options) {
    Require(written.Set(section, option.first, option.second).ok(), "set");
  }
  return {written.text(),
          "[Version] # by hand\n rocksdb_version=7.8.3\n options_file_version=1.1\n[DBOptions]\n"
          "  create_if_missing=true\n[CFOptions \"default\"]\n  write_buffer_size=64M\n"
          "[TableOptions/BlockBasedTable  \"default\"]\n  filter_policy=blocksieve:0.01   # 1 %\n",
          "[DBOptions]\r\n\tmax_open_files = 1 # few\r\n[CFOptions \"default\"] # main\r\n"
          "block_based_table_factory={filter_policy={id=blocksieve;target_fpr=0.01;};block_size="
          "4000}\r\n[CFOptions \"b\"]\r\ntable_factory=BlockBasedTable\r\n"
          "merge_operator={id=Theirs;a=1}\r\n[TableOptions/BlockBasedTable  \"b\"]\r\n"
          "filter_policy=bloomfilter\r\n"};
}

// Changes lines as people do, by the choices of the input.
std::string Edited(const std::string& text, Input* input) {
  constexpr std::string_view kLines =
      "|[DBOptions]|[CFOptions \"default\"]|[CFOptions \"new\"]|  rocksdb_version=99.1|#a=b|"
      "[TableOptions/BlockBasedTable \"default\"] # again|[TableOptions/Theirs \"a\\:b\"]|"
      "  wal_dir=/tmp/x\\#y|wal_dir = ./x # relative|filter_policy=bloomfilter:10:false#bits|"
      "filter_policy={id=blocksieve;bits_per_key=9;prefixes=delimiter\\:/}|comparator=theirs|"
      "filter_policy=rocksdb.BuiltinBloomFilter|filter_policy=theirs\\|merge_operator={id=put;}|"
      "comparator=rocksdb.ReverseBytewiseComparator|merge_operator=theirs|memtable=vector|"
      "prefix_extractor=fixed:3|prefix_extractor={id=theirs;a={b=c}}|listeners={A:B}|"
      "compaction_filter_factory={id=X;ttl=3600}|table_factory={block_size=3000}|"
      "table_properties_collectors={A:blocksieve.skip_index}|"
      "block_based_table_factory={filter_policy=ribbonfilter:9}|";
  std::vector<std::string> added;
  for (std::string_view rest = kLines; !rest.empty();) added.emplace_back(Cut(&rest, "|"));
  std::vector<std::string> lines;
  for (std::string_view rest = text; !rest.empty();) lines.emplace_back(Cut(&rest, "\n"));
  const auto any = [&] { return input->Number<uint16_t>() % std::max<size_t>(lines.size(), 1); };
  const auto at = [&](size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(i); };
  for (size_t n = input->Below(4); n > 0 && !lines.empty(); --n) {
    const size_t i = any();
    const size_t j = any();
    switch (input->Below(7)) {
      case 0:
        lines.insert(at(j), std::string(lines[i]));
        break;
      case 1:
        std::swap(lines[i], lines[j]);
        break;
      case 2:
        std::rotate(at(std::min(i, j)), at(std::max(i, j)), lines.end());
        break;
      case 3:
        lines.erase(at(i));
        break;
      case 4:
        lines[i].insert(input->Number<uint16_t>() % (lines[i].size() + 1),
                        input->Text().substr(0, 3));
        break;
      default:
        lines.insert(at(i), added[input->Below(added.size())]);
    }
  }
  std::string joined;
  const char* const line_break = input->Flag() ? "\r\n" : "\n";
  for (const std::string& line : lines) joined += line + line_break;
  return joined;
}

}  // namespace

void TestOneInput(ByteView bytes) {
  static const int registered = blocksieve_rocksdb_register();
  static_cast<void>(registered);
  static const std::vector<std::string> files = Files();
  const rocksdb_plugin::SilentLog silent;
  Input choices(bytes);
  const std::string& file = files[choices.Below(files.size())];
  TestText(Edited(file, &choices), choices);
  TestText(std::string(AsText(bytes)), choices);
}

}  // namespace blocksieve::testing
