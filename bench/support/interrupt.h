#pragma once

#include <exception>

namespace blocksieve::bench {

/// Thrown by CheckInterrupt, so that destructors remove the temporary databases.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Makes SIGINT, SIGTERM and SIGHUP take effect at the next CheckInterrupt.
void CatchInterrupts();

/// Throws Interrupted if one of those signals came. Cheap: called from the inner loops.
void CheckInterrupt();

/// The signal that came, or 0.
int InterruptSignal();

}  // namespace blocksieve::bench
