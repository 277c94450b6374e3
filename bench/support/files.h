#pragma once

#include <filesystem>
#include <string>

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

/// Writes `text` into `dir`, created if missing, under `name`: whole or not at all. Throws Failure.
void WriteFile(const std::string& text, const std::filesystem::path& dir, const char* name);

/// Whether files in `dir` can be read past the operating system's page cache (O_DIRECT). tmpfs, for
/// one, cannot.
bool SupportsDirectReads(const std::filesystem::path& dir);

}  // namespace blocksieve::bench
