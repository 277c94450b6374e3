#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

// Options that several subcommands have, and checks that say what is allowed.

namespace blocksieve::cli {

enum class OutputFormat { kText, kJson };

/// The option --format text|json.
CLI::Option* AddFormatOption(CLI::App* command, OutputFormat* format);

/// A check for CLI::Option: a number from `low` to `high`. CLI::Range would let NaN pass, take -1
/// for a large unsigned number, and put its limits into the middle of the help.
template <class T>
auto InRange(T low, T high) {
  return [low, high](const std::string& text) -> std::string {
    T value = {};
    const bool wraps = std::is_unsigned_v<T> && text.starts_with('-');
    if (!wraps && CLI::detail::lexical_cast(text, value) && value >= low && value <= high)
      return "";
    return fmt::format("{} is not in the range {} to {}{}", text, low, high,
                       std::is_integral_v<T> ? " of whole numbers" : "");
  };
}

/// For CLI::Option::transform: whole numbers of bytes, also as 10kB or 64MiB, from `low` to `high`.
CLI::Validator BytesInRange(uint64_t low, uint64_t high);

/// InRange of what ChooseLayout accepts.
std::string CheckTargetFpr(const std::string& text);

}  // namespace blocksieve::cli
