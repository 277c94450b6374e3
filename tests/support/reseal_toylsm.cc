#include "tests/support/reseal_toylsm.h"

#include "blocksieve/hash.h"
#include "integration/toylsm/sst/format.h"
#include "lib/base/coding.h"
#include "lib/hash/checksum.h"

namespace blocksieve::testing {
namespace {

constexpr size_t kChecksumBytes = 4;

// Of the log.
constexpr size_t kNumberAt = 8;
constexpr size_t kFileHeaderBytes = 20;
constexpr size_t kRecordHeaderBytes = 28;

uint8_t* At(std::string* text, size_t position) {
  return reinterpret_cast<uint8_t*>(text->data()) + position;
}

ByteView Part(const std::string& text, size_t offset, size_t size) {
  return AsBytes(std::string_view(text).substr(offset, size));
}

void Reseal(ByteView file, toylsm::BlockHandle* handle) {
  if (handle->offset > file.size() || handle->stored_bytes > file.size() - handle->offset) return;
  handle->checksum = Checksum(file.subspan(handle->offset, handle->stored_bytes));
}

// Of the footer, whether or not its own checksum is right.
toylsm::BlockHandle IndexHandle(ByteView sst) {
  Decoder footer(sst.last(toylsm::SstFooter::kBytes));
  toylsm::BlockHandle handle;
  handle.offset = footer.Fixed<uint64_t>();
  handle.stored_bytes = footer.Fixed<uint64_t>();
  handle.raw_bytes = footer.Fixed<uint64_t>();
  Reseal(sst, &handle);
  return handle;
}

}  // namespace

std::optional<std::string> ResealManifest(ByteView manifest) {
  if (manifest.size() < kChecksumBytes) return std::nullopt;
  std::string sealed(AsText(manifest.first(manifest.size() - kChecksumBytes)));
  AppendLittleEndian(&sealed, Checksum(AsBytes(sealed)));
  return sealed;
}

uint64_t LogNumberOf(ByteView log) {
  if (log.size() < kFileHeaderBytes) return 0;
  return LoadLittleEndian<uint64_t>(log.data() + kNumberAt);
}

std::optional<std::string> ResealLog(ByteView log) {
  if (log.size() < kFileHeaderBytes) return std::nullopt;
  std::string sealed(AsText(log));
  constexpr size_t kCovered = kFileHeaderBytes - kChecksumBytes;
  StoreLittleEndian(At(&sealed, kCovered), Checksum(log.first(kCovered)));
  const uint64_t number = LogNumberOf(log);
  for (size_t offset = kFileHeaderBytes; log.size() - offset >= kRecordHeaderBytes;) {
    const size_t begin = offset + kRecordHeaderBytes;
    const size_t size = LoadLittleEndian<uint32_t>(log.data() + offset);
    if (size > log.size() - begin) break;
    StoreLittleEndian(At(&sealed, offset + 4), Checksum(log.subspan(begin, size)));
    const std::string_view covered =
        AsText(Part(sealed, offset, kRecordHeaderBytes - kChecksumBytes));
    StoreLittleEndian(At(&sealed, begin - kChecksumBytes),
                      static_cast<uint32_t>(HashKey(covered, (number << 40) ^ offset)));
    offset = begin + size;
  }
  return sealed;
}

uint64_t SstNumberOf(ByteView sst) {
  constexpr size_t kFromEnd = 20;
  if (sst.size() < toylsm::SstFooter::kBytes) return 0;
  return LoadLittleEndian<uint64_t>(sst.data() + sst.size() - kFromEnd);
}

std::optional<std::string> ResealSst(ByteView sst, uint64_t number) {
  if (sst.size() < toylsm::SstFooter::kBytes) return std::nullopt;
  const toylsm::BlockHandle handle = IndexHandle(sst);
  if (handle.offset > sst.size() || handle.stored_bytes > sst.size() - handle.offset) {
    return std::nullopt;
  }
  const Result<std::string> raw = toylsm::UncompressBlock(
      std::string(AsText(sst.subspan(handle.offset, handle.stored_bytes))), handle);
  if (!raw.ok()) return std::nullopt;
  Result<toylsm::SstIndex> index = toylsm::SstIndex::Decode(AsBytes(*raw));
  if (!index.ok()) return std::nullopt;
  for (toylsm::SstIndex::DataBlock& block : index->blocks) Reseal(sst, &block.handle);
  for (toylsm::BlockHandle& filter : index->filters) Reseal(sst, &filter);
  Reseal(sst, &index->skip_index);
  std::string sealed(AsText(sst.first(handle.offset)));
  const std::string index_bytes = index->Encode();
  toylsm::SstFooter footer;
  footer.index.offset = sealed.size();
  footer.index.stored_bytes = index_bytes.size();
  footer.index.raw_bytes = index_bytes.size();
  footer.index.checksum = Checksum(AsBytes(index_bytes));
  footer.file_number = number;
  return sealed + index_bytes + footer.Encode();
}

}  // namespace blocksieve::testing
