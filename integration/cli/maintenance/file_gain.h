#pragma once

#include "integration/cli/advise/filter_plan.h"

// Whether a file is worth rewriting. Plans shift a little with every file that RocksDB compacts:
// the rates of a level follow its keys, and what is known of lookups is an estimate. A file that
// was rewritten a moment ago must not be taken for one that gains because of that.

namespace blocksieve::cli {

/// A planned filter gains if it wastes fewer reads, or takes less memory, by 5 % at least, as much
/// as a verdict of advise has to save.
bool Gains(const FilterChange& change);

/// Whether it also gains so much if reads and memory are weighed against each other, as it must
/// where rates are spread over levels: fewer reads for more memory are no gain in themselves.
///
/// In the plan, the last byte of every filter saves the same reads. By that rate of exchange, in
/// units of the reads that the planned filter wastes, a filter with the rate p and b bytes costs
///
///   p / p* + ln(1 / p*) × b / b*
///
/// where p* and b* are those of the planned one, which costs the least. A rate that is 1.36 times
/// the planned one, or 0.72 times, costs 5 % more; other kinds and files without filters, far more.
bool GainsOnBalance(const FilterChange& change);

}  // namespace blocksieve::cli
