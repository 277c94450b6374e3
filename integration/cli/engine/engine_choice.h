#pragma once

#include <string>

#include "integration/cli/engine/engine.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace blocksieve::cli {

/// The option --engine; `*name` stays empty if it is not given.
CLI::Option* AddEngineOption(CLI::App* command, std::string* name, const std::string& help);

/// The engine of the database that is there.
/// Throws UsageError if another one is named; Failure if there is no database, or it cannot be
/// looked at.
const Engine& EngineOf(const std::string& path, const std::string& name);

/// The engine of a single file. Throws as above.
const Engine& EngineOfFile(const std::string& path, const std::string& name);

/// The same as EngineOf, but where nothing is yet: the engine that is named, by default rocksdb.
const Engine& EngineFor(const std::string& path, const std::string& name);

}  // namespace blocksieve::cli
