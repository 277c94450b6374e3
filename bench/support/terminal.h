#pragma once

#include <utility>

#include "blocksieve/status.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/progress.h"

// How a job fails, is interrupted and shows what it is at: as the command does.

namespace blocksieve::bench {

using term::CheckInterrupt;
using term::Exit;
using term::Fail;
using term::Failure;
using term::Interrupted;
using term::Progress;

/// The value of a result that must be one; `what` says of what. Throws Failure.
template <class T>
T Must(Result<T> result, const char* what) {
  if (!result.ok()) Fail("{}: {}", what, result.status().message());
  return *std::move(result);
}

/// A job's main(). Errors name bench/run, which starts it; see term::RunMain for the exit code.
inline int RunMain(const std::function<void()>& run) {
  return term::RunMain("bench/run", [&] {
    term::CatchInterrupts();
    run();
  });
}

}  // namespace blocksieve::bench
