#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/support/files.h"

namespace blocksieve::bench {

using Json = nlohmann::ordered_json;

/// Writes the results of a job. Names and keys of an input may be any bytes, and JSON must be
/// UTF-8: bytes that are not are replaced. Here, so that each program compiles JSON once.
inline void WriteJsonFile(const Json& document, const std::filesystem::path& dir,
                          const char* name) {
  WriteFile(document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", dir, name);
}

}  // namespace blocksieve::bench
