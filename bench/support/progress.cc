#include "bench/support/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace blocksieve::bench {

Progress::Progress() : enabled_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Show(""); }

void Progress::Show(std::string_view what) {
  if (!enabled_) return;
  constexpr std::string_view kEraseLine = "\r\x1b[K";
  // No wider than the narrowest terminal: a wrapped line could not be erased.
  fmt::print(stderr, "{}{:.79}", kEraseLine, what);
  std::fflush(stderr);
}

}  // namespace blocksieve::bench
