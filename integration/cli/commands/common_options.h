#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

// Options that several subcommands have, and checks that say what is allowed.

namespace blocksieve::cli {

enum class OutputFormat { kText, kJson };

/// The option --format text|json.
CLI::Option* AddFormatOption(CLI::App* command, OutputFormat* format);

/// Digits, of which the first is no zero unless it is the only one.
bool IsPlainDecimal(std::string_view text);

/// A check for CLI::Option: a number from `low` to `high`. CLI::Range would let NaN pass, and put
/// its limits into the middle of the help. CLI11 takes -1 for a large unsigned number, and 010 for
/// eight: only digits are allowed in whole numbers, which are not negative, and no zero before
/// them.
template <class T>
auto InRange(T low, T high) {
  static_assert(std::is_unsigned_v<T> || std::is_floating_point_v<T>);
  return [low, high](const std::string& text) -> std::string {
    T value = {};
    const bool is_plain = std::is_floating_point_v<T> || IsPlainDecimal(text);
    if (is_plain && CLI::detail::lexical_cast(text, value) && value >= low && value <= high)
      return "";
    return fmt::format("{} is not in the range {} to {}{}", text, low, high,
                       std::is_integral_v<T> ? " of whole numbers without leading zeros" : "");
  };
}

/// For CLI::Option::transform: whole numbers of bytes, also as 10kB or 64MiB, from `low` to `high`.
/// REQUIRES: low >= 1
CLI::Validator BytesInRange(uint64_t low, uint64_t high);

/// InRange of what ChooseLayout accepts.
std::string CheckTargetFpr(const std::string& text);

}  // namespace blocksieve::cli
