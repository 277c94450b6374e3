#include "integration/toylsm/log.h"

#include <cassert>
#include <optional>

#include "lib/base/coding.h"
#include "lib/hash/checksum.h"

namespace blocksieve::toylsm {
namespace {

constexpr uint32_t kMagic = 0x676f6cb5;  // B5 "log"
constexpr uint32_t kVersion = 1;
constexpr size_t kFileHeaderBytes = 20;
constexpr size_t kRecordHeaderBytes = 28;

struct RecordHeader {
  uint32_t batch_bytes;
  uint32_t batch_checksum;
  uint64_t synced_bytes;
  Sequence first_sequence;
};

struct Record {
  ByteView batch;
  Sequence first_sequence;
  size_t end;  // in the log
};

// Number and place of a record go into its checksum: bytes that merely look like one, left over on
// the disk or inside a user's value, are none.
uint32_t RecordChecksum(ByteView header, uint64_t number, uint64_t offset) {
  return static_cast<uint32_t>(HashKey(AsText(header), (number << 40) ^ offset));
}

std::optional<RecordHeader> ReadRecordHeader(ByteView log, uint64_t number, size_t offset) {
  if (log.size() - offset < kRecordHeaderBytes) return std::nullopt;
  const ByteView bytes = log.subspan(offset, kRecordHeaderBytes);
  Decoder decoder(bytes);
  RecordHeader header{};
  header.batch_bytes = decoder.Fixed<uint32_t>();
  header.batch_checksum = decoder.Fixed<uint32_t>();
  header.synced_bytes = decoder.Fixed<uint64_t>();
  header.first_sequence = decoder.Fixed<uint64_t>();
  const auto checksum = decoder.Fixed<uint32_t>();
  if (checksum != RecordChecksum(bytes.first(kRecordHeaderBytes - 4), number, offset)) {
    return std::nullopt;
  }
  return header;
}

std::optional<Record> ReadRecord(ByteView log, uint64_t number, size_t offset) {
  const std::optional<RecordHeader> header = ReadRecordHeader(log, number, offset);
  if (!header) return std::nullopt;
  const size_t begin = offset + kRecordHeaderBytes;
  if (header->batch_bytes > log.size() - begin) return std::nullopt;
  const ByteView batch = log.subspan(begin, header->batch_bytes);
  if (Checksum(batch) != header->batch_checksum) return std::nullopt;
  return Record{batch, header->first_sequence, begin + batch.size()};
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
  assert(batch.size() <= UINT32_MAX);
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
  // begin one. Its header is enough: when that was written, so much had been synced, whatever has
  // become of its batch; and if each batch were read, made-up lengths would make this quadratic.
  for (size_t i = offset + 1; status.ok() && i < log.size(); ++i) {
    const std::optional<RecordHeader> later = ReadRecordHeader(log, number, i);
    if (later && offset < later->synced_bytes && later->synced_bytes <= i) {
      status = Status::Corruption("log is damaged at byte " + std::to_string(offset) +
                                  ", which had been synced");
    }
  }
  return status;
}

bool IsEmptyLog(uint64_t num_bytes) { return num_bytes <= kFileHeaderBytes; }

}  // namespace blocksieve::toylsm
