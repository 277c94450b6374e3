// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>

#include "blocksieve/filter.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/prefix/prefix_builder.h"

namespace blocksieve::cli {

BLOCKSIEVE_TO_JSON(WindowColumn, column, blocks_read, files_read)
BLOCKSIEVE_TO_JSON(WindowAdvice, window, files_sampled, columns)

namespace {

// Prefixes that end at a delimiter are proposed for up to half as many of them as keys. They then
// take as much memory as half of the key filter, less than range filters.
constexpr double kMaxPrefixesPerKey = 0.5;

std::span<const TreeFile> SelectFiles(const Tree& tree, const TreeRun& run) {
  return std::span(tree.files()).subspan(run.first_file, run.num_files);
}

void SetCurrentFprs(const Forest& forest, std::span<const TreeFile> files, RunSeeks* run) {
  double ranges = 0;
  double prefixes = 0;
  double keys = 0;
  for (const TreeFile& file : files) {
    const FileReport& report = forest.files[file.id];
    const auto entries = static_cast<double>(report.num_entries);
    ranges += entries * report.filter.ranges.fpr;
    prefixes += entries * report.filter.prefixes.fpr;
    keys += entries;
  }
  if (keys == 0) return;
  run->ranges.current_fpr = ranges / keys;
  // Range filters answer for ranges below a prefix as for any other.
  run->prefixes.current_fpr = std::min(prefixes, ranges) / keys;
}

// Reports spread evenly over the files of a run.
std::vector<const FileReport*> FilesToSample(const Forest& forest,
                                             std::span<const TreeFile> files) {
  constexpr size_t kMaxFiles = 3;
  const size_t number = std::min(files.size(), kMaxFiles);
  std::vector<const FileReport*> sampled;
  for (size_t i = 0; i < number; ++i) {
    sampled.push_back(&forest.files[files[(2 * i + 1) * files.size() / (2 * number)].id]);
  }
  return sampled;
}

// The requested boundaries, those of the largest run's files, or boundaries chosen from its keys.
std::string RuleFor(const Forest& forest, const Tree& tree, const std::string& requested,
                    const KeysOfFile& keys_of_file) {
  if (!requested.empty()) return requested;
  const TreeRun& largest = *std::ranges::max_element(tree.runs(), {}, &TreeRun::num_keys);
  const std::vector<const FileReport*> files = FilesToSample(forest, SelectFiles(tree, largest));
  const FileReport& file = *files[files.size() / 2];
  for (const std::string& present : file.filter.prefix_rules) {
    if (CanonicalPrefixRule(present).ok()) return present;
  }
  PrefixChooser chooser({}, kMaxPrefixesPerKey);
  VisitSampledKeys(file, keys_of_file, [&](std::string_view key) { chooser.AddKey(key); });
  const PrefixBuilder* const chosen = chooser.Choose();
  return chosen == nullptr ? "" : internal::PrefixRuleText(AsBytes(chosen->rule()));
}

// What a part costs and saves. `none`: why it could not be built; `present`: the current filters
// that may have it; `current`, `planned`: wasted reads per lookup.
void SumRuns(const Forest& forest, const AdviceRequest& request, double current, double planned,
             const std::string& none, const char* present, PartAdvice* part) {
  std::vector<double> current_fprs;
  std::vector<double> fprs;
  for (const RunPart& run : part->runs) {
    part->num_bytes += run.num_bytes;
    current_fprs.push_back(run.current_fpr);
    fprs.push_back(run.fpr);
  }
  part->current_blocks = WastedReads(forest.trees, current_fprs, 1);
  part->blocks = WastedReads(forest.trees, fprs, 1);
  const double empty_seeks = *request.seek_fraction * request.empty_share();
  const double lookups = 1 - *request.seek_fraction;
  part->current_wasted_reads = lookups * current + empty_seeks * part->current_blocks;
  part->wasted_reads = lookups * planned + empty_seeks * part->blocks;
  const double saved = empty_seeks * (part->current_blocks - part->blocks);
  if (part->num_bytes == 0) {
    part->do_not_pay = none;
  } else if (!request.cache_is_enough.empty()) {
    part->do_not_pay = request.cache_is_enough;
  } else if (saved < kMinSavedReads) {
    part->is_in_files = std::ranges::any_of(current_fprs, [](double fpr) { return fpr < 1; });
    part->do_not_pay = part->is_in_files
                           ? fmt::format("the current {} save as much", present)
                           : fmt::format("they would save {} data block reads per read",
                                         term::NumberText(std::max(saved, 0.0), 2));
  }
}

// Range filters or prefixes, in words.
struct PartNames {
  const char* one;     // in names of members: one_bytes
  const char* column;  // header of the estimate
  const char* part;    // "with PART of 1,234 bytes"
  const char* seek;    // "A seek SEEK reads"
};
const PartNames kRanges{"range", "estimated", "range filters", "that finds nothing"};
const PartNames kPrefixes{"prefix", "predicted", "prefixes", "below an absent prefix"};

// A row for each level, and what the part saves.
std::string ToText(const Advice& advice, const PartAdvice& part, const PartNames& names) {
  std::string text =
      LevelTable(advice.forest, "seeks",
                 {{fmt::format("current {} FPR", names.one), "/current_fpr", RateText},
                  {names.column, "/estimated_fpr", RateText},
                  {"filter bytes", "/num_bytes", CountText},
                  {"bits/key", "/bits_per_key", BitsPerKeyText}},
                 [&](const ForestLevel& level, Json* row) {
                   const auto num_runs = static_cast<double>(level.runs.size());
                   double current_fpr = 0;
                   double estimated_fpr = 0;
                   uint64_t num_bytes = 0;
                   for (const RunPart& run :
                        std::span(part.runs).subspan(level.first_run, level.runs.size())) {
                     current_fpr += run.current_fpr / num_runs;
                     estimated_fpr += run.estimated_fpr / num_runs;
                     num_bytes += run.num_bytes;
                   }
                   row->update({{"current_fpr", current_fpr},
                                {"estimated_fpr", estimated_fpr},
                                {"num_bytes", num_bytes},
                                {"bits_per_key", 8 * Ratio(num_bytes, level.num_keys)}});
                 });
  text += fmt::format("\nData blocks read by a seek {}: {} with the current filters", names.seek,
                      ReadsText(part.current_blocks));
  if (part.num_bytes != 0) {
    text += fmt::format(
        ",\n{} with {} of {} bytes. If a share of {:g} of the reads are such seeks, a read\n"
        "wastes {} data blocks now, {} with {} and key filters of target_fpr={}",
        ReadsText(part.blocks), names.part, term::WithCommas(part.num_bytes),
        *advice.request.seek_fraction, ReadsText(part.current_wasted_reads),
        ReadsText(part.wasted_reads), names.part, advice.seeks->target_fpr);
  }
  return text + ".\n\n";
}

std::vector<std::string> OptionsFor(const SeekAdvice& advice) {
  return {PolicyOption(advice.Policy()),
          std::string("prefix_extractor=") + rocksdb_plugin::RangeExtractor::kName};
}

Json ToJson(const Advice& advice, const PartAdvice& part, const std::string& one,
            bool is_proposed) {
  const AdviceRequest& request = advice.request;
  Json runs = Json::array();
  for (const Tree& tree : advice.forest.trees) {
    for (const TreeRun& run : tree.runs()) {
      const RunPart& sample = part.runs[runs.size()];
      runs.push_back({{"family", tree.name()},
                      {"level", run.level},
                      {"num_keys", run.num_keys},
                      {"sampled_files", sample.sampled_files},
                      {"sampled_keys", sample.sampled_keys},
                      {"current_" + one + "_fpr", sample.current_fpr},
                      {"estimated_fpr", sample.estimated_fpr},
                      {one + "_fpr", sample.fpr},
                      {one + "_bytes", sample.num_bytes}});
      if (one == kPrefixes.one) runs.back()["num_prefixes"] = sample.num_prefixes;
    }
  }
  return {{"seek_fraction", *request.seek_fraction},
          {"range_width", request.range_width},
          {"empty_seek_share", request.empty_share()},
          {"current_blocks_per_empty_seek", part.current_blocks},
          {"blocks_per_empty_seek", part.blocks},
          {"current_wasted_reads", part.current_wasted_reads},
          {"wasted_reads", part.wasted_reads},
          {one + "_bytes", part.num_bytes},
          {"runs", runs},
          {"options", is_proposed ? OptionsFor(*advice.seeks) : std::vector<std::string>()},
          {"do_not_pay", part.do_not_pay}};
}

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

// The key filters get one rate, as range filters do: goals that spread memory over the levels cover
// key and range filters together.
EnableOptions SeekAdvice::Policy() const {
  EnableOptions policy{.target_fpr = target_fpr, .ranges = has_ranges()};
  if (has_ranges()) policy.range_fpr = FilterOptions().range_fpr;
  if (has_prefixes()) policy.prefixes = rule;
  return policy;
}

uint64_t SeekAdvice::FilterBytes() const {
  return key_filter_bytes + (has_ranges() ? ranges.num_bytes : 0) +
         (has_prefixes() ? prefixes.num_bytes : 0);
}

KeysOfFile KeysInFiles(const std::string& doing) {
  return [doing, progress = std::make_shared<term::Progress>()](
             const FileReport& report, const std::function<void(std::string_view)>& visit) {
    progress->Show(doing + ": " + FileNameText(report.place.path));
    try {
      const std::unique_ptr<TableFile> file = TableFile::Open(report.place);
      if (file == nullptr) return;  // removed by another process
      file->ForEachKey([&visit](std::string_view key, bool) { visit(key); });
    } catch (const term::Failure&) {  // the keys before an error are a sample, too
    }
  };
}

SeekAdvice AdviseSeeks(const Forest& forest, const AdviceRequest& request, const Plans& planned,
                       const KeysOfFile& keys_of_file) {
  const Prediction filters = Predict(forest.trees, planned, request.absent_fraction);
  SeekAdvice advice;
  advice.target_fpr = planned.front().goal.target_fpr.value();
  advice.key_filter_bytes = filters.filter_bytes;
  bool has_keys = false;
  std::string no_keys = "no keys could be read";
  for (const Tree& tree : forest.trees) {
    const std::string rule = RuleFor(forest, tree, request.prefixes, keys_of_file);
    // One option for all column families: where their boundaries differ, the policy chooses them.
    const bool is_same = advice.rule.empty() || rule.empty() || advice.rule == rule;
    advice.rule = is_same ? (rule.empty() ? advice.rule : rule) : "auto";
    for (const TreeRun& run : tree.runs()) {
      const std::span<const TreeFile> files = SelectFiles(tree, run);
      rocksdb_plugin::SeekSample sample(rule, advice.target_fpr);
      for (const FileReport* const file : FilesToSample(forest, files)) {
        sample.AddFile(*file, keys_of_file);
      }
      if (!sample.problem().empty()) no_keys = sample.problem();
      RunSeeks seeks = sample.ScaleTo(run.num_keys);
      SetCurrentFprs(forest, files, &seeks);
      has_keys |= seeks.ranges.sampled_keys != 0;
      advice.ranges.runs.push_back(seeks.ranges);
      advice.prefixes.runs.push_back(seeks.prefixes);
    }
  }
  const double current = Predict(forest.trees, request.absent_fraction).wasted_reads;
  SumRuns(forest, request, current, filters.wasted_reads,
          has_keys ? "neighboring keys are too similar" : no_keys, "range filters", &advice.ranges);
  const std::string no_prefixes =
      advice.rule.empty()
          ? "no delimiter in nearly all keys ends few distinct prefixes; see --prefixes"
          : "no key has a boundary of " + advice.rule;
  SumRuns(forest, request, current, filters.wasted_reads, has_keys ? no_prefixes : no_keys,
          "filters", &advice.prefixes);
  return advice;
}

std::string SeeksText(const Advice& advice) {
  const SeekAdvice& seeks = *advice.seeks;
  std::string text = "Seeks with an upper bound:\n\n" + ToText(advice, seeks.ranges, kRanges);
  if (!seeks.rule.empty()) {
    text += fmt::format("Prefixes, with boundaries {}:\n\n", seeks.rule) +
            ToText(advice, seeks.prefixes, kPrefixes);
  }
  text += fmt::format(
      "With {} key{} per range on average, {} % of the seeks find nothing; only these gain.\n",
      term::NumberText(advice.request.range_width, 6), advice.request.range_width == 1 ? "" : "s",
      ReadsText(100 * advice.request.empty_share()));
  if (!seeks.ranges.do_not_pay.empty()) {
    text += "\nNo range filter pays here: " + seeks.ranges.do_not_pay + ".\n";
  }
  if (!seeks.prefixes.do_not_pay.empty()) {
    text += "\nNo prefixes pay here: " + seeks.prefixes.do_not_pay + ".\n";
  }
  const std::string parts = DescribeParts(seeks.Policy());
  if (parts.empty()) return text;
  text += fmt::format("\nOptions for {}:\n\n", parts);
  for (const std::string& option : OptionsFor(seeks)) text += "  " + option + "\n";
  if (BLOCKSIEVE_HAS_USER_INDEX == 0) return text;
  return text + fmt::format(
                    "\nOr a block index of the same, for reads that choose it (RANGES.md), with "
                    "the\nfilter_policy and prefix_extractor that you have:\n\n"
                    "  user_defined_index_factory={{id={}{}{}}}\n",
                    rocksdb_plugin::kBlockIndexName, seeks.has_ranges() ? ";ranges=true" : "",
                    seeks.has_prefixes() ? ";prefixes=" + seeks.rule : "");
}

void AddSeeksTo(const Advice& advice, Json* document) {
  const SeekAdvice& seeks = *advice.seeks;
  (*document)["ranges"] = ToJson(advice, seeks.ranges, kRanges.one, seeks.has_ranges());
  Json& prefixes = (*document)["prefixes"] = {{"rule", seeks.rule}};
  prefixes.update(ToJson(advice, seeks.prefixes, kPrefixes.one, seeks.has_prefixes()));
}

// What a column of a binary number in the key would save for windows of its values: bounds of each
// block, as its index has them, against windows between sampled values.

WindowAdvice AdviseWindow(const Forest& forest, double window, const KeysOfFile& keys_of_file) {
  constexpr size_t kMaxFiles = 64;
  constexpr size_t kMaxColumns = 3;
  WindowAdvice advice{.window = window};
  std::vector<Candidate> candidates = MakeCandidates();
  const size_t num_files = std::min(forest.files.size(), kMaxFiles);
  for (size_t i = 0; i < num_files; ++i) {
    AddFile(forest.files[i * forest.files.size() / num_files], keys_of_file, &candidates);
  }
  advice.files_sampled = num_files;
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

Json ToJson(const WindowAdvice& advice) { return advice; }

std::string ToText(const WindowAdvice& advice) {
  if (advice.columns.empty()) {
    return "Windows: no column of a binary number in the keys would let them read less.\n\n";
  }
  return fmt::format(
             "Windows with a share of {:g} of the values of a number in the key, by keys of {}:"
             "\n\n{}\n",
             advice.window, term::CountOf(advice.files_sampled, "file"),
             TableText({{"column", "/column", PlainText},
                        {"blocks read", "/blocks_read", ShareText},
                        {"files read", "/files_read", ShareText}},
                       advice.columns)) +
         fmt::format("To have it: blocksieve enable or index with --index 'NAME=bounds:{}'.\n\n",
                     advice.columns.front().column);
}

}  // namespace blocksieve::cli
