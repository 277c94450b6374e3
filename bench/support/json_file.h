#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace blocksieve::bench {

/// Writes `document` into `dir`, created if missing, under `name`. Bytes that are not UTF-8 are
/// replaced. Returns the path. Throws Failure.
std::filesystem::path WriteJsonFile(const nlohmann::ordered_json& document,
                                    const std::filesystem::path& dir, const char* name);

}  // namespace blocksieve::bench
