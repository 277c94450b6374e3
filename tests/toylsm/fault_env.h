#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <random>

#include "integration/toylsm/base/env.h"

namespace blocksieve::toylsm {

/// Files in memory, with no more than the guarantees of a file system: operations fail on demand,
/// and unsynced data and names may be lost by LosePower.
class FaultEnv final : public Env {
 public:
  /// Fate of unsynced data and names.
  enum class Unsynced {
    kLost,
    kMixed,  ///< some are kept, data with holes of zeros and cut anywhere
  };

  /// Simulates a power loss. Files that are open for writing must not be used again. The same
  /// `seed` gives the same result.
  void LosePower(Unsynced unsynced, uint64_t seed) {
    std::mt19937_64 random(seed);
    if (unsynced == Unsynced::kLost) names_ = synced_names_;
    if (unsynced == Unsynced::kMixed) {
      // Each changed name is kept or reverted independently.
      Names all = names_;
      all.insert(synced_names_.begin(), synced_names_.end());
      for (const auto& [name, unused] : all) {
        const auto was = synced_names_.find(name);
        if (random() % 2 == 0) continue;
        names_.erase(name);
        if (was != synced_names_.end()) names_.insert(*was);
      }
    }
    for (const auto& [name, file] : names_) file->LosePower(unsynced, &random);
    synced_names_ = names_;
  }

  /// The n-th change from now on fails, an Append after half of its bytes. With `for_good`, as
  /// before a power loss, all later changes fail, too. 0: none.
  void FailChange(uint64_t n, bool for_good) {
    failing_change_ = n == 0 ? 0 : num_changes_ + n;
    fails_for_good_ = for_good;
  }
  /// The n-th read from now on fails. 0: none.
  void FailRead(uint64_t n) { failing_read_ = n == 0 ? 0 : num_reads_ + n; }
  uint64_t num_changes() const { return num_changes_; }
  uint64_t num_reads() const { return num_reads_; }

  /// Contents of a file, for tests that damage it.
  const std::string& Contents(const std::string& path) const { return names_.at(path)->contents; }
  void SetContents(const std::string& path, const std::string& contents) {
    names_[path] = synced_names_[path] = std::make_shared<File>(File{contents, contents.size()});
  }

  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path) override {
    if (Status status = CountChange(path); !status.ok()) return status;
    auto file = names_[path] = std::make_shared<File>();
    return std::unique_ptr<WritableFile>(std::make_unique<Writer>(this, path, std::move(file)));
  }
  Result<std::unique_ptr<ReadableFile>> OpenFile(const std::string& path) override {
    const auto found = names_.find(path);
    if (found == names_.end()) return IoError("open", path, ENOENT);
    return std::unique_ptr<ReadableFile>(std::make_unique<Reader>(this, found->second));
  }
  Result<std::vector<std::string>> List(const std::string& directory) override {
    std::vector<std::string> names;
    const std::string prefix = directory + "/";
    for (const auto& [name, file] : names_) {
      if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
    }
    return names;
  }
  Status CreateDirectory(const std::string& directory) override { return CountChange(directory); }
  Status Rename(const std::string& from, const std::string& to) override {
    if (Status status = CountChange(from); !status.ok()) return status;
    names_[to] = names_.at(from);
    names_.erase(from);
    return Status::Ok();
  }
  Status Remove(const std::string& path) override {
    if (Status status = CountChange(path); !status.ok()) return status;
    names_.erase(path);
    return Status::Ok();
  }
  Status SyncDirectory(const std::string& directory) override {
    if (Status status = CountChange(directory); !status.ok()) return status;
    const auto is_in = [&](const auto& name) { return name.first.starts_with(directory + "/"); };
    std::erase_if(synced_names_, is_in);
    std::copy_if(names_.begin(), names_.end(), std::inserter(synced_names_, synced_names_.end()),
                 is_in);
    return Status::Ok();
  }

 private:
  struct File {
    std::string contents;
    size_t synced_bytes = 0;

    // Pages reach the disk in any order, so a lost page may precede a kept one.
    void LosePower(Unsynced unsynced, std::mt19937_64* random) {
      constexpr size_t kPageBytes = 64;  // small, so that small tests have many
      if (unsynced == Unsynced::kLost) contents.resize(synced_bytes);
      if (unsynced == Unsynced::kMixed) {
        contents.resize(synced_bytes + (*random)() % (contents.size() - synced_bytes + 1));
        for (size_t i = synced_bytes; i < contents.size(); i += kPageBytes) {
          if ((*random)() % 3 != 0) continue;
          const size_t lost = std::min(kPageBytes, contents.size() - i);
          contents.replace(i, lost, lost, '\0');
        }
      }
      synced_bytes = contents.size();
    }
  };
  using Names = std::map<std::string, std::shared_ptr<File>>;

  class Writer final : public WritableFile {
   public:
    Writer(FaultEnv* env, std::string path, std::shared_ptr<File> file)
        : env_(env), path_(std::move(path)), file_(std::move(file)) {}

    Status Append(std::string_view data) override {
      Status status = env_->CountChange(path_);
      // Without power nothing is written; the operation that fails with the power is torn.
      const bool is_torn = env_->num_changes_ == env_->failing_change_;
      if (is_torn) data = data.substr(0, data.size() / 2);
      if (is_torn || status.ok()) file_->contents.append(data);
      return status;
    }
    Status Sync() override {
      Status status = env_->CountChange(path_);
      if (status.ok()) file_->synced_bytes = file_->contents.size();
      return status;
    }

   private:
    FaultEnv* const env_;
    const std::string path_;
    const std::shared_ptr<File> file_;
  };

  class Reader final : public ReadableFile {
   public:
    Reader(FaultEnv* env, std::shared_ptr<File> file) : env_(env), file_(std::move(file)) {}

    uint64_t size() const override { return file_->contents.size(); }
    Result<std::string> Read(uint64_t offset, uint64_t size) const override {
      if (++env_->num_reads_ == env_->failing_read_) return IoError("read", "a file", EIO);
      const bool is_there = offset <= this->size() && size <= this->size() - offset;
      if (!is_there) return Status::Corruption("the file is too short");
      return file_->contents.substr(static_cast<size_t>(offset), static_cast<size_t>(size));
    }

   private:
    FaultEnv* const env_;
    const std::shared_ptr<File> file_;
  };

  Status CountChange(const std::string& path) {
    ++num_changes_;
    const bool is_later = failing_change_ != 0 && num_changes_ > failing_change_;
    const bool fails = num_changes_ == failing_change_ || (is_later && fails_for_good_);
    return fails ? IoError("write", path, EIO) : Status::Ok();
  }

  Names names_;
  Names synced_names_;  // survive a power loss
  uint64_t num_changes_ = 0;
  uint64_t num_reads_ = 0;
  uint64_t failing_change_ = 0;  // its number; 0: none
  bool fails_for_good_ = false;
  uint64_t failing_read_ = 0;  // its number; 0: none
};

}  // namespace blocksieve::toylsm
