#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "integration/toylsm/base/counters.h"
#include "integration/toylsm/sst/block.h"
#include "integration/toylsm/sst/builder.h"
#include "integration/toylsm/sst/format.h"

namespace blocksieve::toylsm {

/// How a read is to be done.
struct ReadContext {
  Counters* counters;
  BlockCache* cache;  ///< null: neither looked at nor filled
};

/// A version that was found, with the block that holds its bytes.
struct FoundEntry {
  Entry entry;
  std::shared_ptr<const Block> block;
};

/// An open file of sorted entries. Thread-safe.
class SstReader {
 public:
  /// Reads footer and block index.
  /// Errors: Corruption (damaged, another file's contents), NotSupported, ResourceExhausted.
  static Result<std::shared_ptr<SstReader>> Open(Env* env, std::string path, const FileInfo& info,
                                                 const ReadContext& context);

  /// Removes the file if it has become obsolete.
  ~SstReader();

  /// Called when no version of the database from now on has the file; readers of older ones may.
  void MarkObsolete() { is_obsolete_.store(true, std::memory_order_relaxed); }

  const FileInfo& info() const { return info_; }
  const SstIndex& index() const { return index_; }
  const std::string& first_key() const { return index_.first_key; }
  const std::string& last_key() const { return index_.blocks.back().last_key; }
  size_t num_blocks() const { return index_.blocks.size(); }

  /// The one block that can have `key`; num_blocks() if the file ends before.
  size_t FindBlock(std::string_view key) const;

  /// Errors: Corruption, also if it is not what the block index says; ResourceExhausted.
  Result<std::shared_ptr<const Block>> ReadBlock(size_t block, const ReadContext& context) const;

  /// The filter that has the keys of `block`. Null: there is none, or it cannot be read.
  bool HasFilter(size_t block) const {
    return !index_.filters.empty() && FilterOf(block).stored_bytes != 0;
  }
  std::shared_ptr<const Block> ReadFilter(size_t block, const ReadContext& context) const;

  /// Whether it may have a key in the range; asks the filter if the block index does not tell.
  bool MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const;

  /// The newest version of `key` at or before `sequence`; asks the filter first.
  Result<std::optional<FoundEntry>> Find(std::string_view key, Sequence sequence,
                                         const ReadContext& context) const;

  /// Null: there is none, or it cannot be read: any block may hold any value. Read once.
  std::shared_ptr<const FileSkipIndex> skip_index(const ReadContext& context) const;

 private:
  SstReader(Env* env, std::string path, const FileInfo& info, std::unique_ptr<ReadableFile> file)
      : env_(env), path_(std::move(path)), info_(info), file_(std::move(file)) {}

  const BlockHandle& FilterOf(size_t block) const {
    return index_.filters[block / index_.filter_granule_blocks];
  }
  Result<std::shared_ptr<const Block>> ReadCached(const BlockHandle& handle, Block::Kind kind,
                                                  const ReadContext& context) const;
  Result<std::string> ReadRaw(const BlockHandle& handle, const ReadContext& context) const;
  Status Problem(const Status& status, uint64_t offset) const;

  Env* const env_;
  const std::string path_;
  const FileInfo info_;
  const std::unique_ptr<ReadableFile> file_;
  SstIndex index_;
  std::atomic<bool> is_obsolete_ = false;

  mutable std::mutex skip_index_mutex_;
  mutable bool has_tried_skip_index_ = false;                       // guarded by it
  mutable std::shared_ptr<const FileSkipIndex> opened_skip_index_;  // also
};

/// Reads all of a file: order, checksums, and that neither its filters nor its skip index deny
/// what is there. `columns`: of the skip index. Errors: Corruption, with the first thing wrong.
Status VerifyFile(const SstReader& file, const std::vector<Column>& columns,
                  const ReadContext& context);

}  // namespace blocksieve::toylsm
