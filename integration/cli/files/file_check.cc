#include "integration/cli/files/file_check.h"

#include <cassert>
#include <cmath>

#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

// The number of keys of the file next to which absent keys are made.
constexpr size_t kSampleKeys = 10'000;

void MeasureFpr(const KeySample& sample, uint64_t num_probes, TableFile* file,
                std::mt19937_64* random, FileCheck* check) {
  if (sample.keys().empty()) return;
  for (uint64_t i = 0; i < num_probes; ++i) {
    const std::string& present = sample.keys()[static_cast<size_t>(i % sample.keys().size())];
    const std::optional<std::string> absent = file->AbsentKey(present, random);
    if (!absent) continue;
    ++check->num_probes;
    check->num_passed += file->MayMatch(*absent);
  }
  if (check->num_probes != 0) check->fpr = WilsonInterval(check->num_passed, check->num_probes);
}

}  // namespace

RateInterval WilsonInterval(uint64_t num_hits, uint64_t num_trials) {
  assert(num_trials > 0 && num_hits <= num_trials);
  constexpr double kZ = 1.959963984540054;  // of the normal distribution, 97.5 %
  const auto n = static_cast<double>(num_trials);
  const double share = static_cast<double>(num_hits) / n;
  const double scale = 1 + kZ * kZ / n;
  const double middle = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  // At either end rounding would leave a tiny error.
  return {num_hits == 0 ? 0 : middle - half, num_hits == num_trials ? 1 : middle + half};
}

FileCheck CheckFile(TableFile* file, uint64_t num_probes) {
  FileCheck check;
  check.file = file->report();
  check.problems = check.file.filter.problems;
  if (!check.file.index.problem.empty()) check.problems.push_back(check.file.index.problem);
  for (std::string& damage : file->FindDamage()) check.problems.push_back(std::move(damage));

  std::mt19937_64 random(check.file.num_bytes);  // the same file is probed by the same keys
  KeySample sample(kSampleKeys);
  try {
    check.unseen = file->ForEachKey([&](std::string_view key, bool may_match) {
      ++check.keys_asked;
      check.false_negatives += !may_match;
      sample.Add(key, &random);
    });
    const FilterOrigin origin = check.file.filter.origin;
    if (origin == FilterOrigin::kBlocksieve || origin == FilterOrigin::kStock) {
      MeasureFpr(sample, num_probes, file, &random, &check);
    }
  } catch (const term::Failure& failure) {
    check.problems.push_back(failure.what());
  }
  if (check.false_negatives != 0) {
    check.problems.push_back("the filter denies " + term::CountOf(check.false_negatives, "key") +
                             " that the file has");
  }
  return check;
}

}  // namespace blocksieve::cli
