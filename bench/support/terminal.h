#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "blocksieve/status.h"
#include "integration/cli/term/terminal.h"

// Errors, interruption and progress of a job: those of the `blocksieve` command.

namespace blocksieve::bench {

using term::CheckInterrupt;
using term::Fail;
using term::Failure;
using term::Interrupted;
using term::Progress;

/// The value of `result`. Throws Failure, which names `what`, if it is an error.
template <class T>
T Must(Result<T> result, const char* what) {
  if (!result.ok()) Fail("{}: {}", what, result.status().message());
  return *std::move(result);
}

}  // namespace blocksieve::bench
