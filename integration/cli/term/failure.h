#pragma once

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

// Errors and interrupts are thrown; RunMain reports them and returns the exit code.

namespace blocksieve::term {

/// The command failed: exit code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The arguments are wrong: exit code 2, and a pointer to --help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A signal stopped the program; the message says what was done until then. Thrown instead of
/// exiting, so that destructors remove temporary files.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(const std::string& what = "interrupted");
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// Makes SIGINT, SIGTERM and SIGHUP set InterruptFlag and end blocking system calls with EINTR; a
/// second signal of the same kind ends the program.
void CatchInterrupts();

/// Whether such a signal arrived. Cheap enough for inner loops.
std::atomic<bool>& InterruptFlag();

/// Throws Interrupted if such a signal arrived.
inline void CheckInterrupt() {
  if (InterruptFlag().load(std::memory_order_relaxed)) throw Interrupted();
}

/// Exits without a report.
struct Exit {
  int code;
};

template <class... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void FailUsage(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Failure with the message and the status, such as one of RocksDB, unless that is OK.
template <class Status, class... Args>
void CheckOk(const Status& status, fmt::format_string<Args...> format, Args&&... args) {
  if (status.ok()) return;
  Fail("{}: {}", fmt::format(format, std::forward<Args>(args)...), status.ToString());
}

/// Runs a program and returns its exit code: 0; the code of an Exit; 2 for a UsageError; 128 + n
/// for Interrupted by signal n; 1 for any other exception, or if stdout cannot be written. Reports
/// all but an Exit on standard error as "NAME: MESSAGE", or as the text returned by `describe`.
/// `name` is read only then: `run` may append its subcommand.
using Describe =
    std::function<std::string(const std::string& name, const char* message, int exit_code)>;
int RunMain(const std::string& name, const std::function<void()>& run,
            const Describe& describe = nullptr);

}  // namespace blocksieve::term
