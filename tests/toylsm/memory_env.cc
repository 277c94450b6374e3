#include "tests/toylsm/memory_env.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace blocksieve::toylsm {

struct MemoryEnv::File {
  mutable std::mutex mutex;
  std::string contents;
  size_t synced_bytes = 0;

  // Pages reach the disk in any order, so a lost one may be in front of a kept one.
  void LosePower(Unsynced unsynced, std::mt19937_64* random) {
    constexpr size_t kPageBytes = 64;  // small, so that small tests have many
    if (unsynced == Unsynced::kLost) contents.resize(synced_bytes);
    if (unsynced == Unsynced::kMixed) {
      contents.resize(synced_bytes + (*random)() % (contents.size() - synced_bytes + 1));
      for (size_t i = synced_bytes; i < contents.size(); i += kPageBytes) {
        if ((*random)() % 3 != 0) continue;
        std::fill_n(contents.begin() + static_cast<ptrdiff_t>(i),
                    std::min(kPageBytes, contents.size() - i), '\0');
      }
    }
    synced_bytes = contents.size();
  }
};

class MemoryEnv::Writer final : public WritableFile {
 public:
  explicit Writer(std::shared_ptr<File> file) : file_(std::move(file)) {}

  Status Append(std::string_view data) override {
    const std::lock_guard lock(file_->mutex);
    file_->contents.append(data);
    return Status::Ok();
  }

  Status Sync() override {
    const std::lock_guard lock(file_->mutex);
    file_->synced_bytes = file_->contents.size();
    return Status::Ok();
  }

 private:
  const std::shared_ptr<File> file_;
};

class MemoryEnv::Reader final : public ReadableFile {
 public:
  explicit Reader(std::shared_ptr<File> file) : file_(std::move(file)) {}

  uint64_t size() const override {
    const std::lock_guard lock(file_->mutex);
    return file_->contents.size();
  }

  Result<size_t> Read(uint64_t offset, std::span<uint8_t> buffer) const override {
    const std::lock_guard lock(file_->mutex);
    const uint64_t left =
        file_->contents.size() - std::min<uint64_t>(offset, file_->contents.size());
    const size_t count = std::min(buffer.size(), static_cast<size_t>(left));
    if (count > 0) std::memcpy(buffer.data(), file_->contents.data() + offset, count);
    return count;
  }

 private:
  const std::shared_ptr<File> file_;
};

class MemoryEnv::HeldLock final : public FileLock {
 public:
  explicit HeldLock(std::shared_ptr<int> token) : token_(std::move(token)) {}

 private:
  const std::shared_ptr<int> token_;
};

void MemoryEnv::LosePower(Unsynced unsynced, uint64_t seed) {
  const std::lock_guard lock(mutex_);
  std::mt19937_64 random(seed);
  if (unsynced == Unsynced::kLost) names_ = synced_names_;
  if (unsynced == Unsynced::kMixed) {
    // Each changed name for itself is as it was or as it is.
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
  locks_.clear();
}

std::string MemoryEnv::Contents(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(path);
  return found == names_.end() ? std::string() : found->second->contents;
}

void MemoryEnv::SetContents(const std::string& path, const std::string& contents) {
  auto file = std::make_shared<File>();
  file->contents = contents;
  file->synced_bytes = contents.size();
  const std::lock_guard lock(mutex_);
  names_[path] = synced_names_[path] = std::move(file);
}

Result<std::unique_ptr<WritableFile>> MemoryEnv::NewWritableFile(const std::string& path) {
  const std::lock_guard lock(mutex_);
  auto file = names_[path] = std::make_shared<File>();
  return std::unique_ptr<WritableFile>(std::make_unique<Writer>(std::move(file)));
}

Result<std::unique_ptr<ReadableFile>> MemoryEnv::OpenFile(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(path);
  if (found == names_.end()) return IoError("open", path, ENOENT);
  return std::unique_ptr<ReadableFile>(std::make_unique<Reader>(found->second));
}

Result<bool> MemoryEnv::Exists(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return names_.count(path) != 0;
}

Result<std::vector<std::string>> MemoryEnv::List(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  const std::string prefix = directory + "/";
  for (const auto& [name, file] : names_) {
    if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
  }
  return names;
}

Status MemoryEnv::CreateDirectory(const std::string&) { return Status::Ok(); }

Status MemoryEnv::Rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(from);
  if (found == names_.end()) return IoError("rename", from, ENOENT);
  names_[to] = found->second;
  names_.erase(from);
  return Status::Ok();
}

Status MemoryEnv::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return names_.erase(path) == 1 ? Status::Ok() : IoError("remove", path, ENOENT);
}

Status MemoryEnv::SyncDirectory(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  const std::string prefix = directory + "/";
  std::erase_if(synced_names_, [&](const auto& name) { return name.first.starts_with(prefix); });
  for (const auto& name : names_) {
    if (name.first.starts_with(prefix)) synced_names_.insert(name);
  }
  return Status::Ok();
}

Result<std::unique_ptr<FileLock>> MemoryEnv::Lock(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<int>& holder = locks_[path];
  if (!holder.expired()) return IoError("lock", path, EWOULDBLOCK);
  auto token = std::make_shared<int>();
  holder = token;
  return std::unique_ptr<FileLock>(std::make_unique<HeldLock>(std::move(token)));
}

}  // namespace blocksieve::toylsm
