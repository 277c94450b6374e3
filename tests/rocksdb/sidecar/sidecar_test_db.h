#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/enable.h"
#include "tests/rocksdb/scan/skip_test_db.h"

namespace blocksieve::testing {

/// Names in `directory` with this suffix, without it.
inline std::set<std::string> NamesWith(const std::string& directory, const std::string& suffix) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == suffix) names.insert(entry.path().stem());
  }
  return names;
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A database whose skip indexes are all in sidecars.
class SidecarFixture : public SkipFixture {
 protected:
  SidecarFixture() { config_ = Config({NewListener()}); }

  static DbConfig Config(std::vector<std::shared_ptr<rocksdb::EventListener>> listeners,
                         uint64_t max_property_bytes = 0,
                         const std::shared_ptr<rocksdb::Logger>& log = nullptr) {
    DbConfig config = SkipConfig({.index = ShortGranules(kDefinitions),
                                  .max_property_bytes = max_property_bytes,
                                  .info_log = log});
    config.options.listeners = std::move(listeners);
    return config;
  }

  /// Writes three files of 200 rows, with each number in ten rows.
  static void FillFiles(TestDb* db, uint64_t num_files = 3) {
    for (uint64_t file = 0; file < num_files; ++file) {
      for (uint64_t i = 0; i < 200; ++i) {
        db->Put(Key(200 * file + i), Value((200 * file + i) / 10));
      }
      db->Flush();
    }
  }

  static std::string Sidecar(const TestDb& db, const std::string& number) {
    return db.path() + "/" + number + ".bsx";
  }

  /// The files whose index a scan could not use, with reasons.
  std::vector<std::string> Problems(TestDb& db) {
    ScanExplanation explanation;
    EXPECT_EQ(Count(db.db(), "n = 7", &explanation), 10u);
    return explanation.file_problems;
  }
};

}  // namespace blocksieve::testing
