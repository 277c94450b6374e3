#include "integration/rocksdb/sidecar/file.h"

#include <algorithm>
#include <new>

#include "blocksieve/bytes.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// What is written at once, so that a rate limiter can spread it.
constexpr size_t kPieceBytes = 256 << 10;

// The identity is a line for each column, of which there are 256 at most.
constexpr uint64_t kMostHeaderBytes = 1 << 20;

rocksdb::Status Append(rocksdb::FSWritableFile* file, rocksdb::RateLimiter* limiter,
                       std::string_view bytes) {
  rocksdb::Status status;
  while (status.ok() && !bytes.empty()) {
    size_t piece = std::min(bytes.size(), kPieceBytes);
    if (limiter != nullptr) {
      piece = std::min(piece, static_cast<size_t>(limiter->GetSingleBurstBytes()));
      limiter->Request(static_cast<int64_t>(piece), rocksdb::Env::IO_LOW, nullptr,
                       rocksdb::RateLimiter::OpType::kWrite);
    }
    status = file->Append({bytes.data(), piece}, rocksdb::IOOptions(), nullptr);
    bytes.remove_prefix(piece);
  }
  return status;
}

rocksdb::Status ReadExactly(const rocksdb::FSRandomAccessFile& file, uint64_t offset,
                            std::span<uint8_t> to) {
  rocksdb::Slice read;
  auto* const room = reinterpret_cast<char*>(to.data());
  rocksdb::Status status = file.Read(offset, to.size(), rocksdb::IOOptions(), &read, room, nullptr);
  if (!status.ok()) return status;
  if (read.size() != to.size()) return rocksdb::Status::Corruption("shorter than it was");
  if (read.data() != room) std::copy_n(read.data(), read.size(), room);
  return status;
}

/// Reads what there is of a header.
std::optional<SidecarHeader> ReadHeader(const rocksdb::FSRandomAccessFile& file,
                                        uint64_t file_bytes, uint64_t* header_bytes,
                                        uint32_t* checksum) {
  std::string start;
  for (uint64_t needed = kSidecarHeaderBytes; needed > start.size();) {
    if (needed > std::min(file_bytes, kMostHeaderBytes)) return std::nullopt;
    start.resize(static_cast<size_t>(needed));
    auto* const room = reinterpret_cast<uint8_t*>(start.data());
    if (!ReadExactly(file, 0, {room, start.size()}).ok()) return std::nullopt;
    auto header = DecodeSidecarHeader(AsBytes(start), file_bytes, &needed, checksum);
    *header_bytes = needed;
    if (header) return header;
  }
  return std::nullopt;
}

}  // namespace

rocksdb::Status WriteSidecar(const SstPlace& sst, const SidecarHeader& header,
                             std::string_view index, SidecarReference* reference) {
  const std::string path = SidecarPath(sst.path);
  const std::string start = EncodeSidecarHeader(header);
  const rocksdb::IOOptions io;
  // One that is there may be linked into a checkpoint, and must not be written into.
  sst.file_system->DeleteFile(path, io, nullptr).PermitUncheckedError();
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::Status status =
      sst.file_system->NewWritableFile(path, rocksdb::FileOptions(), &file, nullptr);
  if (!status.ok()) return status;
  status = Append(file.get(), sst.rate_limiter.get(), start);
  if (status.ok()) status = Append(file.get(), sst.rate_limiter.get(), index);
  if (status.ok()) status = file->Fsync(io, nullptr);
  const rocksdb::Status closed = file->Close(io, nullptr);
  if (status.ok()) status = closed;
  if (!status.ok()) {
    DeleteSidecar(sst.file_system.get(), sst.path);
    return status;
  }
  uint64_t needed_bytes = 0;
  reference->id = header.id;
  reference->file_bytes = start.size() + index.size();
  DecodeSidecarHeader(AsBytes(start), reference->file_bytes, &needed_bytes, &reference->checksum);
  return status;
}

std::unique_ptr<SidecarFile> SidecarFile::Open(const SstPlace& sst,
                                               const rocksdb::TableProperties& properties,
                                               std::string* problem, bool* is_missing) {
  const std::string path = SidecarPath(sst.path);
  std::unique_ptr<SidecarFile> sidecar(new SidecarFile);
  uint64_t file_bytes = 0;
  const auto fail = [&](std::string_view what) {
    *problem = "its file, " + path.substr(path.find_last_of('/') + 1) + ", " + std::string(what);
    return nullptr;
  };
  rocksdb::Status status =
      sst.file_system->GetFileSize(path, rocksdb::IOOptions(), &file_bytes, nullptr);
  if (status.ok()) {
    status = sst.file_system->NewRandomAccessFile(path, rocksdb::FileOptions(), &sidecar->file_,
                                                  nullptr);
  }
  *is_missing = status.IsNotFound() || status.IsPathNotFound();
  if (*is_missing) return fail("is missing");
  if (!status.ok()) return fail("cannot be opened: " + status.ToString());

  uint32_t checksum = 0;
  const auto header = ReadHeader(*sidecar->file_, file_bytes, &sidecar->index_offset_, &checksum);
  if (!header) return fail("is damaged or of another version");
  bool is_of_sst = false;
  if (header->origin == SidecarOrigin::kRebuilt) {
    is_of_sst = header->id == IdOfSst(properties);
  } else {
    const auto& user = properties.user_collected_properties;
    const auto named = user.find(kSidecarProperty);
    is_of_sst = named != user.end() && SidecarReference::Parse(named->second) ==
                                           SidecarReference{header->id, file_bytes, checksum};
  }
  if (!is_of_sst) return fail("belongs to another SST");
  sidecar->header_ = *header;
  return sidecar;
}

Status SidecarFile::Read(uint64_t offset, std::span<uint8_t> to) {
  const rocksdb::Status status = ReadExactly(*file_, index_offset_ + offset, to);
  if (status.ok()) return Status::Ok();
  return Status::Corruption("cannot be read: " + status.ToString());
}

void DeleteSidecar(rocksdb::FileSystem* file_system, std::string_view sst_path) {
  file_system->DeleteFile(SidecarPath(sst_path), rocksdb::IOOptions(), nullptr)
      .PermitUncheckedError();
}

}  // namespace blocksieve::rocksdb_plugin
