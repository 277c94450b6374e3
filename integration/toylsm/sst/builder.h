#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "blocksieve/filter.h"
#include "blocksieve/skip_index.h"
#include "integration/toylsm/base/env.h"
#include "integration/toylsm/base/options.h"
#include "integration/toylsm/sst/block.h"

namespace blocksieve::toylsm {

/// A file in the manifest.
struct FileInfo {
  uint64_t number = 0;
  int level = 0;
  BlockHandle index;  ///< the block index, which ends the file

  uint64_t num_bytes() const { return index.offset + index.num_bytes; }
};

/// The library's builders, which get each entry of a file as it is written.
struct FilterBuilders {
  /// Errors: InvalidArgument (options).
  static Result<FilterBuilders> Create(const Options& options,
                                       const std::optional<FilterOptions>& key_filter);

  std::optional<FilterBuilder> keys;       ///< finished at the end of each filter granule
  std::optional<SkipIndexBuilder> values;  ///< finished at the end of the file
};

/// Writes an SST: sorted entries, with the library's key filters and skip index.
///
/// Call order: Add+ Finish
class SstBuilder {
 public:
  static Result<std::unique_ptr<SstBuilder>> Create(const Options& options,
                                                    const std::optional<FilterOptions>& key_filter,
                                                    const std::string& path, FileInfo info);

  /// REQUIRES: the key is greater than the previous one
  Status Add(const Entry& entry);

  /// Completes and syncs the file, but not its directory.
  Result<FileInfo> Finish();

  uint64_t num_bytes() const { return num_bytes_ + block_.size(); }

 private:
  SstBuilder(const Options& options, FilterBuilders builders, std::unique_ptr<WritableFile> file,
             FileInfo info)
      : options_(options), info_(info), file_(std::move(file)), builders_(std::move(builders)) {}

  Status FinishBlock();
  Status FinishFilter();
  Status WriteBlock(std::string_view raw, BlockHandle* handle);

  const Options& options_;
  FileInfo info_;
  const std::unique_ptr<WritableFile> file_;
  FilterBuilders builders_;
  SstIndex index_;
  std::string block_;
  bool block_has_values_ = false;
  std::string last_key_;
  uint64_t num_bytes_ = 0;
};

}  // namespace blocksieve::toylsm
