#include "integration/cli/rocksdb/unreadable_tables.h"

#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

namespace blocksieve::cli {

std::string UnreadableTables(const std::string& path, const rocksdb::Options& options) {
  constexpr size_t kMostNamed = 5;
  std::vector<std::filesystem::path> unreadable;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() != ".sst") continue;
    rocksdb::SstFileReader reader(options);
    if (!reader.Open(entry.path()).ok()) unreadable.push_back(entry.path().filename());
  }
  std::sort(unreadable.begin(), unreadable.end());
  std::string text;
  for (size_t i = 0; i < std::min(unreadable.size(), kMostNamed); ++i) {
    text += (i == 0 ? "; unreadable: " : ", ") + unreadable[i].string();
  }
  return unreadable.size() > kMostNamed ? text + ", ..." : text;
}

}  // namespace blocksieve::cli
