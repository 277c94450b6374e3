#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace blocksieve::term {

/// The program ended early because of a signal; the message says what was done until then. It is
/// thrown, not exited with, so that destructors remove temporary files.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(const std::string& what = "interrupted");
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// From now on SIGINT, SIGTERM and SIGHUP only set InterruptFlag and end blocking system calls with
/// EINTR; a second signal of the same kind ends the program.
void CatchInterrupts();

/// Whether such a signal came. Cheap enough for inner loops.
std::atomic<bool>& InterruptFlag();

/// Throws Interrupted if such a signal came.
inline void CheckInterrupt() {
  if (InterruptFlag().load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace blocksieve::term
