#pragma once

#include <filesystem>

namespace blocksieve::bench {

/// A fresh directory below `parent` (created if missing), removed with all it holds at the end.
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

/// Whether files in `dir` can be read past the operating system's page cache (O_DIRECT). tmpfs, for
/// one, cannot.
bool SupportsDirectReads(const std::filesystem::path& dir);

}  // namespace blocksieve::bench
