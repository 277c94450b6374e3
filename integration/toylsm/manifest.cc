#include "integration/toylsm/manifest.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "lib/base/coding.h"
#include "lib/hash/checksum.h"

namespace blocksieve::toylsm {
namespace {

constexpr uint32_t kMagic = 0x6e616db5;  // B5 "man"
constexpr uint32_t kVersion = 1;

std::string NumberedPath(const std::string& directory, uint64_t number, const char* suffix) {
  char name[32];
  std::snprintf(name, sizeof(name), "/%06llu.%s", static_cast<unsigned long long>(number), suffix);
  return directory + name;
}

bool IsNumbered(std::string_view name, std::string_view suffix) {
  const size_t num_digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return num_digits >= 6 && name.substr(num_digits) == suffix;
}

}  // namespace

std::string Manifest::Encode() const {
  std::string out;
  AppendLittleEndian(&out, kMagic);
  AppendLittleEndian(&out, kVersion);
  AppendVarint(&out, next_file_number);
  AppendVarint(&out, last_sequence);
  AppendVarint(&out, log_number);
  AppendVarint(&out, files.size());
  for (const FileInfo& file : files) {
    AppendVarint(&out, file.number);
    AppendVarint(&out, static_cast<uint64_t>(file.level));
    AppendVarint(&out, file.num_bytes);
  }
  AppendLittleEndian(&out, Checksum(AsBytes(out)));
  return out;
}

Result<Manifest> Manifest::Decode(ByteView bytes) {
  if (bytes.size() < 12) return Status::Corruption("MANIFEST is cut off");
  const ByteView covered = bytes.first(bytes.size() - 4);
  if (Checksum(covered) != LoadLittleEndian<uint32_t>(bytes.data() + covered.size())) {
    return Status::Corruption("MANIFEST is damaged: checksum");
  }
  Decoder decoder(covered);
  if (decoder.Fixed<uint32_t>() != kMagic) return Status::Corruption("MANIFEST is no manifest");
  const auto version = decoder.Fixed<uint32_t>();
  if (version != kVersion) {
    return Status::NotSupported("MANIFEST of version " + std::to_string(version));
  }
  Manifest manifest;
  manifest.next_file_number = decoder.Varint();
  manifest.last_sequence = decoder.Varint();
  manifest.log_number = decoder.Varint();
  std::set<uint64_t> numbers = {manifest.log_number};
  const uint64_t num_files = decoder.Varint();
  for (uint64_t i = 0; i < num_files && decoder.ok(); ++i) {
    FileInfo& file = manifest.files.emplace_back();
    file.number = decoder.Varint();
    const uint64_t level = decoder.Varint();
    file.num_bytes = decoder.Varint();
    if (level >= kNumLevels) return Status::Corruption("MANIFEST is damaged: level");
    file.level = static_cast<int>(level);
    // A compaction would remove the one, and with it the other.
    const bool is_new = numbers.insert(file.number).second;
    if (!is_new && decoder.ok()) return Status::Corruption("MANIFEST is damaged: a file twice");
  }
  if (!decoder.ok() || !decoder.rest().empty()) return Status::Corruption("MANIFEST is damaged");
  // A new file would replace one that there is.
  if (*numbers.rbegin() >= manifest.next_file_number) {
    return Status::Corruption("MANIFEST is damaged: next file number");
  }
  if (manifest.last_sequence > kMaxSequence) {
    return Status::Corruption("MANIFEST is damaged: last sequence");
  }
  return manifest;
}

Status Manifest::Write(Env* env, const std::string& directory) const {
  const std::string path = ManifestPath(directory);
  const std::string temporary = TemporaryManifestPath(directory);
  const Result<std::unique_ptr<WritableFile>> file = env->NewWritableFile(temporary);
  if (!file.ok()) return file.status();
  Status status = (*file)->Append(Encode());
  if (status.ok()) status = (*file)->Sync();
  // The files that it names have to be there before it is.
  if (status.ok()) status = env->SyncDirectory(directory);
  if (status.ok()) status = env->Rename(temporary, path);
  if (status.ok()) status = env->SyncDirectory(directory);
  return status;
}

std::string ManifestPath(const std::string& directory) { return directory + "/MANIFEST"; }
std::string TemporaryManifestPath(const std::string& directory) {
  return ManifestPath(directory) + ".tmp";
}
std::string LogPath(const std::string& directory, uint64_t number) {
  return NumberedPath(directory, number, "log");
}
std::string SstPath(const std::string& directory, uint64_t number) {
  return NumberedPath(directory, number, "sst");
}

bool IsLogName(std::string_view name) { return IsNumbered(name, ".log"); }
bool IsSstName(std::string_view name) { return IsNumbered(name, ".sst"); }

}  // namespace blocksieve::toylsm
