#include "integration/toylsm/write_batch.h"

#include "lib/base/coding.h"

namespace blocksieve::toylsm {
namespace {

uint64_t BytesWithLength(std::string_view bytes) {
  return VarintBytes(bytes.size()) + bytes.size();
}

}  // namespace

void WriteBatch::Put(std::string_view key, std::string_view value) {
  if (!Check(key, value)) return;
  if (!HasRoomFor(1 + BytesWithLength(key) + BytesWithLength(value))) return;
  bytes_.push_back(static_cast<char>(EntryType::kPut));
  AppendVarint(&bytes_, key.size());
  bytes_.append(key);
  AppendVarint(&bytes_, value.size());
  bytes_.append(value);
  ++num_entries_;
}

void WriteBatch::Delete(std::string_view key) {
  if (!Check(key, {})) return;
  if (!HasRoomFor(1 + BytesWithLength(key))) return;
  bytes_.push_back(static_cast<char>(EntryType::kDelete));
  AppendVarint(&bytes_, key.size());
  bytes_.append(key);
  ++num_entries_;
}

void WriteBatch::Append(const WriteBatch& other) {
  if (status_.ok()) status_ = other.status_;
  if (!HasRoomFor(other.bytes_.size())) return;
  bytes_.append(other.bytes_);
  num_entries_ += other.num_entries_;
}

bool WriteBatch::Check(std::string_view key, std::string_view value) {
  if (key.size() > kMaxKeyBytes) {
    status_ = Status::InvalidArgument("key of " + std::to_string(key.size()) +
                                      " bytes; allowed are " + std::to_string(kMaxKeyBytes));
  } else if (value.size() > kMaxValueBytes) {
    status_ = Status::InvalidArgument("value of " + std::to_string(value.size()) +
                                      " bytes; allowed are " + std::to_string(kMaxValueBytes));
  }
  return status_.ok();
}

bool WriteBatch::HasRoomFor(uint64_t num_bytes) {
  if (status_.ok() && bytes_.size() + num_bytes > kMaxBatchBytes) {
    status_ = Status::InvalidArgument("batch of " + std::to_string(bytes_.size() + num_bytes) +
                                      " bytes; allowed are " + std::to_string(kMaxBatchBytes));
  }
  return status_.ok();
}

bool BatchReader::Next() {
  if (rest_.empty() || !status_.ok()) return false;
  Decoder decoder(rest_);
  const uint8_t type = decoder.Fixed<uint8_t>();
  entry_.type = static_cast<EntryType>(type);
  entry_.key = AsText(decoder.Bytes(decoder.Varint()));
  const bool is_put = entry_.type == EntryType::kPut;
  entry_.value = is_put ? AsText(decoder.Bytes(decoder.Varint())) : std::string_view();
  if (!decoder.ok() || type > static_cast<uint8_t>(EntryType::kPut)) {
    status_ = Status::Corruption("a batch of writes is damaged");
    return false;
  }
  entry_.sequence = next_sequence_++;
  rest_ = decoder.rest();
  return true;
}

}  // namespace blocksieve::toylsm
