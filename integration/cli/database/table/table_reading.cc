#include "integration/cli/database/table/table_reading.h"

#include <rocksdb/file_system.h>
#include <rocksdb/iterator.h>
#include <rocksdb/merge_operator.h>

#include <memory>
#include <utility>

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

using Offset = std::shared_ptr<std::atomic<uint64_t>>;

class RecordingFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  RecordingFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, Offset last_offset)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), last_offset_(std::move(last_offset)) {}

  rocksdb::IOStatus Read(uint64_t offset, size_t size, const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* context) const override {
    *last_offset_ = offset;
    return FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result, scratch, context);
  }

 private:
  const Offset last_offset_;
};

class RecordingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit RecordingFileSystem(Offset last_offset)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), last_offset_(std::move(last_offset)) {}

  const char* Name() const override { return "blocksieve.noting_file_system"; }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewRandomAccessFile(path, options, file, context);
    if (status.ok()) *file = std::make_unique<RecordingFile>(std::move(*file), last_offset_);
    return status;
  }

 private:
  const Offset last_offset_;
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
  // RocksDB's iterators for user-defined timestamps return all versions since a time, with deletes.
  // With the empty time of keys without timestamps, that is every entry, except that they do not
  // return raw merge operands. The number of entries shows whether all were visited.
  const bool sees_all = properties.num_merge_operands == 0;
  const std::string first_time(comparator.timestamp_size(), '\0');
  const std::string last_time = LastTime(comparator);
  const rocksdb::Slice since = first_time;
  const rocksdb::Slice until = last_time;
  size_t suffix_bytes = 0;
  if (!last_time.empty()) options.timestamp = &until;
  if (sees_all) {
    options.iter_start_ts = &since;
    suffix_bytes = kSequenceAndTypeBytes + comparator.timestamp_size();
  }
  const std::unique_ptr<rocksdb::Iterator> entry(reader->NewIterator(options));
  uint64_t num_seen = 0;
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    rocksdb::Slice key = entry->key();
    if (key.size() < suffix_bytes)
      term::Fail("a key has {} bytes; allowed: at least {}", key.size(), suffix_bytes);
    key.remove_suffix(suffix_bytes);
    visit(key);
    ++num_seen;
  }
  const uint64_t num_entries = properties.num_entries - properties.num_range_deletions;
  const std::string share = fmt::format(
      "{} of {} entries were checked: ", term::WithCommas(num_seen), term::WithCommas(num_entries));
  if (entry->status().IsNotSupported()) return share + entry->status().ToString();
  if (!entry->status().ok()) {
    term::Fail("cannot read the file after {}: {}", term::CountOf(num_seen, "key"),
               entry->status().ToString());
  }
  if (num_seen == num_entries) return "";
  return share + "RocksDB hides deletes and older versions in files with merge operands";
}

RecordedReads::RecordedReads()
    : last_offset_(std::make_shared<std::atomic<uint64_t>>(0)),
      env_(rocksdb::NewCompositeEnv(std::make_shared<RecordingFileSystem>(last_offset_))) {}

}  // namespace blocksieve::cli
