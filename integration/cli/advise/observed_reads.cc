#include "integration/cli/advise/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {

void SetCoverage(const ObservedReads& reads, RunList* list) {
  double keys = 0;
  double newer_runs = 0;  // times keys
  for (size_t i = 0; i < list->runs.size(); ++i) {
    if (list->runs[i].fpr >= 1) return;
    const auto keys_of_run = static_cast<double>(list->runs[i].num_keys);
    keys += keys_of_run;
    newer_runs += static_cast<double>(i) * keys_of_run;
  }
  if (!reads.probes() || !reads.absent_fraction() || keys == 0) return;
  const double absent = *reads.absent_fraction();
  const double other_runs = static_cast<double>(list->runs.size()) - 1;
  // Probes per lookup beyond the first, if every run had keys everywhere.
  const double most = absent * other_runs + (1 - absent) * newer_runs / keys;
  if (most == 0) return;
  const double shared = std::clamp((*reads.probes() - 1) / most, 0.0, 1.0);
  lsm::Coverage coverage(1);
  coverage[0].lookup_share = shared;
  for (size_t i = 0; i < list->runs.size(); ++i) {
    const auto keys_of_run = static_cast<double>(list->runs[i].num_keys);
    coverage[0].parts.push_back({i, shared * keys_of_run});
    coverage.push_back({(1 - shared) * keys_of_run / keys, {{i, (1 - shared) * keys_of_run}}});
  }
  list->tree = lsm::Tree(ModelOf(list->runs), std::move(coverage));
}

std::string ToText(const ObservedReads& reads, std::optional<double> predicted) {
  std::string known;
  if (reads.lookups) known += term::CountOf(*reads.lookups, "lookup") + " of files";
  if (const auto absent = reads.absent_fraction()) {
    known += fmt::format(", {:.1f} % of absent keys", 100 * *absent);
  }
  if (reads.seeks) known += (known.empty() ? "" : "; ") + term::CountOf(*reads.seeks, "seek");
  if (const auto seeks = reads.seek_fraction()) {
    known += fmt::format(", {:.1f} % of these reads", 100 * *seeks);
  }
  std::string text = known.empty() ? "" : "Observed: " + known + ".\n";
  if (!reads.missing.empty()) {
    text += fmt::format("Missing counters, without which some figures are unknown: {}.\n",
                        fmt::join(reads.missing, ", "));
  }
  if (const auto wasted = reads.wasted_reads()) {
    text +=
        fmt::format("Wasted reads per lookup: {:.3g} by RocksDB's counters of filters", *wasted);
    if (predicted) text += fmt::format(", {:.3g} by the model of the tree", *predicted);
    text += ".\n";
  }
  if (reads.seeks.value_or(0) == 0) return text;
  if (!reads.seek_blocks) {
    return text + "RocksDB before 8.3 does not count the data blocks that seeks read.\n";
  }
  const rocksdb_plugin::ObservedSeeks& seeks = *reads.seek_blocks;
  return text +
         fmt::format(
             "Data blocks per seek: {:.3g} read, {:.3g} of them without a row for the seek, and "
             "{:.3g} ruled\nout by filters. Range filters and prefixes can rule out those without "
             "a row if seeks have\nupper bounds; advise --db DIR --seek-fraction {:.2g} prices "
             "them.\n",
             term::Ratio(seeks.blocks(), *reads.seeks), term::Ratio(seeks.useless, *reads.seeks),
             term::Ratio(seeks.ruled_out, *reads.seeks), reads.seek_fraction().value_or(1));
}

Json ToJson(const ObservedReads& reads) {
  Json document = {{"lookups", OrNull(reads.lookups)},
                   {"absent_fraction", OrNull(reads.absent_fraction())},
                   {"wasted_reads", OrNull(reads.wasted_reads())},
                   {"seeks", OrNull(reads.seeks)},
                   {"seek_fraction", OrNull(reads.seek_fraction())},
                   {"missing_counters", reads.missing},
                   {"seek_blocks", nullptr}};
  if (const auto& seeks = reads.seek_blocks) {
    document["seek_blocks"] = {
        {"useful", seeks->useful}, {"useless", seeks->useless}, {"ruled_out", seeks->ruled_out}};
  }
  return document;
}

}  // namespace blocksieve::cli
