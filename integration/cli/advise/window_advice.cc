// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/cli/advise/advice.h"

// What a column of a binary number in the key would save for windows of its values: bounds of each
// block, as its index has them, against windows between sampled values.

namespace blocksieve::cli {
namespace {

struct Interval {
  uint64_t low = UINT64_MAX;
  uint64_t high = 0;

  bool is_empty() const { return low > high; }
  void Add(uint64_t value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct Candidate {
  int offset = 0;  // negative: from the end
  size_t width = 0;
  // Two for each block: the second one begins where values begin anew, as with the next series.
  std::vector<std::array<Interval, 2>> blocks = {};
  std::vector<std::array<Interval, 2>> files = {};
  std::vector<uint64_t> values = {};  // sampled
  uint64_t latest = 0;
  bool is_missing = false;  // in some key
  bool is_ordered = true;   // as the keys are, so that seeks find it

  void Add(std::string_view key, bool is_sampled) {
    const size_t distance = static_cast<size_t>(std::abs(offset));
    const size_t begin = offset < 0 ? key.size() - distance : distance;
    is_missing = is_missing || distance > key.size() || begin + width > key.size();
    if (is_missing) return;
    uint64_t value = 0;
    for (const char byte : key.substr(begin, width))
      value = value << 8 | static_cast<uint8_t>(byte);
    auto& [first, second] = blocks.back();
    const bool begins_anew = value < latest && !first.is_empty();
    (begins_anew || !second.is_empty() ? second : first).Add(value);
    files.back()[0].Add(value);
    if (is_sampled) values.push_back(value);
    is_ordered = is_ordered && latest <= value;
    latest = value;
  }
};

// Where programs put numbers: words of a key that has a fixed size up to there, or from its end.
std::vector<Candidate> MakeCandidates() {
  std::vector<Candidate> candidates;
  for (const int offset : {0, 4, 8, 12, 16, 20, 24, -4, -8, -12, -16}) {
    if (offset != -4) candidates.push_back({offset, 8});
    candidates.push_back({offset, 4});
  }
  return candidates;
}

void AddFile(const FileReport& file, const KeysOfFile& keys_of_file,
             std::vector<Candidate>* candidates) {
  constexpr uint64_t kSampleEvery = 64;
  const uint64_t keys_per_block =
      std::max<uint64_t>(file.num_entries / std::max<uint64_t>(file.num_data_blocks, 1), 1);
  uint64_t num_keys = 0;
  for (Candidate& candidate : *candidates) {
    candidate.latest = 0;
    candidate.files.emplace_back();
  }
  keys_of_file(file, [&](std::string_view key) {
    const bool begins_block = num_keys % keys_per_block == 0;
    const bool is_sampled = num_keys++ % kSampleEvery == 0;
    for (Candidate& candidate : *candidates) {
      if (begins_block) candidate.blocks.emplace_back();
      candidate.Add(key, is_sampled);
    }
  });
}

// The mean share of the blocks, or files, that windows with this share of the sorted values meet.
double ShareRead(const std::vector<std::array<Interval, 2>>& blocks,
                 const std::vector<uint64_t>& values, double window) {
  constexpr size_t kWindows = 64;
  const auto in_window = static_cast<size_t>(window * static_cast<double>(values.size()));
  size_t num_read = 0;
  for (size_t i = 0; i < kWindows; ++i) {
    const size_t first = i * (values.size() - 1 - in_window) / (kWindows - 1);
    const auto meets = [&](const Interval& interval) {
      return interval.low <= values[first + in_window] && values[first] <= interval.high;
    };
    num_read += static_cast<size_t>(std::ranges::count_if(
        blocks, [&](const auto& block) { return meets(block[0]) || meets(block[1]); }));
  }
  return Ratio(num_read, kWindows * blocks.size());
}

}  // namespace

WindowAdvice AdviseWindow(const Forest& forest, double window, const KeysOfFile& keys_of_file) {
  constexpr size_t kMaxFiles = 64;
  constexpr size_t kMaxColumns = 3;
  WindowAdvice advice{.window = window};
  std::vector<Candidate> candidates = MakeCandidates();
  const size_t num_files = std::min(forest.files.size(), kMaxFiles);
  for (size_t i = 0; i < num_files; ++i) {
    AddFile(forest.files[i * forest.files.size() / num_files], keys_of_file, &candidates);
  }
  advice.num_files = num_files;
  std::set<std::vector<uint64_t>> known;  // also at the same place from the other end
  for (Candidate& candidate : candidates) {
    constexpr size_t kMinValues = 16;
    if (candidate.is_missing || candidate.is_ordered || candidate.values.size() < kMinValues)
      continue;
    std::ranges::sort(candidate.values);
    if (candidate.values.front() == candidate.values.back()) continue;
    if (!known.insert(candidate.values).second) continue;
    constexpr double kSavesNothing = 0.9;
    const double blocks_read = ShareRead(candidate.blocks, candidate.values, window);
    if (blocks_read > kSavesNothing) continue;
    advice.columns.push_back(
        {fmt::format("key:uint{}be({})", 8 * candidate.width, candidate.offset), blocks_read,
         ShareRead(candidate.files, candidate.values, window)});
  }
  std::ranges::stable_sort(advice.columns, {}, &WindowColumn::blocks_read);
  if (advice.columns.size() > kMaxColumns) advice.columns.resize(kMaxColumns);
  return advice;
}

Json ToJson(const WindowAdvice& advice) {
  const Json columns = ToArray(advice.columns, [](const WindowColumn& column) {
    return Json{{"column", column.definition},
                {"blocks_read", column.blocks_read},
                {"files_read", column.files_read}};
  });
  return {{"window", advice.window}, {"files_sampled", advice.num_files}, {"columns", columns}};
}

std::string ToText(const WindowAdvice& advice) {
  if (advice.columns.empty()) {
    return "Windows: no column of a binary number in the keys would let them read less.\n\n";
  }
  const Json document = ToJson(advice);
  return fmt::format(
             "Windows with a share of {:g} of the values of a number in the key, by keys of {}:"
             "\n\n{}\n",
             advice.window, term::CountOf(advice.num_files, "file"),
             TableText(
                 {{"column", "/column", [](const Json& value) { return value.get<std::string>(); }},
                  {"blocks read", "/blocks_read", ShareText},
                  {"files read", "/files_read", ShareText}},
                 document["columns"])) +
         fmt::format("To have it: blocksieve enable or index with --index 'NAME=bounds:{}'.\n\n",
                     advice.columns.front().definition);
}

}  // namespace blocksieve::cli
