// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/policy/enable_options.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "blocksieve/sizing.h"
#include "blocksieve/tree.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kAuto, FilterKind::kBlockedBloom, FilterKind::kRibbon,
                                 FilterKind::kStock};
constexpr Carrier kCarriers[] = {Carrier::kAuto, Carrier::kBlockIndex, Carrier::kFilterAndSidecar};

std::string_view CarrierName(Carrier carrier) {
  constexpr std::array<std::string_view, std::size(kCarriers)> kNames = {"auto", "block_index",
                                                                         "filter_and_sidecar"};
  return kNames[static_cast<size_t>(carrier)];
}

template <class Values, class Name>
std::string ListNames(const Values& values, const Name& name_of) {
  std::string names;
  for (const auto value : values)
    names += (names.empty() ? "" : ", ") + std::string(name_of(value));
  return names;
}

template <class Values, class Name, class Value>
rocksdb::Status ParseName(const OptionFacts& option, const std::string& text, const Values& values,
                          const Name& name_of, Value* value) {
  const auto* const known = std::ranges::find(values, text, name_of);
  if (known == std::end(values))
    return OptionOutOfRange(option.name, text, ListNames(values, name_of));
  *value = *known;
  return rocksdb::Status::OK();
}

}  // namespace

// How OptionTable reads and writes kinds and carriers.

static std::string AllowedValues(const OptionFacts&, const std::optional<FilterKind>*) {
  return ListNames(kKinds, FilterKindName);
}
static std::string AllowedValues(const OptionFacts&, const Carrier*) {
  return ListNames(kCarriers, CarrierName);
}
static std::string WriteValue(const OptionFacts&, const std::optional<FilterKind>& kind) {
  return kind ? std::string(FilterKindName(*kind)) : "";
}
static std::string WriteValue(const OptionFacts&, const Carrier& carrier) {
  return std::string(CarrierName(carrier));
}
static rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text,
                                  std::optional<FilterKind>* kind) {
  return ParseName(option, text, kKinds, FilterKindName, kind);
}
static rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text,
                                  Carrier* carrier) {
  return ParseName(option, text, kCarriers, CarrierName, carrier);
}

// A name, where texts of other options are rules of prefixes.
static OptionTable::Entry BudgetOption() {
  auto entry = OptionTable::Describe<EnableOptions>(
      {"budget", "column families with this name share the smallest `filter_memory` of theirs"},
      &EnableOptions::budget);
  entry.allowed = "1 to 64 of the characters A-Z a-z 0-9 - _ .";
  entry.parse = [allowed = entry.allowed](const std::string& text, void* options) {
    const bool is_name =
        !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
          const char letter = static_cast<char>(c | 0x20);
          return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                 c == '_' || c == '.';
        });
    if (!is_name) return OptionOutOfRange("budget", text, allowed);
    static_cast<EnableOptions*>(options)->budget = text == "none" ? "" : text;
    return rocksdb::Status::OK();
  };
  return entry;
}

const OptionTable& EnableOptionTable() {
  using Options = EnableOptions;
  const auto option = [](const OptionFacts& facts, auto get) {
    return OptionTable::Describe<Options>(facts, get);
  };
  static const auto& table = *new OptionTable({
      option({"target_fpr",
              "goal: share of absent keys that the filter of a file lets through; 0.01 if filters "
              "have no goal",
              kMinTargetFpr, kMaxTargetFpr},
             &Options::target_fpr),
      option({"wasted_reads", "goal: wasted reads of data blocks per lookup of an absent key",
              kMinWastedReads, kMaxWastedReads},
             &Options::wasted_reads),
      option({"bits_per_key", "goal: filter bits per key, for the whole tree",
              kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey},
             &Options::bits_per_key),
      option(
          {"filter_memory", "goal: a ceiling in bytes for all filters and block indexes together"},
          &Options::filter_memory),
      BudgetOption(),
      option({"kind",
              "auto, if not set: Bloom for short-lived files (flushes), else ribbon; stock: "
              "[RocksDB's own](LOOKUPS.md#rocksdbs-own-filters-kindstock), without "
              "`max_build_bytes`, and `ranges` and `prefixes` of filters"},
             &Options::kind),
      option({"ranges", "bounded iterators read nothing in ranges without keys"}, &Options::ranges),
      option({"prefixes",
              "where keys have prefixes: `delimiter:/`, `lengths:4,12`, `fields:len8,2`, `auto`; "
              "see [RANGES.md](RANGES.md#prefixes)"},
             &Options::prefixes),
      option({"columns", "the parts of values and keys that are indexed"}, &Options::columns),
      option({"carrier", "what holds ranges, prefixes and columns in files"}, &Options::carrier),
      option({"range_fpr", "share of short empty ranges let through; 0.011 if not set",
              kMinRangeFpr, kMaxRangeFpr},
             &Options::range_fpr),
      option({"seek_fraction",
              "share of seeks among reads that find nothing; 0.5 if not set; for `wasted_reads` "
              "and `bits_per_key` where filters hold ranges",
              kMinSeekFraction, kMaxSeekFraction},
             &Options::seek_fraction),
      option({"prefix_fpr",
              "maximum share of absent prefixes let through; if not set: 0.01, and in filters "
              "without `ranges` 0.0001 where prefixes are few",
              kMinTargetFpr, kMaxTargetFpr},
             &Options::prefix_fpr),
      option({"value_fpr", "share of granules without a value that are read", kMinTargetFpr,
              kMaxTargetFpr},
             &Options::value_fpr),
      option({"max_build_bytes", "memory for building one filter; 0: no limit"},
             &Options::max_build_bytes),
      option({"max_index_bytes",
              "bytes of the columns of a file, and 1/32 of the memory of building them; 0: no "
              "limit"},
             &Options::max_index_bytes),
      option({"max_property_bytes", "a larger skip index is stored in a file beside the SST"},
             &Options::max_property_bytes),
      option({"value_suffix_bytes",
              "bytes at the end of each value that are not indexed: 4 under DBWithTTL"},
             &Options::value_suffix_bytes),
      option({"plain_range_reads", "seeks without auto_prefix_mode check filters, too"},
             &Options::plain_range_reads),
      option({"replace_prefix_extractor",
              "ranges in filters may replace the column family's prefix extractor"},
             &Options::replace_prefix_extractor),
  });
  return table;
}

const OptionTable& PolicyOptionTable() {
  static const auto& table = *new OptionTable(
      EnableOptionTable().Select({"target_fpr", "wasted_reads", "bits_per_key", "filter_memory",
                                  "budget", "kind", "max_build_bytes", "ranges", "range_fpr",
                                  "seek_fraction", "prefixes", "prefix_fpr", "plain_range_reads"}));
  return table;
}

const OptionTable& BlockIndexOptionTable() {
  static const auto& table = *new OptionTable(
      EnableOptionTable().Select({"ranges", "range_fpr", "prefixes", "prefix_fpr", "columns",
                                  "value_fpr", "value_suffix_bytes", "max_index_bytes"}));
  return table;
}

}  // namespace blocksieve::rocksdb_plugin
