#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <utility>

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

/// A job's main(). Errors name bench/run, which starts it. Exit codes: see term::RunMain.
inline int RunMain(const std::function<void()>& run) {
  return term::RunMain("bench/run", [&] {
    term::CatchInterrupts();
    run();
  });
}

}  // namespace blocksieve::bench
