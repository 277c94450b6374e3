// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/term/terminal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace blocksieve::term {
namespace {

// Edit distance: characters inserted, removed, changed or swapped with the next one.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  std::iota(rows[0].begin(), rows[0].end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string CountOf(uint64_t number, std::string_view what) {
  return WithCommas(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

std::string NumberText(double number, int digits) {
  const double size = std::abs(number);
  const int magnitude = size > 0 ? static_cast<int>(std::floor(std::log10(size))) : 0;
  if (magnitude + 1 >= digits)
    return (number < 0 ? "-" : "") + WithCommas(static_cast<uint64_t>(std::llround(size)));
  std::string text = fmt::format("{:.{}f}", number, digits - 1 - magnitude);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string Shown(std::string_view value) {
  size_t end = 80;
  if (value.size() <= end) return std::string(value);
  while ((value[end] & 0xc0) == 0x80 && end > 0) --end;  // to the start of a UTF-8 character
  return std::string(value.substr(0, end)) + "...";
}

std::string Nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string nearest;
  size_t least = 1 + std::max<size_t>(1, word.size() / 3);
  for (const std::string& each : known) {
    const size_t distance = Distance(word, each);
    if (distance >= least) continue;
    least = distance;
    nearest = each;
  }
  return nearest;
}

}  // namespace blocksieve::term
