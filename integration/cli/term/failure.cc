#include "integration/cli/term/failure.h"

#include <cstdio>
#include <exception>
#include <new>

#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/streams.h"

namespace blocksieve::term {
namespace {

constexpr int kFailureCode = 1;
constexpr int kUsageCode = 2;
constexpr int kSignalCode = 128;

void Report(const std::string& name, const char* message) {
  WriteToStandardError(fmt::format("{}: {}\n", name, message));
}

int RunAndReport(const std::string& name, const std::function<void()>& run) {
  try {
    run();
    if (std::fflush(stdout) != 0) Fail("cannot write to standard output");
    return 0;
  } catch (const Exit& exit) {
    return exit.code;
  } catch (const UsageError& error) {
    Report(name, error.what());
    WriteToStandardError(fmt::format("See: {} --help\n", name));
    return kUsageCode;
  } catch (const Interrupted& interrupted) {
    Report(name, interrupted.what());
    return kSignalCode + interrupted.signal();
  } catch (const std::bad_alloc&) {
    Report(name, "out of memory");
  } catch (const std::exception& error) {
    Report(name, error.what());
  }
  return kFailureCode;
}

}  // namespace

int RunMain(const std::string& name, const std::function<void()>& run) {
  try {
    return RunAndReport(name, run);
  } catch (...) {  // there is not even memory for a message
    return kFailureCode;
  }
}

}  // namespace blocksieve::term
