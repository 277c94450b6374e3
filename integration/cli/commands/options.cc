// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/commands/options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <regex>

#include "integration/rocksdb/options/loaded_options.h"

namespace blocksieve::cli {
namespace {

// Integer, fraction, exponent, or unit and bytes.
const std::regex& WholePattern() {
  static const std::regex pattern(R"((0|[1-9]\d*)(\.\d+)?(?:e(\d\d?)|([kMGTP]?)(i?B)?)?)",
                                  std::regex::ECMAScript | std::regex::icase);
  return pattern;
}

// Parses "1e6", "1.5M" and "20k", or as a size also "10kB" and "64MiB", where k is 1000 as in kB.
// nullopt if it is no whole number, or exceeds 64 bits or, with a unit, 2^53.
std::optional<uint64_t> ParseWhole(const std::string& text, bool is_size) {
  std::smatch parts;
  if (!std::regex_match(text, parts, WholePattern()) || (parts[5].matched && !is_size)) {
    return std::nullopt;
  }
  uint64_t whole = 0;
  const std::string digits = parts[1];
  if (digits == text) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), whole);
    return result.ec == std::errc() ? std::optional(whole) : std::nullopt;
  }
  constexpr std::string_view kUnits = "kmgtp";
  const char unit =
      parts[4].length() == 0 ? '\0' : static_cast<char>(std::tolower(*parts[4].first));
  const size_t thousands = unit == '\0' ? 0 : kUnits.find(unit) + 1;
  const bool is_binary = parts[5].length() == 2;
  const std::string exponent =
      parts[3].matched ? parts[3].str() : std::to_string(is_binary ? 0 : 3 * thousands);
  const double number = std::stod(digits + parts[2].str() + "e" + exponent) *
                        (is_binary ? std::exp2(10 * thousands) : 1);
  if (number != std::floor(number) || number > 0x1p53) return std::nullopt;
  return static_cast<uint64_t>(number);
}

// Texts without a visible end are quoted.
std::string Refusal(const std::string& text, const std::string& allowed, bool is_number = true) {
  const bool is_plain = !text.empty() && text.find(' ') == std::string::npos;
  const std::string shown = term::Shorten(text);
  return fmt::format("{}{}; allowed: {}", is_plain ? shown : "'" + shown + "'",
                     is_number ? "" : ", not a number", allowed);
}

bool IsNumber(const std::string& text) {
  double ignored = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, ignored);
  return (error != std::errc::invalid_argument && rest == end) ||
         std::regex_match(text, WholePattern());
}

// Rewrites the text to digits.
Check Whole(uint64_t low, uint64_t high, bool is_size, const char* also) {
  return [=](std::string& text) {
    const std::optional<uint64_t> number = ParseWhole(text, is_size);
    if (!number || *number < low || *number > high) {
      return Refusal(text, fmt::format("{} to {}{}", low, high, also), IsNumber(text));
    }
    text = std::to_string(*number);
    return std::string();
  };
}

}  // namespace

void AddOption(CLI::App* command, OptionValue value, const std::string& name,
               const std::string& description, const Check& check, bool is_required) {
  if (bool** const flag = std::get_if<bool*>(&value)) {
    command->add_flag(name, **flag, description);
    return;
  }
  const size_t blank = std::min(name.find(' '), name.size());
  const std::string shown = name.substr(std::min(blank + 1, name.size()));
  CLI::Option* const option = std::visit(
      [&](auto* set) { return command->add_option(name.substr(0, blank), *set, description); },
      value);
  option->type_name(shown)->required(is_required);
  if (check) option->transform(CLI::Validator(check, ""));
  const std::string& type = shown.empty() ? name : shown;
  // An empty text would count as not given, which means all column families.
  const bool is_path = type == "DIR" || type == "FILE";
  const Check given = [is_path](const std::string& text) {
    return text.empty() ? Refusal(text, is_path ? "a path" : "a name") : "";
  };
  if (is_path || type == "NAME" || type == "POLICY") option->transform(CLI::Validator(given, ""));
  // Otherwise a repeatable option would take the positional arguments that follow it.
  if (name[0] == '-') option->allow_extra_args(false);
}

void AddFormatOption(CLI::App* command, std::string* format, const std::string& words) {
  AddOption(command, format, "--format " + words, "output format (default text)", OneOf(words));
}

void AddDropOption(CLI::App* command, Target* target) {
  AddOption(command, &target->drops_properties, "--drop-properties",
            "write files without the properties of collectors that only the program has");
}

void AddTargetOptions(CLI::App* command, TargetOptions* options, Subject subject,
                      const char* formats, std::vector<std::string>* families) {
  Target& target = options->target;
  AddOption(command, &target.path, "--db DIR", "the directory of the database", nullptr,
            subject == Subject::kDatabase || subject == Subject::kFamily);
  AddOption(command, &target.wal_dir, "--wal-dir DIR",
            "the directory that has the WAL of this database; none: its own");
  AddOption(command, &target.data_dirs, "--data-dir DIR",
            "a directory of DBOptions::db_paths; all of them, in their order");
  const bool may_be_file = subject == Subject::kDatabaseOrFile;
  if (may_be_file) {
    AddOption(command, &target.file, "FILE", "a single SST file, instead of a database");
  }
  if (subject == Subject::kFamily) target.family = "default";
  AddOption(command, families == nullptr ? OptionValue(&target.family) : families,
            "--column-family NAME",
            subject == Subject::kFamily ? "the column family (default default)"
            : families == nullptr       ? "only this column family (default all)"
                                        : "only this column family (default all); repeatable");
  if (may_be_file) Exclude(command, "FILE", {"--column-family"});
  if (formats != nullptr) AddFormatOption(command, &options->format, formats);
}

void AddRateOption(CLI::App* command, uint64_t* bytes_per_second, const char* verb) {
  constexpr uint64_t kMaxBytesPerSecond = uint64_t{1} << 40;
  AddOption(command, bytes_per_second, "--bytes-per-second SIZE",
            fmt::format("maximum bytes to {} per second, as 50MB; 0: no limit (default 0)", verb),
            BytesInRange(0, kMaxBytesPerSecond));
}

void AddMaxIndexBytesOption(CLI::App* command, std::optional<uint64_t>* max_index_bytes,
                            const char* default_value) {
  AddOption(
      command, max_index_bytes, "--max-index-bytes SIZE",
      fmt::format("maximum size of the index of one file; 0: no limit (default {})", default_value),
      BytesInRange(0, std::numeric_limits<uint64_t>::max()));
}

void Exclude(CLI::App* command, const char* option, std::initializer_list<const char*> others) {
  for (const char* const other : others) {
    command->get_option(option)->excludes(command->get_option(other));
  }
}

void Need(CLI::App* command, const char* option, const char* other) {
  command->get_option(option)->needs(command->get_option(other));
}

CLI::App* AddSubcommand(CLI::App* app, Action* action, const char* name, const char* description,
                        const char* footer, Action run) {
  CLI::App* const command = app->add_subcommand(name, description);
  command->footer(footer);
  return command->callback([action, run = std::move(run)] { *action = run; });
}

CLI::App* AddStep(CLI::App* command, const char* name, const char* description,
                  std::vector<std::string>* given) {
  command->require_subcommand(1, 0);
  CLI::App* const step = command->add_subcommand(name, description)->fallthrough();
  return step->callback([given, name] { given->emplace_back(name); });
}

// CLI::Range accepts NaN and prints its limits in the middle of the help.
Check InRange(double low, double high) {
  return [low, high](const std::string& text) {
    double value = 0;
    return CLI::detail::lexical_cast(text, value) && value >= low && value <= high
               ? ""
               : Refusal(text, internal::RangeText(low, high), IsNumber(text));
  };
}

Check InRange(const rocksdb_plugin::OptionFacts& option) {
  return InRange(option.lowest, option.highest);
}

// CLI11 reads -1 as a large unsigned number and 010 as eight.
Check WholeInRange(uint64_t low, uint64_t high) {
  return Whole(low, high, /*is_size=*/false,
               ", a whole number without leading zeros, also as 1e6 or 5M");
}

Check BytesInRange(uint64_t low, uint64_t high) {
  return Whole(low, high, /*is_size=*/true, " bytes, also as 10kB or 64MiB");
}

std::string KnownPolicy(const std::string& policy) {
  const auto kind = rocksdb_plugin::Judge(policy).kind;
  if (kind == rocksdb_plugin::PolicyEffect::kNone || kind == rocksdb_plugin::PolicyEffect::kBuilds)
    return "";
  return fmt::format(
      "{}; allowed: policies of this RocksDB, such as bloomfilter:10:false, ribbonfilter:10 and "
      "nullptr",
      term::Shorten(policy));
}

Check OneOf(const std::string& words) {
  return [words = CLI::detail::split(words, '|')](const std::string& name) {
    if (std::find(words.begin(), words.end(), name) != words.end()) return std::string();
    return Refusal(name, fmt::format("{}", fmt::join(words, ", ")));
  };
}

std::string JsonLine(const Json& document) {
  constexpr auto kReplaceInvalid = Json::error_handler_t::replace;
  // Grows when members are renamed or removed, not when added.
  Json versioned = {{"version", 3}};
  versioned.update(document);
  return versioned.dump(-1, ' ', false, kReplaceInvalid) + "\n";
}

void WriteReport(const std::string& format, const Json& document, const std::string& text) {
  term::WriteToStandardOutput(format == "json" ? JsonLine(document) : text);
}

void SetBytes(Json* object, const std::string& name, std::string_view bytes) {
  Json text = bytes;
  try {
    text.dump();
    (*object)[name] = std::move(text);
  } catch (const Json::type_error&) {  // not UTF-8
    (*object)[name + "_hex"] = fmt::format("{:02x}", fmt::join(AsBytes(bytes), ""));
  }
}

}  // namespace blocksieve::cli
