#include "integration/cli/commands/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "blocksieve/bytes.h"
#include "blocksieve/sizing.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kDigits = "0123456789";

// Returns whether the text is digits without leading zeros.
bool IsPlainDecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos &&
         (text.size() == 1 || text.front() != '0');
}

// Expands "1e6", "1.5M" and "20k" to digits; returns other texts unchanged.
std::string WholeDigits(const std::string& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number = text.substr(0, end);
  const std::string power = text.substr(end);
  size_t zeros = 0;
  if (power == "k") {
    zeros = 3;
  } else if (power == "M") {
    zeros = 6;
  } else if (power == "G") {
    zeros = 9;
  } else if (power.size() >= 2 && power.size() <= 3 && power[0] == 'e' &&
             IsPlainDecimal(power.substr(1))) {
    zeros = std::stoul(power.substr(1));
  } else {
    return text;
  }
  const size_t point = std::min(number.find('.'), number.size());
  std::string fraction = point < number.size() ? number.substr(point + 1) : "";
  if (!IsPlainDecimal(number.substr(0, point)) || fraction.size() > zeros) return text;
  if (point < number.size() && fraction.empty()) return text;
  fraction.resize(zeros, '0');
  std::string digits = number.substr(0, point) + fraction;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

// Texts without a visible end are quoted.
std::string Refusal(const std::string& text, const std::string& allowed) {
  const bool is_plain = !text.empty() && text.find(' ') == std::string::npos;
  return fmt::format("{}; allowed: {}", is_plain ? text : "'" + text + "'", allowed);
}

bool IsInRange(const std::string& text, uint64_t low, uint64_t high) {
  uint64_t value = 0;
  // CLI11 clamps numbers that overflow.
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && value >= low && value <= high;
}

}  // namespace

template <class T>
CLI::Option* AddOption(CLI::App* command, T* value, const OptionSpec& spec) {
  CLI::Option* const option = command->add_option(spec.name, *value, spec.description);
  option->type_name(spec.value)->required(spec.is_required);
  if (spec.check) option->transform(CLI::Validator(spec.check, ""));
  // Otherwise a repeatable option would take the positional arguments that follow it.
  if (spec.name[0] == '-') option->allow_extra_args(false);
  return option;
}

template CLI::Option* AddOption(CLI::App*, std::string*, const OptionSpec&);
template CLI::Option* AddOption(CLI::App*, uint32_t*, const OptionSpec&);
template CLI::Option* AddOption(CLI::App*, uint64_t*, const OptionSpec&);
template CLI::Option* AddOption(CLI::App*, double*, const OptionSpec&);
template CLI::Option* AddOption(CLI::App*, std::optional<std::string>*, const OptionSpec&);
template CLI::Option* AddOption(CLI::App*, std::optional<uint64_t>*, const OptionSpec&);
template CLI::Option* AddOption(CLI::App*, std::optional<double>*, const OptionSpec&);
template CLI::Option* AddOption(CLI::App*, std::vector<std::string>*, const OptionSpec&);

CLI::Option* AddFlag(CLI::App* command, bool* value, const char* name, const char* description) {
  return command->add_flag(name, *value, description);
}

void AddFormatOption(CLI::App* command, OutputFormat* format) {
  command
      ->add_option_function<std::string>(
          "--format",
          [format](const std::string& name) {
            *format = name == "json" ? OutputFormat::kJson : OutputFormat::kText;
          },
          "output format (default text)")
      ->type_name("text|json")
      ->transform(CLI::Validator(OneOf("text|json"), ""));
}

void AddFormatOption(CLI::App* command, const char* words, const char* description,
                     std::function<void(const std::string&)> set) {
  command
      ->add_option_function<std::vector<std::string>>(
          "--format",
          [set = std::move(set)](const std::vector<std::string>& names) {
            for (const std::string& name : names) set(name);
          },
          description)
      ->type_name(words)
      ->allow_extra_args(false)
      ->transform(CLI::Validator(OneOf(words), ""));
}

void AddDatabaseOption(CLI::App* command, std::string* path, const char* description) {
  AddOption(command, path, {"--db", "DIR", description, nullptr, kRequired});
}

void AddFileOptions(CLI::App* command, FileChoice* choice) {
  AddOption(command, &choice->db, {"--db", "DIR", "the directory of a database"});
  AddOption(command, &choice->file, {"FILE", "", "a single SST file, instead of a database"});
}

CLI::Option* AddRateOption(CLI::App* command, uint64_t* bytes_per_second, const char* verb) {
  constexpr uint64_t kMaxBytesPerSecond = uint64_t{1} << 40;
  return AddOption(
      command, bytes_per_second,
      {"--bytes-per-second", "SIZE",
       fmt::format("maximum bytes to {} per second, as 50MB; 0: no limit (default 0)", verb),
       BytesInRange(0, kMaxBytesPerSecond)});
}

CLI::Option* AddMaxIndexBytesOption(CLI::App* command, std::optional<uint64_t>* max_index_bytes,
                                    const char* default_value) {
  return AddOption(command, max_index_bytes,
                   {"--max-index-bytes", "SIZE",
                    fmt::format("maximum size of the index of one file; 0: no limit (default {})",
                                default_value),
                    BytesInRange(0, std::numeric_limits<uint64_t>::max())});
}

void Exclude(CLI::Option* one, CLI::Option* other) { one->excludes(other); }

void Need(CLI::Option* one, CLI::Option* other) { one->needs(other); }

CLI::App* AddSubcommand(CLI::App* app, const char* name, const char* description,
                        const char* footer) {
  CLI::App* const command = app->add_subcommand(name, description);
  command->footer(footer);
  return command;
}

void SetAction(CLI::App* command, Action* action, std::function<void()> run) {
  command->callback([action, run = std::move(run)] { *action = run; });
}

CLI::App* AddStep(CLI::App* command, const char* name, const char* description) {
  command->require_subcommand(1, 0);
  return command->add_subcommand(name, description)->fallthrough();
}

std::vector<std::string> GivenSteps(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* const given : command.get_subcommands()) names.push_back(given->get_name());
  return names;
}

// CLI::Range accepts NaN and prints its limits in the middle of the help.
Check InRange(double low, double high) {
  return [low, high](const std::string& text) {
    double value = 0;
    return CLI::detail::lexical_cast(text, value) && value >= low && value <= high
               ? ""
               : Refusal(text, fmt::format("{} to {}", low, high));
  };
}

// CLI11 reads -1 as a large unsigned number and 010 as eight.
Check WholeInRange(uint64_t low, uint64_t high) {
  return [low, high](std::string& text) {
    const std::string digits = WholeDigits(text);
    if (!IsPlainDecimal(digits) || !IsInRange(digits, low, high)) {
      return Refusal(
          text, fmt::format("{} to {}, a whole number without leading zeros, also as 1e6 or 5M",
                            low, high));
    }
    text = digits;
    return std::string();
  };
}

Check BytesInRange(uint64_t low, uint64_t high) {
  return [low, high](std::string& text) {
    std::string bytes = text;
    const std::string_view number =
        std::string_view(text).substr(0, text.find_first_not_of(kDigits));
    try {
      if (IsPlainDecimal(number) && CLI::AsSizeValue(/*kb_is_1000=*/true)(bytes).empty() &&
          IsPlainDecimal(bytes) && IsInRange(bytes, low, high)) {
        text = bytes;
        return std::string();
      }
    } catch (const CLI::ValidationError&) {  // the refusal below also says what is allowed
    }
    return Refusal(text, fmt::format("{} to {} bytes, also as 10kB or 64MiB", low, high));
  };
}

Check TargetFprs() { return InRange(kMinTargetFpr, kMaxTargetFpr); }

Check OneOf(const std::string& words) {
  return [words = CLI::detail::split(words, '|')](const std::string& name) {
    if (std::find(words.begin(), words.end(), name) != words.end()) return std::string();
    return Refusal(name, fmt::format("{}", fmt::join(words, ", ")));
  };
}

namespace {

std::string Dump(const nlohmann::ordered_json& document, int indent) {
  constexpr auto kReplaceInvalid = nlohmann::ordered_json::error_handler_t::replace;
  nlohmann::ordered_json versioned = {{"version", kJsonVersion}};
  versioned.update(document);
  return versioned.dump(indent, ' ', false, kReplaceInvalid) + "\n";
}

}  // namespace

std::string JsonLine(const nlohmann::ordered_json& document) { return Dump(document, -1); }
std::string JsonText(const nlohmann::ordered_json& document) { return Dump(document, 2); }

void SetBytes(nlohmann::ordered_json* object, const std::string& name, std::string_view bytes) {
  nlohmann::ordered_json text = bytes;
  try {
    text.dump();
    (*object)[name] = std::move(text);
  } catch (const nlohmann::ordered_json::type_error&) {  // not UTF-8
    (*object)[name + "_hex"] = fmt::format("{:02x}", fmt::join(AsBytes(bytes), ""));
  }
}

}  // namespace blocksieve::cli
