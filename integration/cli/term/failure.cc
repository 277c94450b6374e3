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

int Report(const Describe& describe, const std::string& name, const char* message, int code) {
  std::string text =
      describe ? describe(name, message, code) : fmt::format("{}: {}\n", name, message);
  if (!describe && code == kUsageCode) text += fmt::format("See: {} --help\n", name);
  WriteToStandardError(text);
  return code;
}

int RunAndReport(const std::string& name, const std::function<void()>& run,
                 const Describe& describe) {
  try {
    run();
    if (std::fflush(stdout) != 0) Fail("cannot write to standard output");
    return 0;
  } catch (const Exit& exit) {
    return exit.code;
  } catch (const UsageError& error) {
    return Report(describe, name, error.what(), kUsageCode);
  } catch (const Interrupted& interrupted) {
    return Report(describe, name, interrupted.what(), kSignalCode + interrupted.signal());
  } catch (const std::bad_alloc&) {
    return Report(describe, name, "out of memory", kFailureCode);
  } catch (const std::exception& error) {
    return Report(describe, name, error.what(), kFailureCode);
  }
}

}  // namespace

int RunMain(const std::string& name, const std::function<void()>& run, const Describe& describe) {
  try {
    return RunAndReport(name, run, describe);
  } catch (...) {  // not even memory for a message
    return kFailureCode;
  }
}

}  // namespace blocksieve::term
