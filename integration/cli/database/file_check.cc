// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/database.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>
#include <set>
#include <string_view>

#include "lib/prefix/prefix_rule.h"

namespace blocksieve::cli {
namespace {

/// Checks the filters of a file in one pass over its keys, and then with what it lacks, derived
/// from a sample of the keys.
class FilterProbes {
 public:
  FilterProbes(TableFile* file, FileCheck* check)
      : file_(file), check_(check), random_(check->file.num_bytes) {  // the same for the same file
    for (const std::string& text : check->file.filter.prefix_rules) {
      const Result<std::string> rule = internal::ParsePrefixRule(text);
      if (rule.ok()) rules_.push_back(*rule);
    }
  }

  void CheckKey(std::string_view key, bool may_match) {
    check_->keys.Count(may_match);
    AddToSample(key);
    num_hidden_ += !file_->IndexFinds(key);
    if (check_->file.filter.ranges.num_filters != 0) CheckRanges(key);
    CheckPrefixes(key);
    previous_ = key;
  }

  /// Probes absent keys, ranges and prefixes.
  void Measure(uint64_t num_probes) {
    const auto measure = [&](QueryCheck* query, const auto& probe) {
      for (uint64_t i = 0; i < num_probes && query->num_checked != 0; ++i) {
        const std::optional<bool> passed = probe(sample_[static_cast<size_t>(i % sample_.size())]);
        query->num_probed += passed.has_value();
        query->num_passed += passed.value_or(false);
      }
    };
    measure(&check_->keys, [&](const std::string& key) -> std::optional<bool> {
      const std::optional<std::string> absent = file_->AbsentKey(key, &random_);
      return absent ? std::optional(file_->MayMatch(*absent)) : std::nullopt;
    });
    measure(&check_->ranges, [&](const std::string& key) {
      return ProbeRange(key, sample_[random_() % sample_.size()]);
    });
    measure(&check_->prefixes, [&](const std::string& key) { return ProbePrefix(key); });
  }

  uint64_t num_hidden() const { return num_hidden_; }  ///< Keys that the block index hides.

 private:
  // A uniform sample (Vitter, "Random Sampling with a Reservoir", 1985, algorithm R).
  void AddToSample(std::string_view key) {
    constexpr size_t kSampleKeys = 10'000;
    if (sample_.size() < kSampleKeys) {
      sample_.emplace_back(key);
    } else if (const uint64_t place = random_() % check_->keys.num_checked; place < kSampleKeys) {
      sample_[static_cast<size_t>(place)] = key;
    }
  }

  // Ranges with one or two keys of the file. Also measures common prefixes of neighbors.
  void CheckRanges(std::string_view key) {
    const size_t shared = static_cast<size_t>(
        std::mismatch(key.begin(), key.end(), previous_.begin(), previous_.end()).first -
        key.begin());
    mean_shared_ += (static_cast<double>(shared) - mean_shared_) / ++num_keys_;
    if (key.empty() || key == previous_) return;
    end_.assign(key).push_back('\0');
    CheckRange(key);
    CheckRange(previous_ + '\0');
  }

  void CheckRange(std::string_view begin) {
    if (const auto may_match = file_->MayMatchRange(begin, end_)) check_->ranges.Count(*may_match);
  }

  // The range below each prefix of the key.
  void CheckPrefixes(std::string_view key) {
    for (const std::string& rule : rules_) {
      internal::FindPrefixes(AsBytes(rule), key, &lengths_);
      for (const uint32_t length : lengths_.all()) {
        const std::string_view prefix = key.substr(0, length);
        if (previous_.starts_with(prefix) || !SetEnd(prefix)) continue;
        check_->prefixes.Count(file_->MayMatchRange(prefix, end_).value_or(true));
      }
    }
  }

  // Probes an empty range: the start of one key with the end of another, split at the mean length
  // of common prefixes.
  std::optional<bool> ProbeRange(const std::string& key, const std::string& other) {
    const auto parting = static_cast<size_t>(mean_shared_);
    if (other.size() <= parting) return std::nullopt;
    const std::string begin = key.substr(0, parting) + other.substr(parting);
    if (begin.empty() || !FindEmptyRange(begin, parting)) return std::nullopt;
    return file_->MayMatchRange(begin, end_).value_or(true);
  }

  // Sets end_ so that [begin, end_) is empty; false if `begin` is a key. Prefers wide ranges: for
  // ranges with room for few keys, the key filter may be probed instead.
  bool FindEmptyRange(std::string_view begin, size_t parting) {
    constexpr size_t kMaxBytes = 3;
    for (size_t bytes = kMaxBytes; bytes > 0; --bytes) {
      if (begin.size() < parting + bytes) continue;
      end_.assign(begin.substr(0, begin.size() - bytes)).append(bytes, '\xff');
      if (begin < end_ && !file_->HasKeyIn(begin, end_)) return true;
    }
    end_.assign(begin).push_back('\0');
    return !file_->HasKeyIn(begin, end_);
  }

  // Probes an absent prefix that differs from one of the key in a few bytes before its end. Probes
  // each once: there may be few, and a repeated probe is no new evidence.
  std::optional<bool> ProbePrefix(const std::string& key) {
    const std::string& rule = rules_[static_cast<size_t>(random_() % rules_.size())];
    internal::FindPrefixes(AsBytes(rule), key, &lengths_);
    if (lengths_.empty()) return std::nullopt;
    const auto lengths = lengths_.all();
    std::string prefix = key.substr(0, lengths[random_() % lengths.size()]);
    if (!MakeAbsent(rule, &prefix) || !probed_.insert(prefix).second) return std::nullopt;
    return file_->MayMatchRange(prefix, end_);  // a seek after the last partition checks no filter
  }

  bool MakeAbsent(const std::string& rule, std::string* prefix) {
    constexpr int kTries = 64;
    constexpr size_t kChangedBytes = 8;
    for (int tries = 0; tries < kTries; ++tries) {
      const size_t from_end = random_() % std::min(prefix->size(), kChangedBytes);
      char& changed = (*prefix)[prefix->size() - 1 - from_end];
      const char before = std::exchange(changed, static_cast<char>(random_()));
      internal::FindPrefixes(AsBytes(rule), *prefix, &lengths_);
      if (lengths_.longest() != prefix->size()) {
        changed = before;
      } else if (SetEnd(*prefix) && !file_->HasKeyIn(*prefix, end_)) {
        return true;
      }
    }
    return false;
  }

  // Sets end_ to the first key after all keys with the prefix; false if there is none.
  bool SetEnd(std::string_view prefix) {
    end_ = prefix.substr(0, prefix.find_last_not_of('\xff') + 1);
    if (end_.empty()) return false;
    ++end_.back();
    return true;
  }

  TableFile* const file_;
  FileCheck* const check_;
  std::mt19937_64 random_;
  std::vector<std::string> sample_;
  std::vector<std::string> rules_;
  internal::PrefixLengths lengths_;
  std::set<std::string> probed_;  // prefixes
  std::string previous_;          // key
  std::string end_;               // of the range or prefix
  double mean_shared_ = 0;        // bytes of the common prefix with the previous key
  double num_keys_ = 0;
  uint64_t num_hidden_ = 0;
};

// A chance deviation of the filter, or a coarse model, stays below this factor.
constexpr double kNotableFactor = 1.5;

/// A filter that passes far more absent keys than its bits allow is wrongly built, or holds keys
/// that were chosen by the filter's own hash. `predicted_fpr` 1: any share may pass.
void AddProblems(const QueryCheck& query, const char* what, const char* of_file,
                 double predicted_fpr, std::vector<std::string>* problems) {
  if (query.false_negatives != 0) {
    problems->push_back(fmt::format("the filter has false negatives for {} of the {} {}",
                                    term::WithCommas(query.false_negatives), what, of_file));
  }
  if (query.num_probed == 0) return;
  const double least_fpr = WilsonInterval(query.num_passed, query.num_probed).first;
  if (least_fpr <= kNotableFactor * predicted_fpr) return;
  problems->push_back(fmt::format("the filter passes {:.2g} of absent {}; predicted: {:.2g}",
                                  Ratio(query.num_passed, query.num_probed), what, predicted_fpr));
}

}  // namespace

std::pair<double, double> WilsonInterval(uint64_t num_hits, uint64_t num_trials) {
  assert(num_trials > 0 && num_hits <= num_trials);
  constexpr double kZ = 1.959963984540054;  // 97.5 % quantile of the normal distribution
  const auto n = static_cast<double>(num_trials);
  const double share = static_cast<double>(num_hits) / n;
  const double scale = 1 + kZ * kZ / n;
  const double middle = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  // Avoids a tiny rounding error at 0 and 1.
  return {num_hits == 0 ? 0 : middle - half, num_hits == num_trials ? 1 : middle + half};
}

FileCheck CheckFile(TableFile* file, uint64_t num_probes) {
  FileCheck check;
  check.file = file->report();
  check.problems = check.file.filter.problems;
  if (!check.file.index.problem.empty()) check.problems.push_back(check.file.index.problem);
  for (std::string& damage : file->FindDamage()) check.problems.push_back(std::move(damage));

  const FilterReport& filter = check.file.filter;
  FilterProbes probes(file, &check);
  try {
    check.unchecked = file->ForEachKey(
        [&](std::string_view key, bool may_match) { probes.CheckKey(key, may_match); });
    if (filter.origin == FilterOrigin::kBlocksieve || filter.origin == FilterOrigin::kStock) {
      probes.Measure(num_probes);
    }
  } catch (const term::Failure& failure) {
    check.problems.push_back(failure.what());
  }
  if (probes.num_hidden() != 0) {
    check.problems.push_back(fmt::format("the block index hides {} of the {} keys of the file",
                                         term::WithCommas(probes.num_hidden()),
                                         term::WithCommas(check.keys.num_checked)));
  }
  AddProblems(check.keys, "keys", "of the file", filter.predicted_fpr, &check.problems);
  AddProblems(check.ranges, "ranges", "with keys of the file", 1, &check.problems);
  AddProblems(check.prefixes, "prefixes", "of the file", filter.prefixes.fpr, &check.problems);
  return check;
}

}  // namespace blocksieve::cli
