#pragma once

#include <fmt/format.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

// How a program ends. Whatever goes wrong is thrown; RunMain reports it and chooses the exit code.

namespace blocksieve::term {

/// The program cannot do what it was asked to do: exit code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What it was asked to do makes no sense: exit code 2, and a pointer to --help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// There is nothing left to do or to report, as after --help.
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

/// Runs a program and returns its exit code: 0; the code of an Exit; 2 for a UsageError; 128 + n if
/// it threw Interrupted after signal n; 1 for any other exception, or if what was printed to stdout
/// cannot be written. Reports all but an Exit on standard error, as "NAME: MESSAGE".
/// `name` is read only then: `run` may extend it once it knows its subcommand.
/// `describe`, if set, makes the whole text of the report, instead.
using Describe =
    std::function<std::string(const std::string& name, const char* message, int exit_code)>;
int RunMain(const std::string& name, const std::function<void()>& run,
            const Describe& describe = nullptr);

}  // namespace blocksieve::term
