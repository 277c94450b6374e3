#include "integration/toylsm/log.h"

#include <optional>

#include "lib/checksum.h"
#include "lib/coding.h"

namespace blocksieve::toylsm {
namespace {

constexpr uint32_t kMagic = 0x676f6cb5;  // B5 "log"
constexpr uint32_t kVersion = 1;
constexpr size_t kFileHeaderBytes = 20;
constexpr size_t kRecordHeaderBytes = 28;

struct Record {
  ByteView batch;
  uint64_t synced_bytes;
  Sequence first_sequence;
  size_t end;  // in the log
};

// Number and place of a record go into its checksum: bytes that merely look like one, left over on
// the disk or inside a user's value, are none.
uint32_t RecordChecksum(ByteView header, uint64_t number, uint64_t offset) {
  return static_cast<uint32_t>(HashKey(AsText(header), (number << 40) ^ offset));
}

std::optional<Record> ReadRecord(ByteView log, uint64_t number, size_t offset) {
  if (log.size() - offset < kRecordHeaderBytes) return std::nullopt;
  const ByteView header = log.subspan(offset, kRecordHeaderBytes);
  Decoder decoder(header);
  const auto size = decoder.Fixed<uint32_t>();
  const auto batch_checksum = decoder.Fixed<uint32_t>();
  Record record{};
  record.synced_bytes = decoder.Fixed<uint64_t>();
  record.first_sequence = decoder.Fixed<uint64_t>();
  const auto checksum = decoder.Fixed<uint32_t>();
  if (checksum != RecordChecksum(header.first(kRecordHeaderBytes - 4), number, offset)) {
    return std::nullopt;
  }
  const size_t begin = offset + kRecordHeaderBytes;
  if (size > log.size() - begin) return std::nullopt;
  record.batch = log.subspan(begin, size);
  record.end = begin + size;
  if (Checksum(record.batch) != batch_checksum) return std::nullopt;
  return record;
}

Status CheckFileHeader(ByteView log, uint64_t number) {
  Decoder decoder(log);
  const ByteView covered = decoder.Bytes(kFileHeaderBytes - 4);
  const auto checksum = decoder.Fixed<uint32_t>();
  if (!decoder.ok() || Checksum(covered) != checksum) {
    return Status::Corruption("header of the log is damaged");
  }
  Decoder fields(covered);
  if (fields.Fixed<uint32_t>() != kMagic) return Status::Corruption("not a log");
  const auto version = fields.Fixed<uint32_t>();
  if (version != kVersion) {
    return Status::NotSupported("log of version " + std::to_string(version));
  }
  if (fields.Fixed<uint64_t>() != number) return Status::Corruption("another log's contents");
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<LogWriter>> LogWriter::Create(Env* env, const std::string& path,
                                                     uint64_t number) {
  Result<std::unique_ptr<WritableFile>> file = env->NewWritableFile(path);
  if (!file.ok()) return file.status();
  std::string header;
  AppendLittleEndian(&header, kMagic);
  AppendLittleEndian(&header, kVersion);
  AppendLittleEndian(&header, number);
  AppendLittleEndian(&header, Checksum(AsBytes(header)));
  std::unique_ptr<LogWriter> log(new LogWriter(*std::move(file), number));
  Status status = log->file_->Append(header);
  log->num_bytes_ = header.size();
  if (status.ok()) status = log->Sync();
  if (!status.ok()) return status;
  return log;
}

Status LogWriter::Append(std::string_view batch, Sequence first_sequence) {
  // One append: what is acknowledged but not synced then survives the end of the process.
  std::string record;
  record.reserve(kRecordHeaderBytes + batch.size());
  AppendLittleEndian(&record, static_cast<uint32_t>(batch.size()));
  AppendLittleEndian(&record, Checksum(AsBytes(batch)));
  AppendLittleEndian(&record, synced_bytes_);
  AppendLittleEndian(&record, first_sequence);
  AppendLittleEndian(&record, RecordChecksum(AsBytes(record), number_, num_bytes_));
  record.append(batch);
  num_bytes_ += record.size();
  return file_->Append(record);
}

Status LogWriter::Sync() {
  if (synced_bytes_ == num_bytes_) return Status::Ok();
  Status status = file_->Sync();
  if (status.ok()) synced_bytes_ = num_bytes_;
  return status;
}

Status LogWriter::Close(Sequence next_sequence) {
  Status status = Sync();
  if (status.ok()) status = Append({}, next_sequence);
  if (status.ok()) status = Sync();
  return status;
}

Status ReadLog(ByteView log, uint64_t number,
               const std::function<Status(ByteView, Sequence)>& visit) {
  Status status = CheckFileHeader(log, number);
  size_t offset = kFileHeaderBytes;
  while (status.ok() && offset < log.size()) {
    const std::optional<Record> record = ReadRecord(log, number, offset);
    if (!record) break;
    status = visit(record->batch, record->first_sequence);
    offset = record->end;
  }
  // A torn end, unless any later record contradicts. Lengths cannot be trusted here: any byte may
  // begin one.
  for (size_t i = offset + 1; status.ok() && i < log.size(); ++i) {
    const std::optional<Record> later = ReadRecord(log, number, i);
    if (later && later->synced_bytes > offset) {
      status = Status::Corruption("log is damaged at byte " + std::to_string(offset) +
                                  ", which had been synced");
    }
  }
  return status;
}

bool IsEmptyLog(uint64_t num_bytes) { return num_bytes <= kFileHeaderBytes; }

}  // namespace blocksieve::toylsm
