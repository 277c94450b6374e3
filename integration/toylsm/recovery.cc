#include "integration/toylsm/recovery.h"

#include <utility>

#include "integration/toylsm/log.h"
#include "integration/toylsm/write_batch.h"

namespace blocksieve::toylsm {
namespace {

Status ReplayLog(Env* env, const std::string& path, Recovered* recovered) {
  const Result<bool> exists = env->Exists(path);
  if (!exists.ok()) return exists.status();
  if (!*exists) return Status::Corruption(path + " is missing");
  const Result<std::string> log = ReadWhole(env, path);
  if (!log.ok()) return log.status();
  Status status = ReadLog(AsBytes(*log), recovered->manifest.log_number,
                          [recovered](ByteView batch, Sequence first) -> Status {
                            if (first != recovered->last_sequence + 1)
                              return Status::Corruption("writes are missing");
                            BatchReader reader(batch, first);
                            while (reader.Next()) {
                              recovered->version->memtable->Add(reader.entry());
                              recovered->last_sequence = reader.entry().sequence;
                            }
                            if (recovered->last_sequence > kMaxSequence)
                              return Status::Corruption("more writes than there can be");
                            return reader.status();
                          });
  if (status.code() == StatusCode::kCorruption) {
    return Status::Corruption(path + ": " + status.message());
  }
  return status;
}

}  // namespace

Result<Recovered> ReadDirectory(Env* env, const std::string& directory,
                                const ReadContext& context) {
  const Result<std::string> bytes = ReadWhole(env, ManifestPath(directory));
  if (!bytes.ok()) return bytes.status();
  Result<Manifest> manifest = Manifest::Decode(AsBytes(*bytes));
  if (!manifest.ok()) return manifest.status();
  SstFiles files;
  for (const FileInfo& info : manifest->files) {
    auto file = SstReader::Open(env, SstPath(directory, info.number), info, context);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  Result<std::vector<Run>> runs = Version::MakeRuns(std::move(files));
  if (!runs.ok()) return runs.status();
  Recovered recovered;
  recovered.manifest = *std::move(manifest);
  recovered.version =
      std::make_shared<Version>(Version{std::make_shared<Memtable>(), *std::move(runs)});
  recovered.last_sequence = recovered.manifest.last_sequence;
  const Status replayed =
      ReplayLog(env, LogPath(directory, recovered.manifest.log_number), &recovered);
  if (!replayed.ok()) return replayed;
  return recovered;
}

}  // namespace blocksieve::toylsm
