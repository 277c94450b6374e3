// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/options/loaded_options.h"

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_type.h>
#include <rocksdb/utilities/options_util.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/policy/policy.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::ConfigOptions;
using rocksdb::DBOptions;
using rocksdb::TableFactory;
using OptionMap = std::unordered_map<std::string, std::string>;
using Sorted = std::map<std::string, std::string>;

constexpr const char* kPolicy = "filter_policy";
constexpr const char* kListeners = "listeners";
constexpr const char* kText = "the text says";
constexpr const char* kLoaded = "RocksDB's parser loaded";
constexpr const char* kCollectors = "table_properties_collectors";

// Lenient: RocksDB leaves out the objects that it cannot make, without an error.
ConfigOptions Config(bool is_lenient, bool is_newer = false) {
  ConfigOptions config;
  config.ignore_unsupported_options = is_lenient;
  config.ignore_unknown_options = is_newer;
  return config;
}

/// Takes the place of a merge operator that this program does not have, and merges nothing.
class KeepOperands final : public rocksdb::MergeOperator {
 public:
  explicit KeepOperands(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  bool FullMergeV2(const MergeOperationInput&, MergeOperationOutput* output) const override {
    CopyOperands(output);
    return false;
  }

 private:
  const std::string name_;
};

// The texts of options by name, as RocksDB writes them to OPTIONS files.
Sorted ToTexts(const std::string& text) {
  OptionMap map;
  rocksdb::StringToMap(text, &map).PermitUncheckedError();
  return {map.begin(), map.end()};
}

Sorted ToTexts(const DBOptions& options) {
  std::string text;
  GetStringFromDBOptions(ConfigOptions(), options, &text).PermitUncheckedError();
  return ToTexts(text);
}

Sorted ToTexts(const ColumnFamilyOptions& options) {
  std::string text;
  GetStringFromColumnFamilyOptions(ConfigOptions(), options, &text).PermitUncheckedError();
  Sorted texts = ToTexts(text);
  texts.erase("table_factory");  // compared by itself
  return texts;
}

Sorted ToTexts(const TableFactory* factory) {
  std::string text;
  if (factory != nullptr) factory->GetOptionString(ConfigOptions(), &text).PermitUncheckedError();
  Sorted texts = ToTexts(text);
  texts["table_factory"] = factory == nullptr ? "" : factory->Name();
  return texts;
}

// Makes the options of one kind of section, and writes them unless `written` is null.
using Maker =
    std::function<rocksdb::Status(const ConfigOptions&, const OptionMap&, Sorted* written)>;

rocksdb::Status MakeDb(const ConfigOptions& config, const OptionMap& options, Sorted* written) {
  DBOptions made;
  rocksdb::Status status = GetDBOptionsFromMap(config, {}, options, &made);
  if (written != nullptr) *written = ToTexts(made);
  return status;
}

rocksdb::Status MakeFamily(const ConfigOptions& config, const OptionMap& options, Sorted* written) {
  ColumnFamilyOptions made;
  rocksdb::Status status = GetColumnFamilyOptionsFromMap(config, {}, options, &made);
  if (written != nullptr) *written = ToTexts(made);
  return status;
}

rocksdb::Status MakeTable(const std::string& name, ConfigOptions config, const OptionMap& options,
                          Sorted* written) {
  std::shared_ptr<TableFactory> made;
  rocksdb::Status status;
  if (!name.empty()) status = TableFactory::CreateFromString(Config(false), name, &made);
  if (status.ok() && made != nullptr) status = made->ConfigureFromMap(config, options);
  if (written != nullptr) *written = ToTexts(made.get());
  if (config.ignore_unsupported_options || made == nullptr) return status;
  // RocksDB reports objects that it does not make of table options only if values have no escapes.
  for (const auto& [option, value] : options) {
    if (!status.ok()) break;
    const std::string plain = OptionsText::Unescape(value);
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    config.input_strings_escaped = option == kPolicy;
    status = option == kPolicy ? rocksdb::FilterPolicy::CreateFromString(config, plain, &policy)
                               : made->ConfigureFromMap(config, {{option, plain}});
  }
  return status;
}

std::string QuoteValue(const Sorted& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? "nothing" : "'" + found->second + "'";
}

std::string NameOption(const std::string& option, const std::string& family) {
  return option + (family.empty() ? "" : " of column family '" + family + "'");
}

// Corruption if two sets of options differ, which names the first that does.
rocksdb::Status Compare(const OptionsText& text, const std::string& family, const std::string& is_a,
                        const Sorted& a, const std::string& is_b, const Sorted& b) {
  Sorted names = a;
  names.insert(b.begin(), b.end());
  for (const auto& [name, value] : names) {
    if (QuoteValue(a, name) == QuoteValue(b, name)) continue;
    return rocksdb::Status::Corruption(text.name(), NameOption(name, family) + ": " + is_a + " " +
                                                        QuoteValue(a, name) + ", " + is_b + " " +
                                                        QuoteValue(b, name));
  }
  return rocksdb::Status::OK();
}

// Adds the objects that RocksDB leaves out of a section.
void ListLeftOut(const std::string& family, const OptionMap& statements, const Maker& make,
                 std::vector<NamedObject>* objects) {
  Sorted written;
  const bool is_all_made = make(Config(false), statements, nullptr).ok();
  for (const auto& [option, value] : Sorted(statements.begin(), statements.end())) {
    // RocksDB parses listeners leniently whatever it is asked, and before 11.9 takes "{A:B}" for
    // one name.
    const bool is_list = option == kListeners || option == kCollectors;
    if (!is_list && (is_all_made || make(Config(false), {{option, value}}, nullptr).ok())) continue;
    // RocksDB's parser judged values that it refuses in any case.
    if (!make(Config(true), {{option, value}}, &written).ok()) continue;
    std::vector<std::string> made = SplitList(written[option]);
    std::ranges::transform(made, made.begin(), ParseId);
    for (const std::string& element : is_list ? SplitList(value) : std::vector{value}) {
      if (is_list && std::ranges::find(made, ParseId(element)) != made.end()) continue;
      rocksdb::Status status = make(Config(false), {{option, element}}, &written);
      if (status.ok()) {
        status = rocksdb::Status::NotSupported(
            SplitList(written[option]).empty() ? "left out without a message" : kLeftOutWithOthers);
      }
      objects->push_back({family, option, element, ToMessage(status)});
    }
  }
}

// Compares a section of the text with what RocksDB loaded, and lists what it left out.
rocksdb::Status ReadSection(const OptionsText& text, const std::string& family,
                            const OptionMap& statements, const Maker& make, const Sorted& loaded,
                            LoadedOptions* result) {
  Sorted read;
  const rocksdb::Status made = make(Config(true, result->is_newer), statements, &read);
  if (!made.ok()) read = {{"of the section", made.ToString()}};
  rocksdb::Status status = Compare(text, family, kText, read, kLoaded, loaded);
  if (status.ok()) ListLeftOut(family, statements, make, &result->objects);
  return status;
}

// The options of a section, without the inline ones of a family's table.
OptionMap WithoutTable(const OptionsText& text, const OptionsSection& section) {
  OptionMap statements = text.Options(section);
  std::erase_if(statements,
                [](const auto& each) { return OptionsText::IsInlineTable(each.first); });
  return statements;
}

rocksdb::Status ReadFamily(const OptionsText& text, rocksdb::ColumnFamilyDescriptor* family,
                           LoadedOptions* loaded) {
  const std::string& name = family->name;
  ColumnFamilyOptions& options = family->options;
  BLOCKSIEVE_RETURN_IF_ERROR(ReadSection(text, name,
                                         WithoutTable(text, OptionsSection::Family(name)),
                                         MakeFamily, ToTexts(options), loaded));
  const std::string factory = text.TableFactory(name);
  const Maker make = std::bind_front(MakeTable, factory);
  rocksdb::Status status = make(Config(true), {}, nullptr);
  if (status.ok()) {
    return ReadSection(text, name, text.Options(OptionsSection::Table(name)), make,
                       ToTexts(options.table_factory.get()), loaded);
  }
  // RocksDB's parser makes none of such a section, and the default one of such a name.
  const Sorted made = ToTexts(options.table_factory.get());
  if (made != ToTexts(nullptr) && made != ToTexts(ColumnFamilyOptions().table_factory.get())) {
    return Compare(text, name, kText, {{"table_factory", factory}}, kLoaded, made);
  }
  loaded->objects.push_back({name, "table_factory", factory, ToMessage(status)});
  options.table_factory = nullptr;
  return rocksdb::Status::OK();
}

rocksdb::Status Parse(const OptionsText& text, LoadedOptions* loaded) {
  const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  ConfigOptions config = Config(true, loaded->is_newer);
  config.env = memory.get();
  const std::string path = "/OPTIONS";
  BLOCKSIEVE_RETURN_IF_ERROR(rocksdb::WriteStringToFile(memory.get(), text.text(), path));
  rocksdb::Status status =
      rocksdb::LoadOptionsFromFile(config, path, &loaded->db, &loaded->families);
  // RocksDB does this for sections of table factories, and not for inline ones.
  for (const rocksdb::ColumnFamilyDescriptor& family : loaded->families) {
    if (!status.ok()) return status;
    const auto& factory = family.options.table_factory;
    if (factory != nullptr) status = factory->PrepareOptions(config);
  }
  return status;
}

bool IsNewer(const std::string& version) {
  char* end = nullptr;
  const auto major = std::strtol(version.c_str(), &end, 10);
  const auto minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  return major > ROCKSDB_MAJOR || (major == ROCKSDB_MAJOR && minor > ROCKSDB_MINOR);
}

// The name of an option in a whole text. Families and tables may have options of one name.
std::string NameOption(const OptionsSection& section, const std::string& option) {
  const bool is_of_table = section.kind == OptionsSection::Kind::kTable;
  return NameOption((is_of_table ? "table option " : "") + option, section.family);
}

// All options of a text, without escapes, wherever those of a table are.
Sorted UnescapeAll(const OptionsText& text) {
  Sorted values;
  const auto add = [&](const OptionsSection& section) {
    for (const auto& [option, value] : WithoutTable(text, section)) {
      values[NameOption(section, option)] = OptionsText::Unescape(value);
    }
  };
  add(OptionsSection::Version());
  add(OptionsSection::Db());
  for (const std::string& family : text.Families()) {
    add(OptionsSection::Family(family));
    add(OptionsSection::Table(family));
    values[NameOption("table_factory", family)] = text.TableFactory(family);
  }
  return values;
}

}  // namespace

bool NamedObject::is_needed() const {
  constexpr std::string_view kUnneeded =
      // Nothing but its own program needs it. Stock prefix filters need their prefix extractor.
      " compaction_filter compaction_filter_factory sst_partitioner_factory memtable "
      "memtable_factory prefix_extractor memtable_insert_with_hint_prefix_extractor "
      "flush_block_policy_factory block_cache persistent_cache blob_cache statistics listeners "
      // One of the same name stands in, which keeps operands unmerged.
      "merge_operator "
      // Files that are written without it lack filters, properties or checksums.
      "filter_policy table_properties_collectors file_checksum_gen_factory ";
  // Types of later versions, which are not in the list, may be needed.
  return kUnneeded.find(" " + option + " ") == std::string_view::npos;
}

std::string ParseId(const std::string& value) {
  OptionMap fields;
  if (value.find('=') == std::string::npos || !rocksdb::StringToMap(value, &fields).ok()) {
    return value;
  }
  const auto id = fields.find("id");
  return id == fields.end() ? value : id->second;
}

std::vector<std::string> SplitList(const std::string& value) {
  std::vector<std::string> elements;
  std::string list = value;
  std::string element;
  size_t end = 0;
  const auto next = [&](size_t start) {
    return rocksdb::OptionTypeInfo::NextToken(list, ':', start, &end, &element).ok();
  };
  if (value.starts_with('{') && next(0) && end >= value.size()) list = element;
  if (list.starts_with("id=")) return {"{" + list + "}"};  // its braces, not those of the list
  end = 0;
  for (size_t start = 0; start < list.size() && end != std::string::npos && next(start);
       start = end + 1) {
    const bool has_options = element.find('=') != std::string::npos;
    if (!element.empty()) elements.push_back(has_options ? "{" + element + "}" : element);
  }
  return elements;
}

const ColumnFamilyOptions* LoadedOptions::Find(const std::string& family) const {
  const auto found = std::ranges::find(families, family, &rocksdb::ColumnFamilyDescriptor::name);
  return found == families.end() ? nullptr : &found->options;
}

rocksdb::Status Load(const OptionsText& text, LoadedOptions* loaded) {
  *loaded = {};
  loaded->version = text.Find(OptionsSection::Version(), "rocksdb_version").value_or("");
  loaded->is_newer = IsNewer(loaded->version);
  BLOCKSIEVE_RETURN_IF_ERROR(Parse(text, loaded));
  Sorted read, made;
  for (const std::string& family : text.Families()) read[NameOption("options", family)];
  for (const auto& family : loaded->families) made[NameOption("options", family.name)];
  BLOCKSIEVE_RETURN_IF_ERROR(Compare(text, "", kText, read, kLoaded, made));
  const SilentLog silent;  // Our objects have said to RocksDB's parser what they refuse.
  rocksdb::Status status = ReadSection(text, "", text.Options(OptionsSection::Db()), MakeDb,
                                       ToTexts(loaded->db), loaded);
  for (rocksdb::ColumnFamilyDescriptor& family : loaded->families) {
    if (!status.ok()) return status;
    status = ReadFamily(text, &family, loaded);
    for (const NamedObject& object : loaded->objects) {
      if (object.family != family.name) continue;
      if (object.option == "comparator") family.options.comparator = nullptr;
      if (object.option != "merge_operator") continue;
      family.options.merge_operator = std::make_shared<KeepOperands>(ParseId(object.value));
    }
  }
  return status;
}

PolicyVerdict Judge(const std::string& filter_policy) {
  const SilentLog silent;
  const auto make = [](const std::string& value, PolicyVerdict* verdict) {
    return rocksdb::FilterPolicy::CreateFromString(Config(false), value, &verdict->policy);
  };
  PolicyVerdict verdict;
  const rocksdb::Status status = make(filter_policy, &verdict);
  if (status.ok() && verdict.policy == nullptr) return verdict;
  if (status.ok()) {
    const rocksdb::BlockBasedTableOptions table;
    rocksdb::FilterBuildingContext context(table);
    context.reason = rocksdb::TableFileCreationReason::kCompaction;
    context.level_at_creation = 1;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        verdict.policy->GetBuilderWithContext(context));
    verdict.kind = As<Policy>(verdict.policy.get()) != nullptr ? PolicyEffect::kOurs
                   : builder != nullptr                        ? PolicyEffect::kBuilds
                                                               : PolicyEffect::kOnlyReads;
    return verdict;
  }
  verdict = {.kind = PolicyEffect::kForeign, .reason = ToMessage(status), .policy = nullptr};
  PolicyVerdict bare;
  PolicyVerdict with_bits;
  const std::string id = ParseId(filter_policy);
  if (make(id, &bare).ok() || !status.IsNotSupported()) {
    verdict.kind = PolicyEffect::kRefused;  // its options, or part of its name
  } else if (make(id + ":10", &with_bits).ok()) {
    verdict.kind = PolicyEffect::kStockWithoutBits;
  }
  return verdict;
}

rocksdb::Status SameBut(const OptionsText& before, const OptionsText& after,
                        const std::vector<OptionChange>& edits) {
  // RocksDB loads what the text says, or this fails.
  LoadedOptions loaded;
  BLOCKSIEVE_RETURN_IF_ERROR(Load(after, &loaded));
  Sorted wished = UnescapeAll(before);
  for (const OptionChange& edit : edits) {
    const bool is_new = edit.option.empty();
    wished[is_new ? NameOption("table_factory", edit.section.family)
                  : NameOption(edit.section, edit.option)] =
        is_new ? after.TableFactory(edit.section.family) : edit.after;
  }
  return Compare(after, "", "wished", wished, "written", UnescapeAll(after));
}

}  // namespace blocksieve::rocksdb_plugin
