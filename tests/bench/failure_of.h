#pragma once

#include <string>

#include "bench/support/terminal.h"

namespace blocksieve::bench {

/// What the Failure that `function` throws says; "no failure" if it throws none.
template <class Function>
std::string FailureOf(Function function) {
  try {
    function();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no failure";
}

}  // namespace blocksieve::bench
