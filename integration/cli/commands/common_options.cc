#include "integration/cli/commands/common_options.h"

#include "blocksieve/sizing.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kDigits = "0123456789";

}  // namespace

bool IsPlainDecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos &&
         (text.size() == 1 || text.front() != '0');
}

CLI::Option* AddFormatOption(CLI::App* command, OutputFormat* format) {
  return command
      ->add_option_function<std::string>(
          "--format",
          [format](const std::string& name) {
            *format = name == "json" ? OutputFormat::kJson : OutputFormat::kText;
          },
          "text (the default), or json for machines")
      ->type_name("text|json")
      ->check([](const std::string& name) {
        if (name == "text" || name == "json") return std::string();
        return "'" + name + "' is unknown; allowed are text and json";
      });
}

CLI::Validator BytesInRange(uint64_t low, uint64_t high) {
  const auto to_bytes = [low, high](std::string& text) -> std::string {
    std::string bytes = text;
    const std::string_view number =
        std::string_view(text).substr(0, text.find_first_not_of(kDigits));
    try {
      if (IsPlainDecimal(number) && CLI::AsSizeValue(/*kb_is_1000=*/true)(bytes).empty() &&
          InRange(low, high)(bytes).empty()) {
        text = bytes;
        return "";
      }
    } catch (const CLI::ValidationError&) {  // its message does not say what is allowed
    }
    return fmt::format("{} is not in the range {} to {} of bytes, also as 10kB or 64MiB", text, low,
                       high);
  };
  return {to_bytes, ""};
}

std::string CheckTargetFpr(const std::string& text) {
  return InRange(kMinTargetFpr, kMaxTargetFpr)(text);
}

}  // namespace blocksieve::cli
