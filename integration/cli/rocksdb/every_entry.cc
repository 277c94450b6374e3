#include "integration/cli/rocksdb/every_entry.h"

#include <rocksdb/iterator.h>
#include <rocksdb/merge_operator.h>

#include <memory>

#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

class MergeToNothing final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "blocksieve.merge_to_nothing"; }
  bool FullMergeV2(const MergeOperationInput&, MergeOperationOutput* merged) const override {
    merged->new_value.clear();
    return true;
  }
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> AnyMergeOperator() {
  return std::make_shared<MergeToNothing>();
}

std::string LastTime(const rocksdb::Comparator& comparator) {
  return std::string(comparator.timestamp_size(), '\xff');
}

std::string ForEveryEntry(rocksdb::SstFileReader* reader,
                          const rocksdb::TableProperties& properties,
                          const rocksdb::Comparator& comparator,
                          const std::function<void(const rocksdb::Slice& key)>& visit) {
  constexpr size_t kSequenceAndTypeBytes = 8;
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  // Iterators of all versions since a time, which RocksDB has for user-defined timestamps, show
  // deletes too; since the empty time of keys without timestamps, that is every entry. Merge
  // operands they do not show as they are. The number of entries tells whether it worked.
  const bool sees_all = properties.num_merge_operands == 0;
  const std::string first_time(comparator.timestamp_size(), '\0');
  const std::string last_time = LastTime(comparator);
  const rocksdb::Slice since = first_time;
  const rocksdb::Slice until = last_time;
  size_t behind_key = 0;
  if (!last_time.empty()) options.timestamp = &until;
  if (sees_all) {
    options.iter_start_ts = &since;
    behind_key = kSequenceAndTypeBytes + comparator.timestamp_size();
  }
  const std::unique_ptr<rocksdb::Iterator> entry(reader->NewIterator(options));
  uint64_t num_seen = 0;
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    rocksdb::Slice key = entry->key();
    if (key.size() < behind_key) term::Fail("a key of {} bytes, too few", key.size());
    key.remove_suffix(behind_key);
    visit(key);
    ++num_seen;
  }
  if (!entry->status().ok()) {
    term::Fail("cannot be read on after {}: {}", term::CountOf(num_seen, "key"),
               entry->status().ToString());
  }
  const uint64_t num_entries = properties.num_entries - properties.num_range_deletions;
  if (num_seen == num_entries) return "";
  return fmt::format(
      "{} of its {} entries were asked: of files with merges RocksDB shows neither "
      "deletes nor older versions",
      term::WithCommas(num_seen), term::WithCommas(num_entries));
}

}  // namespace blocksieve::cli
