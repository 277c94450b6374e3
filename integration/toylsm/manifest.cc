// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/manifest.h"

#include <cstdio>

#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::toylsm {
namespace {

constexpr uint32_t kMagic = 0x346e6db5;  // B5 "mn4"; another version is another number

}  // namespace

std::string Manifest::Encode() const {
  std::string out;
  AppendLittleEndian(&out, kMagic);
  AppendVarint(&out, next_file_number);
  AppendVarint(&out, log_number);
  AppendVarint(&out, files.size());
  for (const FileInfo& file : files) {
    AppendVarint(&out, file.number);
    AppendVarint(&out, static_cast<uint64_t>(file.level));
    AppendHandle(&out, file.index);
  }
  AppendLittleEndian(&out, Checksum(AsBytes(out)));
  return out;
}

Result<Manifest> Manifest::Decode(ByteView bytes) {
  const Status damaged = Status::Corruption("MANIFEST is damaged or has another version");
  if (bytes.size() < sizeof(uint32_t)) return damaged;
  const ByteView covered = bytes.first(bytes.size() - sizeof(uint32_t));
  const auto checksum = LoadLittleEndian<uint32_t>(bytes.data() + covered.size());
  Decoder decoder(covered);
  if (Checksum(covered) != checksum || decoder.Fixed<uint32_t>() != kMagic) return damaged;
  Manifest manifest;
  manifest.next_file_number = decoder.Varint();
  manifest.log_number = decoder.Varint();
  const uint64_t num_files = decoder.Varint();
  for (uint64_t i = 0; i < num_files && decoder.ok(); ++i) {
    FileInfo& file = manifest.files.emplace_back();
    file.number = decoder.Varint();
    const uint64_t level = decoder.Varint();
    file.index = ReadHandle(&decoder);
    if (level >= kNumLevels) return damaged;
    file.level = static_cast<int>(level);
  }
  if (!decoder.ok()) return damaged;
  return manifest;
}

Status Manifest::Write(Env* env, const std::string& directory) const {
  const std::string path = directory + "/" + kManifestName;
  const std::string temporary = path + ".tmp";
  BLOCKSIEVE_ASSIGN_OR_RETURN(const auto file, env->NewWritableFile(temporary));
  BLOCKSIEVE_RETURN_IF_ERROR(file->Append(Encode()));
  BLOCKSIEVE_RETURN_IF_ERROR(file->Sync());
  // The files that it names must exist before it does.
  BLOCKSIEVE_RETURN_IF_ERROR(env->SyncDirectory(directory));
  BLOCKSIEVE_RETURN_IF_ERROR(env->Rename(temporary, path));
  return env->SyncDirectory(directory);
}

std::string FilePath(const std::string& directory, uint64_t number, const char* suffix) {
  char name[32];
  std::snprintf(name, sizeof(name), "/%06llu%s", static_cast<unsigned long long>(number), suffix);
  return directory + name;
}

}  // namespace blocksieve::toylsm
