// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/log.h"

#include <optional>

#include "lib/base/coding.h"

namespace blocksieve::toylsm {
namespace {

constexpr size_t kChecksumBytes = 4;

struct Record {
  uint64_t synced_bytes;
  Entry entry;
  size_t end;  // offset in the log
};

// The checksum covers the number of the log and the offset of the record, so that old bytes on the
// disk, or a user's value, cannot pass for a record.
uint32_t RecordChecksum(std::string_view record, uint64_t number, uint64_t offset) {
  return static_cast<uint32_t>(WideChecksum(AsBytes(record), (number << 40) ^ offset));
}

std::optional<Record> ReadRecord(ByteView log, uint64_t number, size_t offset) {
  Decoder decoder(log.subspan(offset));
  const auto checksum = decoder.Fixed<uint32_t>();
  const ByteView covered = decoder.rest();
  Record record{};
  record.synced_bytes = decoder.Fixed<uint64_t>();
  record.entry = ReadEntry(&decoder);
  if (!decoder.ok()) return std::nullopt;
  const size_t num_bytes = covered.size() - decoder.rest().size();
  record.end = offset + kChecksumBytes + num_bytes;
  if (checksum != RecordChecksum(AsText(covered.first(num_bytes)), number, offset)) {
    return std::nullopt;
  }
  return record;
}

}  // namespace

Status LogWriter::Append(const Entry& entry) {
  std::string covered;
  AppendLittleEndian(&covered, synced_bytes_);
  AppendEntry(&covered, entry);
  std::string record;
  AppendLittleEndian(&record, RecordChecksum(covered, number_, num_bytes_));
  record += covered;
  num_bytes_ += record.size();
  return file_->Append(record);
}

Status LogWriter::Sync() {
  Status status = file_->Sync();
  if (status.ok()) synced_bytes_ = num_bytes_;
  return status;
}

Status ReadLog(ByteView log, uint64_t number, const std::function<void(const Entry&)>& visit) {
  size_t offset = 0;
  while (offset < log.size()) {
    const std::optional<Record> record = ReadRecord(log, number, offset);
    if (!record) break;
    visit(record->entry);
    offset = record->end;
  }
  // Lengths are unreliable after a bad record, so the next one may begin at any byte.
  for (size_t i = offset + 1; i < log.size(); ++i) {
    const std::optional<Record> later = ReadRecord(log, number, i);
    if (later && offset < later->synced_bytes) {
      return Status::Corruption("log is damaged at byte " + std::to_string(offset) +
                                ", which had been synced");
    }
  }
  return Status::Ok();
}

}  // namespace blocksieve::toylsm
