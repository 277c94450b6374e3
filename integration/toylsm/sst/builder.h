#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "blocksieve/filter_builder.h"
#include "integration/toylsm/base/env.h"
#include "integration/toylsm/base/options.h"
#include "integration/toylsm/sst/format.h"
#include "integration/toylsm/sst/skip_index.h"

namespace blocksieve::toylsm {

/// What the manifest knows of a file.
struct FileInfo {
  uint64_t number = 0;
  int level = 0;
  uint64_t num_bytes = 0;
};

/// Writes a file of sorted entries, with key filters and the skip index.
///
/// Call order: Add+ Finish
class SstBuilder {
 public:
  static Result<std::unique_ptr<SstBuilder>> Create(const Options& options,
                                                    const KeyFilterOptions& key_filter,
                                                    const std::string& path, uint64_t number,
                                                    int level);

  /// REQUIRES: behind the entry before.
  Status Add(const Entry& entry);

  /// The file is then complete and synced; its name is not.
  Result<FileInfo> Finish();

  uint64_t num_bytes() const { return num_bytes_ + block_.size(); }
  const std::string& last_key() const { return last_key_; }

 private:
  SstBuilder(const Options& options, std::unique_ptr<WritableFile> file, FileInfo info)
      : options_(options), info_(info), file_(std::move(file)) {}

  Status FinishBlock();
  Status FinishFilter();
  Status FinishSkipIndex();
  Status WriteBlock(std::string_view raw, BlockHandle* handle);

  const Options& options_;
  FileInfo info_;
  const std::unique_ptr<WritableFile> file_;
  std::optional<FilterBuilder> filter_;
  std::optional<RangeFilterBuilder> ranges_;  // of the same keys
  std::optional<FileSkipIndexBuilder> skip_index_;
  SstIndex index_;
  std::string block_;
  std::string last_key_;
  uint64_t num_bytes_ = 0;
};

}  // namespace blocksieve::toylsm
