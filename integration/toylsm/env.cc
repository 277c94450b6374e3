#include "integration/toylsm/env.h"

#include <system_error>

namespace blocksieve::toylsm {

Result<std::string> ReadExactly(const ReadableFile& file, uint64_t offset, uint64_t size) {
  // Before memory is allocated: sizes come from files, and may be damaged.
  if (offset > file.size() || size > file.size() - offset) {
    return Status::Corruption("file of " + std::to_string(file.size()) + " bytes ends before " +
                              std::to_string(offset) + " + " + std::to_string(size));
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  const std::span<uint8_t> buffer(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
  for (size_t done = 0; done < buffer.size();) {
    const Result<size_t> read = file.Read(offset + done, buffer.subspan(done));
    if (!read.ok()) return read.status();
    if (*read == 0) return Status::Corruption("file has become shorter");
    done += *read;
  }
  return bytes;
}

Result<std::string> ReadWhole(Env* env, const std::string& path) {
  const Result<std::unique_ptr<ReadableFile>> file = env->OpenFile(path);
  if (!file.ok()) return file.status();
  return ReadExactly(**file, 0, (*file)->size());
}

Status IoError(std::string_view operation, const std::string& path, int error_number) {
  return Status::ResourceExhausted(std::string(operation) + " " + path + ": " +
                                   std::generic_category().message(error_number));
}

}  // namespace blocksieve::toylsm
