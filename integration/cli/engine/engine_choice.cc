#include "integration/cli/engine/engine_choice.h"

#include <CLI/CLI.hpp>
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
    term::FailUsage("--engine {}: {} is of {}", name, path, found.name());
  }
  return found;
}

// The last bytes of a file.
std::string EndOf(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    term::Fail("{} is a directory; if it is a database, it is asked for by --db {}", path, path);
  }
  // Opening a named pipe would wait for whoever writes into it.
  if (std::filesystem::is_other(status)) term::Fail("{} is no regular file", path);
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

CLI::Option* AddEngineOption(CLI::App* command, std::string* name, const std::string& help) {
  return command->add_option("--engine", *name, help)
      ->type_name("rocksdb|toylsm")
      ->check([](const std::string& text) {
        if (text == RocksDbEngine().name() || text == ToyLsmEngine().name()) return std::string();
        return "'" + text + "' is unknown; allowed are rocksdb and toylsm";
      });
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
  term::Fail("{} is no database: it has no file CURRENT (rocksdb) and no file MANIFEST (toylsm)",
             path);
}

const Engine& EngineOfFile(const std::string& path, const std::string& name) {
  const std::string end = EndOf(path);
  for (const Engine* const engine : {&RocksDbEngine(), &ToyLsmEngine()}) {
    if (engine->IsFile(AsBytes(end))) return CheckName(*engine, path, name);
  }
  term::Fail("{} is no file of rocksdb or toylsm: its end is of neither", path);
}

const Engine& EngineFor(const std::string& path, const std::string& name) {
  switch (LookAt(path)) {
    case Place::kMissing:
    case Place::kEmptyDirectory:
      return name == ToyLsmEngine().name() ? ToyLsmEngine() : RocksDbEngine();
    case Place::kOther:
      term::Fail("{} is no database, and not an empty directory either", path);
    case Place::kRocksDb:
    case Place::kToyLsm:
      break;
  }
  return EngineOf(path, name);
}

}  // namespace blocksieve::cli
