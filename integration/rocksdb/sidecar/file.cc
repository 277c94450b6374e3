#include "integration/rocksdb/sidecar/file.h"

#include <algorithm>

#include "blocksieve/bytes.h"
#include "lib/base/coding.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// The identity has a line for each column, at most 256.
constexpr uint64_t kMaxHeaderBytes = 1 << 20;

/// Nobody sees a partial file under its name, and links to the previous file keep its contents.
rocksdb::Status WriteAndRename(rocksdb::FileSystem* file_system, const std::string& path,
                               rocksdb::RateLimiter* limiter, const std::string& bytes) {
  for (auto left = static_cast<int64_t>(bytes.size()); limiter != nullptr && left > 0;) {
    const int64_t piece = std::min(left, limiter->GetSingleBurstBytes());
    limiter->Request(piece, rocksdb::Env::IO_LOW, nullptr, rocksdb::RateLimiter::OpType::kWrite);
    left -= piece;
  }
  const rocksdb::IOOptions io;
  const std::string temporary = path + std::string(kTemporarySuffix);
  rocksdb::Status status =
      rocksdb::WriteStringToFile(file_system, bytes, temporary, /*should_sync=*/true);
  if (status.ok()) status = file_system->RenameFile(temporary, path, io, nullptr);
  if (!status.ok()) file_system->DeleteFile(temporary, io, nullptr).PermitUncheckedError();
  return status;
}

rocksdb::Status ReadExactly(const rocksdb::FSRandomAccessFile& file, uint64_t offset,
                            std::span<uint8_t> to) {
  rocksdb::Slice read;
  auto* const room = reinterpret_cast<char*>(to.data());
  rocksdb::Status status = file.Read(offset, to.size(), rocksdb::IOOptions(), &read, room, nullptr);
  if (!status.ok()) return status;
  if (read.size() != to.size()) return rocksdb::Status::Corruption("file was truncated");
  if (read.data() != room) std::copy_n(read.data(), read.size(), room);
  return status;
}

std::string Complaint(const std::string& path, const std::string& what) {
  return "sidecar " + path.substr(path.find_last_of('/') + 1) + " " + what;
}

/// Reads the header, in two steps if it has an identity. Nothing if it is damaged or truncated.
std::optional<SidecarHeader> ReadHeader(const rocksdb::FSRandomAccessFile& file,
                                        uint64_t file_bytes, uint64_t* header_bytes,
                                        uint32_t* checksum) {
  std::string start;
  for (uint64_t needed = kSidecarHeaderBytes; needed > start.size();) {
    if (needed > std::min(file_bytes, kMaxHeaderBytes)) return std::nullopt;
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
                             std::string_view index, std::string* reference) {
  const std::string start = EncodeSidecarHeader(header);
  const uint64_t file_bytes = start.size() + index.size();
  const auto* const end = AsBytes(start).data() + kSidecarHeaderBytes;
  *reference =
      SidecarReference(header.id, file_bytes, LoadLittleEndian<uint32_t>(end - sizeof(uint32_t)));
  return WriteAndRename(sst.file_system.get(), SidecarPath(sst.path), sst.rate_limiter.get(),
                        start + std::string(index));
}

rocksdb::Status LinkOrCopySidecar(rocksdb::FileSystem* file_system, const std::string& from,
                                  const std::string& to) {
  const rocksdb::IOOptions io;
  file_system->DeleteFile(to, io, nullptr).PermitUncheckedError();
  if (file_system->LinkFile(from, to, io, nullptr).ok()) return rocksdb::Status::OK();
  // The target is on another disk, or the file system has no links.
  std::string bytes;
  rocksdb::Status status = rocksdb::ReadFileToString(file_system, from, &bytes);
  return status.ok() ? WriteAndRename(file_system, to, nullptr, bytes) : status;
}

std::unique_ptr<SidecarFile> SidecarFile::OpenAny(rocksdb::FileSystem* file_system,
                                                  const std::string& path, std::string* problem,
                                                  bool* is_missing) {
  std::unique_ptr<SidecarFile> sidecar(new SidecarFile);
  uint64_t file_bytes = 0;
  const auto fail = [&](const std::string& what) {
    if (problem != nullptr) *problem = Complaint(path, what);
    return nullptr;
  };
  rocksdb::Status status =
      file_system->GetFileSize(path, rocksdb::IOOptions(), &file_bytes, nullptr);
  if (status.ok()) {
    status =
        file_system->NewRandomAccessFile(path, rocksdb::FileOptions(), &sidecar->file_, nullptr);
  }
  const bool not_found = status.IsNotFound() || status.IsPathNotFound();
  if (is_missing != nullptr) *is_missing = not_found;
  if (not_found) return fail("is missing");
  if (!status.ok()) return fail("cannot be opened: " + status.ToString());
  const auto header =
      ReadHeader(*sidecar->file_, file_bytes, &sidecar->index_offset_, &sidecar->checksum_);
  if (!header) return fail("is damaged or has another version");
  sidecar->header_ = *header;
  return sidecar;
}

std::unique_ptr<SidecarFile> SidecarFile::Open(const SstPlace& sst,
                                               const rocksdb::TableProperties& properties,
                                               std::string* problem, bool* is_missing) {
  const std::string path = SidecarPath(sst.path);
  auto sidecar = OpenAny(sst.file_system.get(), path, problem, is_missing);
  if (sidecar == nullptr || sidecar->BelongsTo(properties)) return sidecar;
  if (problem != nullptr) *problem = Complaint(path, "belongs to another SST");
  return nullptr;
}

bool SidecarFile::BelongsTo(const rocksdb::TableProperties& properties) const {
  if (header_.is_rebuilt) return header_.id == IdOfSst(properties);
  const auto named = properties.user_collected_properties.find(kSidecarProperty);
  return named != properties.user_collected_properties.end() &&
         named->second ==
             SidecarReference(header_.id, index_offset_ + header_.index_bytes, checksum_);
}

Status SidecarFile::Read(uint64_t offset, std::span<uint8_t> to) {
  const rocksdb::Status status = ReadExactly(*file_, index_offset_ + offset, to);
  if (status.ok()) return Status::Ok();
  return Status::Corruption("cannot be read: " + status.ToString());
}

bool FileExists(rocksdb::FileSystem* file_system, const std::string& path) {
  return file_system->FileExists(path, rocksdb::IOOptions(), nullptr).ok();
}

void DeleteSidecar(rocksdb::FileSystem* file_system, std::string_view sst_path) {
  file_system->DeleteFile(SidecarPath(sst_path), rocksdb::IOOptions(), nullptr)
      .PermitUncheckedError();
}

}  // namespace blocksieve::rocksdb_plugin
