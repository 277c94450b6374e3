#include "bench/support/run_main.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "bench/support/failure.h"
#include "bench/support/interrupt.h"

namespace blocksieve::bench {

int RunMain(const std::function<void()>& run) {
  try {
    CatchInterrupts();
    run();
    if (std::fflush(stdout) != 0) Fail("cannot write to standard output");
    return 0;
  } catch (const Exit& exit) {
    return exit.code;
  } catch (const Interrupted&) {
    fmt::print(stderr, "bench/run: interrupted\n");
    return 128 + InterruptSignal();
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench/run: {}\n", error.what());
    return 1;
  }
}

}  // namespace blocksieve::bench
