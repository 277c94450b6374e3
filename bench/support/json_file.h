#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/support/files.h"

namespace blocksieve::bench {

using Json = nlohmann::ordered_json;

/// Writes the results of a job. Names and keys of an input may be any bytes, and JSON must be
/// UTF-8: bytes that are not are replaced. Here, so that each program compiles JSON once.
inline void WriteJsonFile(const Json& document, const std::filesystem::path& dir,
                          const char* name) {
  WriteFile(document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", dir, name);
}

/// In a function to_json(Json& json, const T& object), which nlohmann-json finds in the namespace
/// of T only: members of `object` under their own names, and what its functions return, written
/// with their parentheses, under theirs. What is not a number becomes null.
#define BLOCKSIEVE_PUT(...) \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(BLOCKSIEVE_PUT_ONE, __VA_ARGS__))
#define BLOCKSIEVE_PUT_ONE(member) \
  json[std::string_view(#member).substr(0, std::string_view(#member).find('('))] = object.member;

}  // namespace blocksieve::bench
