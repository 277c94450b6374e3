#include "bench/support/interrupt.h"

#include <csignal>

namespace blocksieve::bench {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void Remember(int signal) {
  received_signal = signal;
  std::signal(signal, SIG_DFL);  // a second one ends the program at once
}

}  // namespace

void CatchInterrupts() {
  std::signal(SIGINT, Remember);
  std::signal(SIGTERM, Remember);
  std::signal(SIGHUP, Remember);
}

void CheckInterrupt() {
  if (received_signal != 0) throw Interrupted();
}

int InterruptSignal() { return received_signal; }

}  // namespace blocksieve::bench
