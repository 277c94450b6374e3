#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <filesystem>

namespace blocksieve::bench {

/// A new directory in `parent` (created if missing). The destructor removes it and its contents.
class TempDir {
 public:
  /// Throws Failure if it cannot be created.
  explicit TempDir(const std::filesystem::path& parent);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Whether files in `dir` can be read with O_DIRECT, past the page cache. Not on tmpfs.
bool SupportsDirectReads(const std::filesystem::path& dir);

}  // namespace blocksieve::bench
