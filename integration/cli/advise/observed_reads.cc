#include "integration/cli/advise/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {

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
