// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/sidecar/file.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <random>

#include "lib/base/altered_answers.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr std::array<uint8_t, 4> kMagic = {0xb5, 's', 'i', 'd'};
constexpr uint8_t kVersion = 1;
constexpr size_t kChecksumAt = kSidecarHeaderBytes - sizeof(uint32_t);

// The checksum of the header without the checksum field.
uint32_t ComputeChecksum(ByteView header) {
  std::string rest(AsText(header.first(kChecksumAt)));
  rest += AsText(header.subspan(kSidecarHeaderBytes));
  return Checksum(AsBytes(rest));
}

// The identity has a line for each column, at most 256.
constexpr uint64_t kMaxHeaderBytes = 1 << 20;

/// Nobody sees a partial file under its name, and links to the previous file keep its contents.
rocksdb::Status WriteAndRename(rocksdb::FileSystem* file_system, const std::string& path,
                               const std::string& bytes) {
  const rocksdb::IOOptions io;
  const std::string temporary = path + std::string(kTemporarySuffix);
  rocksdb::Status status =
      rocksdb::WriteStringToFile(file_system, bytes, temporary, /*should_sync=*/true);
  if (internal::FailsAt("write_sidecar")) status = rocksdb::Status::NoSpace();
  if (internal::FailsAt("rename_sidecar")) status = rocksdb::Status::IOError();
  if (status.ok()) status = file_system->RenameFile(temporary, path, io, nullptr);
  if (!status.ok()) file_system->DeleteFile(temporary, io, nullptr).PermitUncheckedError();
  return status;
}

rocksdb::Status ReadExactly(const rocksdb::FSRandomAccessFile& file, uint64_t offset,
                            std::span<uint8_t> to) {
  rocksdb::Slice read;
  auto* const room = reinterpret_cast<char*>(to.data());
  BLOCKSIEVE_RETURN_IF_ERROR(
      file.Read(offset, to.size(), rocksdb::IOOptions(), &read, room, nullptr));
  if (read.size() != to.size()) return rocksdb::Status::Corruption("file was truncated");
  if (read.data() != room) std::copy_n(read.data(), read.size(), room);
  return rocksdb::Status::OK();
}

std::string Complaint(const std::string& path, const std::string& what) {
  return "sidecar " + path.substr(path.find_last_of('/') + 1) + " " + what;
}

/// Reads the header, in two steps if it has an identity. Nothing if it is damaged or truncated.
std::optional<SidecarHeader> ReadHeader(const rocksdb::FSRandomAccessFile& file,
                                        uint64_t file_bytes, uint64_t* header_bytes) {
  std::string start;
  for (uint64_t needed = kSidecarHeaderBytes; needed > start.size();) {
    if (needed > std::min(file_bytes, kMaxHeaderBytes)) return std::nullopt;
    start.resize(static_cast<size_t>(needed));
    auto* const room = reinterpret_cast<uint8_t*>(start.data());
    if (!ReadExactly(file, 0, {room, start.size()}).ok()) return std::nullopt;
    auto header = DecodeSidecarHeader(AsBytes(start), file_bytes, &needed);
    *header_bytes = needed;
    if (header) return header;
  }
  return std::nullopt;
}

}  // namespace

std::string EncodeSidecarHeader(const SidecarHeader& header) {
  std::string out(kMagic.begin(), kMagic.end());
  out.push_back(static_cast<char>(kVersion));
  out.push_back(static_cast<char>(header.is_rebuilt));
  out += std::string(2, '\0');
  for (const uint64_t half : header.id) AppendLittleEndian(&out, half);
  AppendLittleEndian(&out, header.value_suffix_bytes);
  AppendLittleEndian(&out, static_cast<uint32_t>(header.identity.size()));
  AppendLittleEndian(&out, header.index_bytes);
  AppendLittleEndian(&out, uint32_t{0});
  out.resize(kSidecarHeaderBytes);
  out += header.identity;
  StoreLittleEndian(reinterpret_cast<uint8_t*>(out.data()) + kChecksumAt,
                    ComputeChecksum(AsBytes(out)));
  return out;
}

std::optional<SidecarHeader> DecodeSidecarHeader(ByteView start, uint64_t file_bytes,
                                                 uint64_t* needed_bytes) {
  *needed_bytes = kSidecarHeaderBytes;
  Decoder from(start);
  for (const uint8_t byte : kMagic) {
    if (from.Fixed<uint8_t>() != byte) return std::nullopt;
  }
  if (from.Fixed<uint8_t>() != kVersion) return std::nullopt;
  SidecarHeader header;
  const auto origin = from.Fixed<uint8_t>();
  const auto zeros = from.Fixed<uint16_t>();
  for (uint64_t& half : header.id) half = from.Fixed<uint64_t>();
  header.value_suffix_bytes = from.Fixed<uint32_t>();
  const auto identity_bytes = from.Fixed<uint32_t>();
  header.index_bytes = from.Fixed<uint64_t>();
  const auto more_zeros = from.Fixed<uint32_t>();
  const auto checksum = from.Fixed<uint32_t>();
  if (!from.ok()) return std::nullopt;
  *needed_bytes = kSidecarHeaderBytes + identity_bytes;
  header.identity = AsText(from.Bytes(identity_bytes));
  if (!from.ok() || checksum != ComputeChecksum(start.first(static_cast<size_t>(*needed_bytes))) ||
      file_bytes < *needed_bytes || file_bytes - *needed_bytes != header.index_bytes ||
      origin > 1 || zeros != 0 || more_zeros != 0) {
    return std::nullopt;
  }
  header.is_rebuilt = origin != 0;
  return header;
}

std::string ToHex(const SidecarId& id) {
  char digits[33];
  std::snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
  return digits;
}

std::string SidecarPath(std::string_view sst_path) {
  return std::filesystem::path(sst_path).replace_extension(kSidecarSuffix).string();
}

SidecarId NewSidecarId() {
  std::random_device random;
  SidecarId id;
  for (uint64_t& half : id) half = uint64_t{random()} << 32 | random();
  return id;
}

std::optional<SidecarId> IdOfSst(const rocksdb::TableProperties& properties) {
  if (properties.db_session_id.empty() || properties.orig_file_number == 0) return std::nullopt;
  std::string facts = properties.db_id + '\n' + properties.db_session_id + '\n';
  for (const uint64_t fact :
       {properties.orig_file_number, properties.num_entries, properties.raw_key_size,
        properties.raw_value_size, properties.data_size, properties.num_data_blocks,
        properties.creation_time}) {
    AppendLittleEndian(&facts, fact);
  }
  return SidecarId{WideChecksum(AsBytes(facts), 0), WideChecksum(AsBytes(facts), 1)};
}

rocksdb::Status WriteSidecar(const SstPlace& sst, const SidecarHeader& header,
                             std::string_view index) {
  return WriteAndRename(sst.file_system.get(), SidecarPath(sst.path),
                        EncodeSidecarHeader(header) + std::string(index));
}

rocksdb::Status LinkOrCopySidecar(rocksdb::FileSystem* file_system, const std::string& from,
                                  const std::string& to) {
  const rocksdb::IOOptions io;
  file_system->DeleteFile(to, io, nullptr).PermitUncheckedError();
  if (file_system->LinkFile(from, to, io, nullptr).ok()) return rocksdb::Status::OK();
  // The target is on another disk, or the file system has no links.
  std::string bytes;
  rocksdb::Status status = rocksdb::ReadFileToString(file_system, from, &bytes);
  return status.ok() ? WriteAndRename(file_system, to, bytes) : status;
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
  const auto header = ReadHeader(*sidecar->file_, file_bytes, &sidecar->index_offset_);
  if (!header) return fail("is damaged or has another version");
  sidecar->header_ = *header;
  return sidecar;
}

std::unique_ptr<SidecarFile> SidecarFile::Open(const SstPlace& sst,
                                               const rocksdb::TableProperties& properties,
                                               std::string* problem, bool* is_missing) {
  const std::string path = SidecarPath(sst.path);
  auto sidecar = OpenAny(sst.file_system.get(), path, problem, is_missing);
  if (sidecar == nullptr) return nullptr;
  const auto& user = properties.user_collected_properties;
  const auto named = user.find(kSidecarProperty);
  const bool belongs = sidecar->header_.is_rebuilt
                           ? sidecar->header_.id == IdOfSst(properties)
                           : named != user.end() && named->second == ToHex(sidecar->header_.id);
  if (belongs) return sidecar;
  if (problem != nullptr) *problem = Complaint(path, "belongs to another SST");
  return nullptr;
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
