#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace blocksieve::cli {

/// Whether the bytes are well-formed UTF-8, as JSON texts must be (Unicode 15, table 3-7).
bool IsUtf8(std::string_view bytes);

/// Two lower-case hexadecimal digits per byte.
std::string ToHex(std::string_view bytes);

/// Sets the member `name`, or if the bytes are no UTF-8, `name`_hex.
void SetBytes(nlohmann::ordered_json* object, const std::string& name, std::string_view bytes);

}  // namespace blocksieve::cli
