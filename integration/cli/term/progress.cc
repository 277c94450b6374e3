#include "integration/cli/term/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "integration/cli/term/streams.h"

namespace blocksieve::term {

Progress::Progress() : enabled_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Show(""); }

void Progress::Show(std::string_view what) {
  if (!enabled_) return;
  constexpr std::string_view kEraseLine = "\r\x1b[K";
  // No wider than the narrowest terminal: a wrapped line could not be erased.
  WriteToStandardError(fmt::format("{}{:.79}", kEraseLine, what));
}

bool Progress::IsDue() {
  if (!enabled_) return false;
  constexpr auto kPause = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + kPause;
  return true;
}

}  // namespace blocksieve::term
