#include "integration/cli/common_options.h"

#include "blocksieve/sizing.h"

namespace blocksieve::cli {

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

std::string CheckTargetFpr(const std::string& text) {
  return InRange(kMinTargetFpr, kMaxTargetFpr)(text);
}

}  // namespace blocksieve::cli
