#include "integration/cli/database/table/table_filters.h"

#include <rocksdb/iterator.h>
#include <rocksdb/slice_transform.h>

#include "integration/cli/term/failure.h"
#include "integration/rocksdb/policy/filter_bits.h"

namespace blocksieve::cli {
namespace {

void CheckAsked(const rocksdb::Status& status) {
  if (!status.ok()) term::Fail("its filters cannot be asked: {}", status.ToString());
}

}  // namespace

TableFilters::TableFilters(OpenedTable* table) : table_(table) {
  const std::vector<std::string>& filters = table->filters();
  if (filters.size() == 1) only_filter_.reset(rocksdb_plugin::NewBitsReader(filters.front()));
}

TableFilters::~TableFilters() = default;

std::optional<bool> TableFilters::AskKey(const rocksdb::Slice& key) {
  if (table_->filters().empty()) return true;
  if (only_filter_ != nullptr) return only_filter_->MayMatch(key);
  return AnswerOf(Lookup().Get(key));
}

std::optional<bool> TableFilters::AskPrefix(const rocksdb::Slice& key) {
  const rocksdb::SliceTransform* const extractor = table_->extractor();
  if (table_->filters().empty() || extractor == nullptr || !extractor->InDomain(key)) return true;
  if (only_filter_ != nullptr) return only_filter_->MayMatch(extractor->Transform(key));
  return AnswerOf(Lookup().Seek(key));
}

std::optional<bool> TableFilters::AskRange(const rocksdb::Slice& begin, const rocksdb::Slice& end) {
  if (only_filter_ == nullptr) return AnswerOf(Lookup().Seek(begin, end));
  // As RocksDB does.
  const rocksdb::SliceTransform* const extractor = table_->extractor();
  const rocksdb::Slice prefix = extractor->Transform(begin);
  extractor->Transform(end);
  return only_filter_->MayMatch(prefix);
}

bool TableFilters::Pass(const rocksdb::Slice& key) {
  return (!table_->has_whole_keys() || AskKey(key).value_or(true)) &&
         (!table_->has_prefixes() || AskPrefix(key).value_or(true));
}

TableLookup& TableFilters::Lookup() {
  if (lookup_ == nullptr) {
    // RocksDB takes for granted that it can read both ends of a file that it imports.
    rocksdb::Iterator& probe = table_->probe();
    probe.SeekToFirst();
    if (probe.Valid()) probe.SeekToLast();
    if (!probe.Valid()) term::Fail("its filters cannot be asked: {}", probe.status().ToString());
    CheckAsked(TableLookup::Open(table_->path(), table_->OptionsWith(asked_.policy()),
                                 table_->properties(), &lookup_));
  }
  return *lookup_;
}

std::optional<bool> TableFilters::AnswerOf(const rocksdb::Status& lookup) {
  CheckAsked(lookup);
  return asked_.TakeAnswer();
}

}  // namespace blocksieve::cli
