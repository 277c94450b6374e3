#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace blocksieve::term {

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

}  // namespace blocksieve::term
