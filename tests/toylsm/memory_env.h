#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "integration/toylsm/base/env.h"

namespace blocksieve::toylsm {

/// Files in memory, with the promises of a file system and not one more: what was not synced, data
/// as well as names, may be gone after LosePower.
class MemoryEnv : public Env {
 public:
  /// What becomes of that which was not synced.
  enum class Unsynced {
    kLost,
    kKept,
    kMixed,  ///< Some data and names are kept, data with holes of zeros and cut anywhere.
  };

  /// As if the machine had been switched off. Locks are free again; files that are open for
  /// writing must not be used any more. The same `seed` gives the same mixture.
  void LosePower(Unsynced unsynced, uint64_t seed = 0);

  /// All of a file; for tests that damage it.
  std::string Contents(const std::string& path) const;
  void SetContents(const std::string& path, const std::string& contents);

  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path) override;
  Result<std::unique_ptr<ReadableFile>> OpenFile(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& directory) override;
  Status CreateDirectory(const std::string& directory) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status SyncDirectory(const std::string& directory) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;

 private:
  struct File;
  class Writer;
  class Reader;
  class HeldLock;
  using Names = std::map<std::string, std::shared_ptr<File>>;

  mutable std::mutex mutex_;
  Names names_;                                      // guarded by mutex_, as are the following
  Names synced_names_;                               // what survives
  std::map<std::string, std::weak_ptr<int>> locks_;  // alive as long as somebody holds it
};

}  // namespace blocksieve::toylsm
