// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/block_index/file_id.h"

#include <atomic>
#include <charconv>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

struct FileIdOffer {
  explicit FileIdOffer(const SidecarId& drawn) : id(drawn), is_open(drawn != kNoFileId) {}

  const SidecarId id;
  std::atomic<bool> is_open;  // exchanged by the one who takes it, or takes it back
};

namespace {

// That of the index that this thread began last.
thread_local std::shared_ptr<FileIdOffer> last_offer;

// Without a source of random numbers the file has no id, and is read as a whole.
SidecarId DrawFileId() noexcept try { return NewSidecarId(); } catch (const std::exception&) {
  return kNoFileId;
}

}  // namespace

OfferedFileId::OfferedFileId() : offer_(std::make_shared<FileIdOffer>(DrawFileId())) {
  last_offer = offer_;
}

const SidecarId& OfferedFileId::id() const { return offer_->id; }

void OfferedFileId::TakeBack() noexcept {
  offer_->is_open.store(false, std::memory_order_relaxed);
  if (last_offer == offer_) last_offer.reset();
}

namespace {

constexpr char kFileIdProperty[] = "blocksieve.block_index.id";

class FileIdCollector final : public rocksdb::TablePropertiesCollector {
 public:
  explicit FileIdCollector(std::string id) : id_(std::move(id)) {}

  const char* Name() const override { return "blocksieve.FileIdCollector"; }

  rocksdb::Status AddUserKey(const rocksdb::Slice&, const rocksdb::Slice&, rocksdb::EntryType,
                             rocksdb::SequenceNumber, uint64_t) override {
    return rocksdb::Status::OK();
  }

  // RocksDB is not exception-safe.
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override try {
    if (!id_.empty()) (*properties)[kFileIdProperty] = id_;
    return rocksdb::Status::OK();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();  // which RocksDB logs
  }

  rocksdb::UserCollectedProperties GetReadableProperties() const override {
    rocksdb::UserCollectedProperties properties;
    if (!id_.empty()) properties[kFileIdProperty] = id_;
    return properties;
  }

 private:
  const std::string id_;
};

}  // namespace

const char FileIdCollectorFactory::kName[] = "blocksieve.block_index.id";

rocksdb::TablePropertiesCollector* FileIdCollectorFactory::CreateTablePropertiesCollector(Context) {
  const auto offer = std::exchange(last_offer, nullptr);
  const bool is_open = offer != nullptr && offer->is_open.exchange(false);
  return new FileIdCollector(is_open ? ToHex(offer->id) : std::string());
}

bool IsFileIdCollector(const std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>& collector) {
  return collector != nullptr &&
         std::string_view(collector->Name()) == FileIdCollectorFactory::kName;
}

std::optional<SidecarId> FindFileId(const rocksdb::TableProperties& properties) {
  const std::string_view text = FindProperty(properties.user_collected_properties, kFileIdProperty);
  SidecarId id{};
  constexpr size_t kDigits = 16;
  if (text.size() != id.size() * kDigits) return std::nullopt;
  for (size_t i = 0; i < id.size(); ++i) {
    const char* const digits = text.data() + i * kDigits;
    if (std::from_chars(digits, digits + kDigits, id[i], 16).ptr != digits + kDigits)
      return std::nullopt;
  }
  return id;
}

}  // namespace blocksieve::rocksdb_plugin
