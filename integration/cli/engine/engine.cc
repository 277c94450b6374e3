#include "integration/cli/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

enum class Place { kMissing, kEmptyDirectory, kRocksDb, kToyLsm, kOther };

Place LookAt(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return Place::kMissing;
  if (error) term::Fail("cannot open database {}: {}", path, error.message());
  if (!std::filesystem::is_directory(status)) return Place::kOther;
  const std::filesystem::path directory(path);
  if (std::filesystem::exists(directory / "CURRENT", error)) return Place::kRocksDb;
  if (std::filesystem::exists(directory / "MANIFEST", error)) return Place::kToyLsm;
  const bool is_empty = !error && std::filesystem::is_empty(path, error);
  if (error) term::Fail("cannot open database {}: {}", path, error.message());
  return is_empty ? Place::kEmptyDirectory : Place::kOther;
}

const Engine& CheckName(const Engine& found, const std::string& path, const std::string& name) {
  if (!name.empty() && name != found.name()) {
    term::FailUsage("--engine {}: {} belongs to {}", name, path, found.name());
  }
  return found;
}

// The last bytes of a file.
std::string EndOf(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    term::Fail("{} is a directory; a database is given by --db {}", path, path);
  }
  // Opening a named pipe would wait for someone to write into it.
  if (std::filesystem::is_other(status)) term::Fail("{} is not a regular file", path);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size < 0) term::Fail("cannot open {}: {}", path, std::generic_category().message(errno));
  std::string end(static_cast<size_t>(std::min<std::streamoff>(size, Engine::kFileEndBytes)), 0);
  file.seekg(size - static_cast<std::streamoff>(end.size()));
  if (!file.read(end.data(), static_cast<std::streamsize>(end.size()))) {
    term::Fail("cannot read {}: {}", path, std::generic_category().message(errno));
  }
  return end;
}

}  // namespace

std::vector<Column> WithKeptColumns(std::vector<Column> wanted, const SkipIndexSummary& present,
                                    std::vector<std::string>* notes) {
  for (const Column& old : present.columns) {
    const auto same_name = std::find_if(wanted.begin(), wanted.end(), [&](const Column& column) {
      return column.name() == old.name();
    });
    if (same_name == wanted.end()) {
      wanted.push_back(old);
      notes->push_back(fmt::format("the database's index on the value's {} is kept", old.ToText()));
    } else if (!(*same_name == old)) {
      notes->push_back(fmt::format("the database's index on the value's {} is replaced by {}",
                                   old.ToText(), same_name->ToText()));
    }
  }
  for (const SkipIndexColumnUsage& usage : present.usage) {
    if (Column::Parse(usage.definition).ok()) continue;
    notes->push_back(fmt::format(
        "only its own program can write the index {}; new files will lack it", usage.definition));
  }
  return wanted;
}

const Engine& EngineOf(const std::string& path, const std::string& name) {
  switch (LookAt(path)) {
    case Place::kRocksDb:
      return CheckName(RocksDbEngine(), path, name);
    case Place::kToyLsm:
      return CheckName(ToyLsmEngine(), path, name);
    case Place::kMissing:
      term::Fail("there is no database {}", path);
    case Place::kEmptyDirectory:
    case Place::kOther:
      break;
  }
  term::Fail("{} is not a database: it has no file CURRENT (rocksdb) and no file MANIFEST (toylsm)",
             path);
}

const Engine& EngineOfFile(const std::string& path, const std::string& name) {
  const std::string end = EndOf(path);
  for (const Engine* const engine : {&RocksDbEngine(), &ToyLsmEngine()}) {
    if (engine->IsFile(AsBytes(end))) return CheckName(*engine, path, name);
  }
  term::Fail("{} is not a file of rocksdb or toylsm: its end is that of neither", path);
}

const Engine& EngineFor(const std::string& path, const std::string& name) {
  switch (LookAt(path)) {
    case Place::kMissing:
    case Place::kEmptyDirectory:
      return name == ToyLsmEngine().name() ? ToyLsmEngine() : RocksDbEngine();
    case Place::kOther:
      term::Fail("{} is neither a database nor an empty directory", path);
    case Place::kRocksDb:
    case Place::kToyLsm:
      break;
  }
  return EngineOf(path, name);
}

}  // namespace blocksieve::cli
