#include "integration/cli/database/file_check.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

// The number of keys of the file that absent keys are derived from.
constexpr size_t kSampleKeys = 10'000;

void MeasureFpr(const KeySample& sample, uint64_t num_probes, TableFile* file,
                std::mt19937_64* random, FileCheck* check) {
  if (sample.keys().empty()) return;
  for (uint64_t i = 0; i < num_probes; ++i) {
    const std::string& present = sample.keys()[static_cast<size_t>(i % sample.keys().size())];
    const std::optional<std::string> absent = file->AbsentKey(present, random);
    if (!absent) continue;
    ++check->absent_keys.num_probed;
    check->absent_keys.num_passed += file->MayMatch(*absent);
  }
}

/// Checks ranges with one or two keys of the file, and measures common prefixes of neighbors.
class RangeCheck {
 public:
  RangeCheck(TableFile* file, FileCheck* check) : file_(file), check_(check) {}

  void CheckKey(std::string_view key) {
    if (!key.empty() && key != previous_) {
      end_.assign(key).push_back('\0');
      CheckRange(key);
      previous_.push_back('\0');
      CheckRange(previous_);
      previous_.pop_back();
    }
    const size_t shared = static_cast<size_t>(
        std::mismatch(key.begin(), key.end(), previous_.begin(), previous_.end()).first -
        key.begin());
    mean_shared_ += (static_cast<double>(shared) - mean_shared_) / ++num_keys_;
    previous_ = key;
  }

  /// Probes empty ranges: the start of one key with the end of another, split at the mean length of
  /// common prefixes.
  void MeasureFpr(const KeySample& sample, uint64_t num_probes, std::mt19937_64* random) {
    if (sample.keys().empty() || check_->ranges_checked == 0) return;
    const auto parting = static_cast<size_t>(mean_shared_);
    for (uint64_t i = 0; i < num_probes; ++i) {
      const std::string& first = sample.keys()[static_cast<size_t>(i % sample.keys().size())];
      const std::string& second = sample.keys()[(*random)() % sample.keys().size()];
      if (second.size() <= parting) continue;
      const std::string begin = first.substr(0, parting) + second.substr(parting);
      if (begin.empty() || !FindEmptyRange(begin, parting)) continue;
      ++check_->empty_ranges.num_probed;
      check_->empty_ranges.num_passed += file_->MayMatchRange(begin, end_).value_or(true);
    }
  }

 private:
  /// Sets end_ so that [begin, end_) is empty; false if `begin` is a key. Prefers wide ranges: for
  /// ranges with room for few keys, the key filter may be probed instead.
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

  void CheckRange(std::string_view begin) {
    const std::optional<bool> may_match = file_->MayMatchRange(begin, end_);
    if (!may_match) return;
    ++check_->ranges_checked;
    check_->false_negative_ranges += !*may_match;
  }

  TableFile* const file_;
  FileCheck* const check_;
  std::string previous_;
  std::string end_;
  double mean_shared_ = 0;  // bytes of the common prefix with the previous key
  double num_keys_ = 0;
};

}  // namespace

RateInterval WilsonInterval(uint64_t num_hits, uint64_t num_trials) {
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

  std::mt19937_64 random(check.file.num_bytes);  // the same probes for the same file
  KeySample sample(kSampleKeys);
  RangeCheck ranges(file, &check);
  try {
    check.unchecked = file->ForEachKey([&](std::string_view key, bool may_match) {
      ++check.keys_checked;
      check.false_negatives += !may_match;
      sample.Add(key, &random);
      if (check.file.filter.num_range_filters != 0) ranges.CheckKey(key);
    });
    const FilterOrigin origin = check.file.filter.origin;
    if (origin == FilterOrigin::kBlocksieve || origin == FilterOrigin::kStock) {
      MeasureFpr(sample, num_probes, file, &random, &check);
      ranges.MeasureFpr(sample, num_probes, &random);
    }
  } catch (const term::Failure& failure) {
    check.problems.push_back(failure.what());
  }
  if (check.false_negatives != 0) {
    check.problems.push_back("the filter has false negatives for " +
                             term::CountOf(check.false_negatives, "key") + " of the file");
  }
  if (check.false_negative_ranges != 0) {
    check.problems.push_back("the filter has false negatives for " +
                             term::CountOf(check.false_negative_ranges, "range") +
                             " with keys of the file");
  }
  return check;
}

}  // namespace blocksieve::cli
