#include "integration/cli/term/number_text.h"

#include <cstddef>

namespace blocksieve::cli {

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string CountOf(uint64_t number, std::string_view what) {
  return WithCommas(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

}  // namespace blocksieve::cli
