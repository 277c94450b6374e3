// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/block_index/file_id.h"

#include <charconv>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/levels/filter_budget.h"

namespace blocksieve::rocksdb_plugin {

namespace {

// That of the index that this thread began last. The index's builder owns it.
thread_local std::weak_ptr<IndexOffer> last_offer;

constexpr char kFileIdProperty[] = "blocksieve.block_index.id";

class FileIdCollector final : public rocksdb::TablePropertiesCollector {
 public:
  explicit FileIdCollector(std::shared_ptr<const IndexNote> note) : note_(std::move(note)) {}

  const char* Name() const override { return "blocksieve.FileIdCollector"; }

  rocksdb::Status AddUserKey(const rocksdb::Slice&, const rocksdb::Slice&, rocksdb::EntryType,
                             rocksdb::SequenceNumber, uint64_t) override {
    return rocksdb::Status::OK();
  }

  // RocksDB is not exception-safe.
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override try {
    *properties = GetReadableProperties();
    return rocksdb::Status::OK();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();  // which RocksDB logs
  }

  rocksdb::UserCollectedProperties GetReadableProperties() const override {
    rocksdb::UserCollectedProperties properties;
    if (note_ == nullptr) return properties;
    properties[kBlockIndexBytesProperty] = ToText(note_->num_bytes.load());
    if (note_->num_bytes != 0 && note_->id != kNoFileId)
      properties[kFileIdProperty] = ToHex(note_->id);
    return properties;
  }

 private:
  const std::shared_ptr<const IndexNote> note_;  // null: the file has no index
};

}  // namespace

std::shared_ptr<IndexOffer> OfferFileId() {
  auto note = std::make_shared<IndexNote>();
  try {
    note->id = NewSidecarId();
  } catch (const std::exception&) {
    // The file has no id, and is read as a whole.
  }
  auto offer = std::make_shared<IndexOffer>(std::move(note));
  last_offer = offer;
  return offer;
}

const char FileIdCollectorFactory::kName[] = "blocksieve.block_index.id";

rocksdb::TablePropertiesCollector* FileIdCollectorFactory::CreateTablePropertiesCollector(
    Context context) {
  const auto offer = std::exchange(last_offer, {}).lock();
  if (offer != nullptr) (*offer)->is_on_level = context.level_at_creation >= 0;
  return new FileIdCollector(offer == nullptr ? nullptr : *offer);
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
