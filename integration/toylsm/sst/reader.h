#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/skip_index.h"
#include "integration/toylsm/sst/block.h"
#include "integration/toylsm/sst/builder.h"
#include "integration/toylsm/sst/read_context.h"

namespace blocksieve::toylsm {

/// Result of a lookup.
struct Found {
  bool has_key = false;
  std::optional<std::string> value;  ///< nullopt: deleted
};

/// An open SST.
class SstReader {
 public:
  /// Reads the block index, and the skip index if there is one. Errors: Corruption, also if the
  /// file has another file's contents; ResourceExhausted.
  static Result<std::shared_ptr<SstReader>> Open(Env* env, const std::string& path,
                                                 const FileInfo& info, Counters* counters);

  const FileInfo& info() const { return info_; }
  const SstIndex& index() const { return index_; }
  const std::string& first_key() const { return index_.first_key; }
  const std::string& last_key() const { return index_.blocks.back().last_key; }
  size_t num_blocks() const { return index_.blocks.size(); }

  /// The only block that may have `key`; num_blocks() if the file ends before it.
  size_t FindBlock(std::string_view key) const;

  /// Errors: Corruption, ResourceExhausted.
  Result<std::shared_ptr<const Block>> ReadBlock(size_t block, const ReadContext& context) const {
    return ReadCached(index_.blocks[block].handle, Block::Kind::kData, context);
  }

  /// Looks up `key`: checks the filter first, and reads the data block only if the filter may
  /// match.
  Result<Found> Find(std::string_view key, const ReadContext& context) const;

  /// Whether the file may have a key in the range. Checks one range filter if the block index
  /// cannot decide.
  bool MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const;

  /// The skip index, with a granule per data block. Null if it is missing or unreadable: every
  /// block may match then.
  const SkipIndex* skip_index() const { return skip_index_ ? &*skip_index_ : nullptr; }

 private:
  SstReader(std::string path, const FileInfo& info, std::unique_ptr<ReadableFile> file)
      : path_(std::move(path)), info_(info), file_(std::move(file)) {}

  void OpenSkipIndex(Counters* counters);
  /// The filter of `block`. Null if it is missing or unreadable.
  std::shared_ptr<const Block> ReadFilter(size_t block, const ReadContext& context) const;
  Result<std::shared_ptr<const Block>> ReadCached(const BlockHandle& handle, Block::Kind kind,
                                                  const ReadContext& context) const;
  Result<std::string> ReadRaw(const BlockHandle& handle, Counters* counters) const;

  const std::string path_;
  const FileInfo info_;
  const std::unique_ptr<ReadableFile> file_;
  SstIndex index_;

  std::string skip_index_bytes_;
  std::optional<SkipIndex> skip_index_;  // refers to skip_index_bytes_
};

}  // namespace blocksieve::toylsm
