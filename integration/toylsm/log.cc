// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/log.h"

#include <optional>

#include "lib/base/coding.h"

namespace blocksieve::toylsm {
namespace {

/// What precedes an entry, with a checksum of its own: lengths are trusted only after it.
struct RecordHeader {
  uint64_t synced_bytes;
  uint64_t entry_bytes;
  uint32_t entry_checksum;
};

constexpr size_t kCoveredBytes = 8 + 8 + 4;
constexpr size_t kHeaderBytes = sizeof(uint32_t) + kCoveredBytes;

// The checksum covers the number of the log and the offset of the record, so that old bytes on the
// disk, or a user's value, cannot pass for a record.
uint32_t HeaderChecksum(ByteView covered, uint64_t number, uint64_t offset) {
  return static_cast<uint32_t>(WideChecksum(covered, (number << 40) ^ offset));
}

/// Reads the logs' bytes and counts those that checksums cover.
class LogReader {
 public:
  LogReader(ByteView log, uint64_t number, uint64_t* num_checked)
      : log_(log), number_(number), num_checked_(*num_checked) {}

  std::optional<RecordHeader> ReadHeader(size_t offset) {
    Decoder decoder(log_.subspan(offset));
    const auto checksum = decoder.Fixed<uint32_t>();
    const ByteView covered = decoder.Bytes(kCoveredBytes);
    if (!decoder.ok()) return std::nullopt;
    num_checked_ += covered.size();
    if (checksum != HeaderChecksum(covered, number_, offset)) return std::nullopt;
    Decoder fields(covered);
    const auto synced_bytes = fields.Fixed<uint64_t>();
    const auto entry_bytes = fields.Fixed<uint64_t>();
    return RecordHeader{synced_bytes, entry_bytes, fields.Fixed<uint32_t>()};
  }

  /// Sets `*offset` to the next record. nullopt if this one is damaged or torn.
  std::optional<Entry> ReadRecord(size_t* offset) {
    const std::optional<RecordHeader> header = ReadHeader(*offset);
    if (!header) return std::nullopt;
    Decoder decoder(log_.subspan(*offset + kHeaderBytes));
    const ByteView bytes = decoder.Bytes(header->entry_bytes);
    num_checked_ += bytes.size();
    if (!decoder.ok() || Checksum(bytes) != header->entry_checksum) return std::nullopt;
    Decoder fields(bytes);
    const Entry entry = ReadEntry(&fields);
    if (!fields.ok()) return std::nullopt;
    *offset = log_.size() - decoder.rest().size();
    return entry;
  }

 private:
  const ByteView log_;
  const uint64_t number_;
  uint64_t& num_checked_;
};

}  // namespace

Status LogWriter::Append(const Entry& entry) {
  std::string bytes;
  AppendEntry(&bytes, entry);
  std::string covered;
  AppendLittleEndian(&covered, synced_bytes_);
  AppendLittleEndian(&covered, uint64_t{bytes.size()});
  AppendLittleEndian(&covered, Checksum(AsBytes(bytes)));
  std::string record;
  AppendLittleEndian(&record, HeaderChecksum(AsBytes(covered), number_, num_bytes_));
  record += covered;
  record += bytes;
  num_bytes_ += record.size();
  return file_->Append(record);
}

Status LogWriter::Sync() {
  Status status = file_->Sync();
  if (status.ok()) synced_bytes_ = num_bytes_;
  return status;
}

Status ReadLog(ByteView log, uint64_t number, const std::function<void(const Entry&)>& visit,
               uint64_t* num_checked) {
  uint64_t ignored = 0;
  LogReader reader(log, number, num_checked == nullptr ? &ignored : num_checked);
  size_t offset = 0;
  while (offset < log.size()) {
    const std::optional<Entry> entry = reader.ReadRecord(&offset);
    if (!entry) break;
    visit(*entry);
  }
  // Lengths are unreliable after a bad record, so the next one may begin at any byte. A header is
  // enough to show what had been synced. Rejected: one checksum for all of a record, as any byte
  // may look like the length of the rest of the log: 32 s for a log of 3.5 MB.
  for (size_t i = offset + 1; i < log.size(); ++i) {
    const std::optional<RecordHeader> later = reader.ReadHeader(i);
    if (later && offset < later->synced_bytes && later->synced_bytes <= i) {
      return Status::Corruption("log is damaged at byte " + std::to_string(offset) +
                                ", which had been synced");
    }
  }
  return Status::Ok();
}

}  // namespace blocksieve::toylsm
