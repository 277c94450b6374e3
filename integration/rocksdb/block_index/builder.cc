// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "integration/rocksdb/block_index/block_index.h"
#include "integration/rocksdb/compat/option_type.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {

namespace {

double RangeFpr(const EnableOptions& options) {
  return options.range_fpr.value_or(FilterOptions().range_fpr);
}

double PrefixFpr(const EnableOptions& options) {
  return options.prefix_fpr.value_or(FilterOptions().prefix_fpr);
}

}  // namespace

uint32_t OptionsId(const EnableOptions& options) {
  std::string text = options.prefixes + (options.ranges ? " ranges" : "");
  for (const double fpr : {RangeFpr(options), PrefixFpr(options), options.value_fpr})
    text += ' ' + ToText(fpr);
  for (const uint64_t bytes : {uint64_t{options.value_suffix_bytes}, options.max_index_bytes})
    text += ' ' + ToText(bytes);
  for (const Column& column : options.columns) text += '\n' + column.ToText();
  return Checksum(AsBytes(text));
}

Result<BlockIndexBuilder> BlockIndexBuilder::Create(const EnableOptions& options,
                                                    const rocksdb::Comparator* comparator,
                                                    const SidecarId& id) try {
  if (comparator->timestamp_size() != 0) {
    return Status::InvalidArgument("comparator is " + std::string(comparator->Name()) +
                                   "; allowed: one without timestamps, with a block index");
  }
  if (comparator != rocksdb::BytewiseComparator() &&
      (options.ranges || !options.prefixes.empty())) {
    return Status::InvalidArgument(
        "comparator is " + std::string(comparator->Name()) +
        "; allowed: leveldb.BytewiseComparator, with ranges or prefixes");
  }
  BlockIndexBuilder builder(options, comparator, id);
  if (options.ranges) {
    Result<FilterBuilder> ranges = FilterBuilder::Create(
        {.kind = FilterKind::kNone, .ranges = true, .range_fpr = RangeFpr(options)});
    if (!ranges.ok()) return ranges.status();
    builder.ranges_ = *std::move(ranges);
  }
  if (!options.prefixes.empty()) {
    Result<FilterBuilder> prefixes = FilterBuilder::Create(
        {.prefixes = options.prefixes, .prefix_fpr = PrefixFpr(options), .holds_keys = false});
    if (!prefixes.ok()) return prefixes.status();
    builder.prefixes_ = *std::move(prefixes);
  }
  if (!options.columns.empty()) {
    Result<EntryIndexer> values =
        EntryIndexer::Create({.index = {.columns = options.columns,
                                        .target_fpr = options.value_fpr,
                                        .max_index_bytes = options.max_index_bytes},
                              .value_suffix_bytes = options.value_suffix_bytes},
                             /*numbers_blocks=*/true);
    if (!values.ok()) return values.status();
    builder.values_ = *std::move(values);
  }
  return builder;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

void BlockIndexBuilder::Add(const TableEntry& entry) noexcept {
  if (ranges_) ranges_->AddKey(entry.key);
  if (prefixes_) prefixes_->AddKey(entry.key);
  if (values_) values_->Add(entry);
}

std::string_view BlockIndexBuilder::EndBlock(std::string_view last_key,
                                             const std::string_view* next_key, BlockHandle block,
                                             uint64_t last_tag) noexcept try {
  if (values_) values_->EndBlock();
  separator_.assign(last_key);
  const bool continues = next_key != nullptr && comparator_->Compare(last_key, *next_key) == 0;
  if (next_key != nullptr && !continues) {
    comparator_->FindShortestSeparator(&separator_, rocksdb::Slice(*next_key));
    // RocksDB does not rely on separators of programs' comparators either.
    if (comparator_->Compare(separator_, last_key) < 0 ||
        comparator_->Compare(separator_, *next_key) >= 0) {
      separator_.assign(last_key);
    }
  }
  entries_.Add(separator_, block, continues, last_tag);
  return separator_;
} catch (const std::bad_alloc&) {
  is_sound_ = false;
  return last_key;
}

std::string BlockIndexBuilder::Build() {
  std::string ranges;
  std::string prefixes;
  std::string values;
  const auto finish = [](std::optional<FilterBuilder>* builder, std::string* out) {
    if (!*builder) return;
    Result<FinishedFilter> filter = (*builder)->Finish();
    if (filter.ok() && (filter->has_ranges || filter->has_prefixes)) {
      *out = AsText(filter->block.view());
    }
  };
  finish(&ranges_, &ranges);
  finish(&prefixes_, &prefixes);
  if (values_) {
    Result<FinishedSkipIndex> index = values_->Finish();
    if (index.ok()) values = std::move(index->bytes);
  }
  std::string bytes(kBlockIndexMagic, sizeof(kBlockIndexMagic));
  bytes.push_back(kBlockIndexVersion);
  AppendLittleEndian(&bytes, OptionsId(options_));
  for (const uint64_t half : id_) AppendLittleEndian(&bytes, half);
  for (const uint64_t field :
       {uint64_t{entries_.num_entries()}, uint64_t{entries_.num_entry_bytes()},
        uint64_t{options_.value_suffix_bytes}, uint64_t{ranges.size()}, uint64_t{prefixes.size()},
        uint64_t{values.size()}}) {
    AppendVarint(&bytes, field);
  }
  entries_.AppendTo(&bytes);
  AppendLittleEndian(&bytes, Checksum(AsBytes(bytes)));
  bytes += ranges;
  bytes += prefixes;
  bytes += values;
  return bytes;
}

std::string_view BlockIndexBuilder::Finish() noexcept try {
  if (bytes_.empty() && is_sound_) bytes_ = Build();
  if (bytes_.size() > kMaxBlockIndexBytes) bytes_.clear();
  return bytes_;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace blocksieve::rocksdb_plugin
