// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/term/terminal.h"

#include <signal.h>

#include <cstdio>
#include <exception>
#include <new>

namespace blocksieve::term {
namespace {

constexpr int kFailureCode = 1;
constexpr int kUsageCode = 2;
constexpr int kSignalCode = 128;

std::atomic<bool> interrupted = false;
std::atomic<int> received_signal = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void Remember(int signal) {
  received_signal = signal;
  interrupted = true;
}

int RunAndReport(const std::string& name, const std::function<void()>& run,
                 const Describe& describe) {
  const auto report = [&](const char* message, int code) {
    std::string text =
        describe ? describe(name, message, code) : fmt::format("{}: {}\n", name, message);
    if (!describe && code == kUsageCode) text += fmt::format("See: {} --help\n", name);
    WriteToStandardError(text);
    return code;
  };
  try {
    run();
    if (std::fflush(stdout) != 0) Fail("cannot write to standard output");
    return 0;
  } catch (const UsageError& error) {
    return report(error.what(), kUsageCode);
  } catch (const Interrupted& interrupted) {
    return report(interrupted.what(), kSignalCode + interrupted.signal());
  } catch (const std::bad_alloc&) {
    return report("out of memory", kFailureCode);
  } catch (const std::exception& error) {
    return report(error.what(), kFailureCode);
  }
}

}  // namespace

Interrupted::Interrupted(const std::string& what)
    : std::runtime_error(what), signal_(received_signal) {}

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = Remember;
  // No SA_RESTART: a read from a terminal would keep waiting.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present = {};
    sigaction(signal, nullptr, &present);
    // nohup and background jobs of scripts ignore some signals on purpose.
    if (present.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

std::atomic<bool>& InterruptFlag() { return interrupted; }

int RunMain(const std::string& name, const std::function<void()>& run, const Describe& describe) {
  try {
    return RunAndReport(name, run, describe);
  } catch (...) {  // not even memory for a message
    return kFailureCode;
  }
}

}  // namespace blocksieve::term
