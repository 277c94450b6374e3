#include "integration/cli/term/interrupt.h"

#include <signal.h>

#include <initializer_list>

namespace blocksieve::term {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<int> received_signal = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void Remember(int signal) {
  received_signal = signal;
  interrupted = true;
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

}  // namespace blocksieve::term
