// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/enable.h"

#include <rocksdb/convenience.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/block_index/file_id.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/options/options_text.h"
#include "integration/rocksdb/plugin/registry.h"
#include "integration/rocksdb/policy/enable_options.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

namespace blocksieve {
namespace {

using namespace rocksdb_plugin;  // NOLINT: the same component

using rocksdb::BlockBasedTableOptions;
using rocksdb::ColumnFamilyOptions;

// By name, so that objects of another version of blocksieve, or of its C interface, are ours, too.
template <class Object>
bool HasName(const std::shared_ptr<Object>& object, std::string_view name) {
  return object != nullptr && object->Name() == name;
}

template <class Objects>
bool EraseByName(Objects* objects, std::string_view name) {
  return std::erase_if(*objects, [&](const auto& one) { return HasName(one, name); }) != 0;
}

bool NeedsSidecars(const EnableOptions& features) {
  return !features.columns.empty() &&
         features.max_property_bytes != std::numeric_limits<uint64_t>::max();
}

// Errors: InvalidArgument for what needs the listener, whose options are not given.
rocksdb::Status CheckListener(const EnableOptions& features, bool by_block) {
  const char* name = nullptr;
  std::string allowed = "none";
  if (features.wasted_reads) name = "wasted_reads";
  if (features.bits_per_key) name = "bits_per_key";
  if (features.filter_memory) name = "filter_memory";
  if (name == nullptr && !by_block && NeedsSidecars(features)) {
    name = "max_property_bytes";
    allowed = ToText(std::numeric_limits<uint64_t>::max());
  }
  if (name == nullptr) return rocksdb::Status::OK();
  return OptionOutOfRange(name, EnableOptionTable()[name].write(&features),
                          allowed +
                              " without DBOptions, which hold its listener; pass {&db_options, "
                              "&column_family_options}");
}

// What makes Carrier::kAuto take filters and sidecars, although RocksDB could write a block index;
// empty if nothing does.
std::string FindObjection(const EnableOptions& features, const BlockBasedTableOptions& table) {
  if (table.index_type == BlockBasedTableOptions::kTwoLevelIndexSearch)
    return "index_type is kTwoLevelIndexSearch";
  if (table.partition_filters) return "partition_filters is true";
  if (features.plain_range_reads) return "plain_range_reads is true, which filters alone have";
  for (const Column& column : features.columns) {
    if (column.has_tokens()) return "column " + column.name() + " has a large index";
  }
  return "";
}

// Why the block index is not the choice; empty if it is. Errors: as CheckBlockIndex, if it was
// asked for.
rocksdb::Status ChooseCarrier(const EnableOptions& features, const ColumnFamilyOptions& family,
                              std::string* why_not) {
  if (features.carrier == Carrier::kFilterAndSidecar) {
    *why_not = "carrier=filter_and_sidecar";
    return rocksdb::Status::OK();
  }
  const rocksdb::Status possible = CheckBlockIndex(features, family);
  if (features.carrier == Carrier::kBlockIndex) {
    if (possible.IsNotSupported())
      return rocksdb::Status::NotSupported(possible.getState(),
                                           "carrier=auto works with every version");
    if (!features.plain_range_reads) return possible;
    return OptionOutOfRange("plain_range_reads", "true", "false with carrier=block_index");
  }
  *why_not =
      possible.ok()
          ? FindObjection(features, *family.table_factory->GetOptions<BlockBasedTableOptions>())
          : ToMessage(possible);
  return rocksdb::Status::OK();
}

/// Changes a copy of a column family's options, which the caller moves back if all succeeded.
class FamilySetter {
 public:
  /// `db`: null if not given.
  FamilySetter(const EnableOptions& features, const rocksdb::DBOptions* db,
               const ColumnFamilyOptions& options)
      : features_(features), db_(db), family_(options) {}

  rocksdb::Status Set() {
    const auto* const table = family_.table_factory == nullptr
                                  ? nullptr
                                  : family_.table_factory->GetOptions<BlockBasedTableOptions>();
    if (table == nullptr) {
      return OptionOutOfRange(
          "table_factory",
          family_.table_factory == nullptr ? "null" : family_.table_factory->Name(),
          "BlockBasedTable (NewBlockBasedTableFactory)");
    }
    table_ = *table;
    if (AnswersRanges(features_) || !features_.columns.empty()) {
      std::string why_not;
      BLOCKSIEVE_RETURN_IF_ERROR(ChooseCarrier(features_, family_, &why_not));
      by_block_ = why_not.empty();
    }
    if (db_ == nullptr) BLOCKSIEVE_RETURN_IF_ERROR(CheckListener(features_, by_block_));
    BLOCKSIEVE_RETURN_IF_ERROR(SetFilters());
    SetCollectors();
    took_out_ |= SetBlockIndex(by_block_ ? &features_ : nullptr, &table_, &family_);
    family_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_));
    return rocksdb::Status::OK();
  }

  /// Moves the options into the program's. Says if no filter is left where there was one.
  void MoveTo(rocksdb::Logger* info_log, ColumnFamilyOptions* options) {
    *options = std::move(family_);
    constexpr std::string_view kUntilRewritten =
        "files keep what blocksieve gave them until compactions or blocksieve revert rewrite them";
    if (lost_filter_) {
      LogLoudly(info_log,
                "no filter policy is left in the options, so new files get no filters; set one, "
                "such as rocksdb::NewBloomFilterPolicy(10); ",
                kUntilRewritten);
    } else if (took_out_) {
      LogQuietly(info_log, kUntilRewritten);
    }
  }

 private:
  rocksdb::Status SetFilters() {
    EnableOptions filter;
    PolicyOptionTable().Copy(&features_, &filter);
    if (by_block_) {
      filter.ranges = false;
      filter.prefixes.clear();
      filter.range_fpr = filter.prefix_fpr = filter.seek_fraction = std::nullopt;
    }
    const bool was_ours = HasName(table_.filter_policy, Policy::kName);
    const bool has_sections = AnswersRanges(filter);
    if (HasKeyFilters(filter) || has_sections) {
      BLOCKSIEVE_RETURN_IF_ERROR(ValidatePolicyOptions(filter));
      BLOCKSIEVE_RETURN_IF_ERROR(CheckRocksDb(filter));
      BLOCKSIEVE_RETURN_IF_ERROR(CheckRangeOptions(filter, family_, /*check_extractor=*/false));
      table_.filter_policy = MakePolicy(filter);
    } else if (was_ours) {
      table_.filter_policy = nullptr;
      took_out_ = lost_filter_ = true;
    }
    auto& extractor = family_.prefix_extractor;
    const bool has_extractor = IsRangeExtractor(extractor.get());
    if (has_sections) {
      if (extractor != nullptr && !features_.replace_prefix_extractor && !has_extractor) {
        return OptionOutOfRange("prefix_extractor", extractor->Name(),
                                std::string("none or ") + RangeExtractor::kName +
                                    ForRanges(filter) +
                                    "; set replace_prefix_extractor if no seek relies on the "
                                    "present one");
      }
      extractor = RangeExtractor::Get();
    } else if (has_extractor && !(by_block_ && AnswersRanges(features_))) {
      extractor = nullptr;
      took_out_ = true;
    }
    return rocksdb::Status::OK();
  }

  void SetCollectors() {
    auto& collectors = family_.table_properties_collector_factories;
    took_out_ |= EraseByName(&collectors, SkipIndexCollectorFactory::kName);
    if (by_block_ || features_.columns.empty()) return;
    SkipIndexSettings settings{.index = {.columns = features_.columns,
                                         .target_fpr = features_.value_fpr,
                                         .max_index_bytes = features_.max_index_bytes},
                               .max_property_bytes = features_.max_property_bytes,
                               .value_suffix_bytes = features_.value_suffix_bytes,
                               .info_log = db_ == nullptr ? nullptr : db_->info_log};
    collectors.push_back(std::make_shared<SkipIndexCollectorFactory>(std::move(settings)));
  }

  const EnableOptions& features_;
  const rocksdb::DBOptions* const db_;
  ColumnFamilyOptions family_;
  BlockBasedTableOptions table_;
  bool by_block_ = false;
  bool took_out_ = false;     // something of blocksieve's
  bool lost_filter_ = false;  // and there is no filter policy any more
};

// The options of a column family of an open database; nothing if they cannot be read. RocksDB gives
// listeners no handles of column families, and so the options of the default one alone; the OPTIONS
// file has those of others before they flush.
std::optional<ColumnFamilyOptions> ReadFamilyOptions(rocksdb::DB* db, const std::string& family) {
  if (family == rocksdb::kDefaultColumnFamilyName) return db->GetOptions();
  std::string name, text;
  if (!rocksdb::GetLatestOptionsFileName(db->GetName(), db->GetEnv(), &name).ok() ||
      !rocksdb::ReadFileToString(db->GetEnv(), db->GetName() + "/" + name, &text).ok()) {
    return std::nullopt;
  }
  const SilentLog silent;  // what is wrong with the options was said when they were set
  const OptionsText file(text);
  rocksdb::ConfigOptions lenient;
  lenient.ignore_unknown_options = lenient.ignore_unsupported_options = true;
  ColumnFamilyOptions options;
  BlockBasedTableOptions table;
  if (file.TableFactory(family) != options.table_factory->Name() ||
      !rocksdb::GetColumnFamilyOptionsFromMap(
           lenient, {}, file.Options(OptionsSection::Family(family)), &options)
           .ok() ||
      !rocksdb::GetBlockBasedTableOptionsFromMap(
           lenient, {}, file.Options(OptionsSection::Table(family)), &table)
           .ok()) {
    return std::nullopt;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

FamilyFacts DescribeFamily(rocksdb::DB* db, const std::string& family) {
  const std::optional<ColumnFamilyOptions> options = ReadFamilyOptions(db, family);
  if (!options) return {};
  FamilyFacts facts{ExplainCarrier(*options), {}};
  if (const Policy* const policy = FindPolicy(*options)) facts.ceiling = policy->Ceiling();
  facts.ceiling.level0_is_short_lived = options->compaction_style != rocksdb::kCompactionStyleFIFO;
  return facts;
}

}  // namespace

std::unique_ptr<rocksdb::EventListener> rocksdb_plugin::MakeListener() {
  return std::make_unique<Listener>(&DescribeFamily);
}

std::shared_ptr<rocksdb::EventListener> NewListener() { return MakeListener(); }

rocksdb::Status Enable(OptionsToSet options, const EnableOptions& features) {
  return PublicCall({}, [&]() -> rocksdb::Status {
    for (size_t i = 0; i < options.num_families(); ++i)
      BLOCKSIEVE_RETURN_IF_ERROR(CheckGiven({{"options", options.family(i)}}));
    if (!features.columns.empty()) {  // before their text is copied, which has valid ones only
      BLOCKSIEVE_RETURN_IF_ERROR(
          ToRocksStatus(SkipIndexBuilder::Create({.columns = features.columns}).status()));
    }
    EnableOptions checked = features;
    BLOCKSIEVE_RETURN_IF_ERROR(EnableOptionTable().Copy(&features, &checked));
    BLOCKSIEVE_RETURN_IF_ERROR(CheckDependentOptions(checked));
    RegisterUnlessRegistered();
    std::vector<FamilySetter> setters;
    setters.reserve(options.num_families());
    for (size_t i = 0; i < options.num_families(); ++i) {
      setters.emplace_back(checked, options.db(), *options.family(i));
      BLOCKSIEVE_RETURN_IF_ERROR(setters.back().Set());
    }
    rocksdb::Logger* info_log = nullptr;
    if (rocksdb::DBOptions* const db = options.db()) {
      info_log = db->info_log.get();
      const bool is_wanted =
          HasKeyFilters(checked) || AnswersRanges(checked) || !checked.columns.empty();
      auto listeners = db->listeners;
      if (!is_wanted) EraseByName(&listeners, Listener::kName);
      if (is_wanted && !HasListener(*db)) listeners.push_back(NewListener());
      db->listeners = std::move(listeners);
    }
    for (size_t i = 0; i < setters.size(); ++i) setters[i].MoveTo(info_log, options.family(i));
    return rocksdb::Status::OK();
  });
}

std::string ExplainCarrier(const ColumnFamilyOptions& family) {
  EnableOptions in_filters;
  if (const Policy* const policy = FindPolicy(family)) in_filters = policy->options();
  SkipIndexSettings skip_index;
  if (FindIndexOptions(family, &skip_index).ok()) in_filters.columns = skip_index.index.columns;
  const std::optional<EnableOptions> in_index = FindBlockIndexOptions(family);
  const auto list = [](const EnableOptions& held) {
    std::string names;
    for (const auto& [name, is_held] :
         {std::pair("ranges", held.ranges), std::pair("prefixes", !held.prefixes.empty()),
          std::pair("columns", !held.columns.empty())}) {
      if (is_held) names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return names;
  };
  const std::string by_block = in_index ? list(*in_index) : "";
  const std::string by_filter = list(in_filters);
  std::string text;
  if (!by_block.empty()) {
    text = by_block + " in the block index, as no option is in its way";
    if (IsRangeExtractor(family.prefix_extractor.get()) && by_filter.empty())
      text += "; prefix_extractor stays for files whose filters answer for ranges";
  }
  if (!by_filter.empty()) {
    std::string why_not;
    ChooseCarrier(in_filters, family, &why_not).PermitUncheckedError();
    text += (text.empty() ? "" : "; ") + by_filter + " in filters and sidecars, as " +
            (why_not.empty() ? "the options ask for it" : why_not);
    if (AnswersRanges(in_filters) && !HasKeyFilters(in_filters))
      text += "; filters need a goal for that: target_fpr=0.01 is taken";
  }
  return text;
}

}  // namespace blocksieve
