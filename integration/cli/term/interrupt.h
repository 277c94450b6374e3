#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace blocksieve::cli {

/// The command ended early because of a signal; says what was done until then.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(const std::string& what);
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// From now on SIGINT, SIGTERM and SIGHUP only set InterruptFlag and end blocking system calls with
/// EINTR; a second signal of a kind ends the program.
void CatchInterrupts();

/// Whether such a signal came.
std::atomic<bool>& InterruptFlag();

}  // namespace blocksieve::cli
