#include "integration/cli/files/file_report_text.h"

#include <fmt/format.h>

#include <filesystem>

namespace blocksieve::cli {

std::string FilterName(const FilterReport& filter) {
  switch (filter.origin) {
    case FilterOrigin::kBlocksieve:
      return "blocksieve " + filter.kind;
    case FilterOrigin::kStock:
      return "stock " + filter.kind;
    case FilterOrigin::kUnreadable:
      return "unreadable";
    case FilterOrigin::kNone:
      break;
  }
  return "none";
}

std::string VanishedText(const ChosenFiles::Missed& missed) {
  std::string text;
  for (const FilePlace& place : missed.vanished) {
    text += ShortName(place) + ": removed by another process meanwhile\n";
  }
  return text;
}

std::string ShortName(const FilePlace& place) {
  return std::filesystem::path(place.path).filename();
}

std::string LevelText(int level) { return level < 0 ? "-" : std::to_string(level); }

std::string BitsText(double bits_per_entry) {
  return bits_per_entry == 0 ? "-" : fmt::format("{:.2f}", bits_per_entry);
}

std::string RateText(double rate) { return rate >= 1 ? "-" : fmt::format("{:.4g}", rate); }

std::string ShareText(uint64_t part, uint64_t all) {
  if (all == 0) return "-";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

}  // namespace blocksieve::cli
