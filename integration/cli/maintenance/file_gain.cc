#include "integration/cli/maintenance/file_gain.h"

#include <cmath>

#include "integration/cli/advise/verdict.h"

namespace blocksieve::cli {

bool Gains(const FilterChange& change) {
  const FilterReport& now = change.file->filter;
  return change.fpr < (1 - kLeastGain) * now.predicted_fpr ||
         static_cast<double>(change.filter_bytes) <
             (1 - kLeastGain) * static_cast<double>(PointBytes(now));
}

bool GainsOnBalance(const FilterChange& change) {
  const FilterReport& now = change.file->filter;
  if (change.filter_bytes == 0) return true;  // it has a filter, and is to have none
  const double price = -std::log(change.fpr);
  const double bytes =
      static_cast<double>(PointBytes(now)) / static_cast<double>(change.filter_bytes);
  return now.predicted_fpr / change.fpr + price * bytes > 1 + price + kLeastGain;
}

}  // namespace blocksieve::cli
