// SPDX-License-Identifier: Apache-2.0
#include "bench/support/measure.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <csignal>
#include <cstdio>
#include <utility>

#include "bench/support/terminal.h"

namespace blocksieve::bench {
namespace {

[[noreturn]] void WorkAndExit(int pipe_end, const std::function<double()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read the result
  int code = 1;
  try {
    const double result = work();
    if (::write(pipe_end, &result, sizeof result) == ssize_t{sizeof result}) code = 0;
  } catch (const Interrupted&) {  // the parent was interrupted, too, and reports it
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench/run: {}\n", error.what());
  }
  ::_exit(code);
}

}  // namespace

Spread SpreadOf(std::vector<double> turns) {
  constexpr size_t kTooFewForQuartiles = 3;
  assert(!turns.empty());
  std::sort(turns.begin(), turns.end());
  // Interpolates between the two nearest turns.
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(turns.size() - 1);
    const auto i = static_cast<size_t>(place);
    const double above = turns[std::min(i + 1, turns.size() - 1)];
    return turns[i] + (above - turns[i]) * (place - static_cast<double>(i));
  };
  const bool are_few = turns.size() <= kTooFewForQuartiles;
  return {at(0.5), are_few ? turns.front() : at(0.25), are_few ? turns.back() : at(0.75),
          turns.size()};
}

Spread PairedRatio(const std::vector<double>& mine, const std::vector<double>& theirs) {
  assert(mine.size() == theirs.size());
  std::vector<double> ratios;
  for (size_t i = 0; i < mine.size(); ++i) ratios.push_back(mine[i] / theirs[i]);
  return SpreadOf(std::move(ratios));
}

Spread Quotient(const Spread& mine, const Spread& theirs) {
  return {mine.median / theirs.median, mine.low / theirs.high, mine.high / theirs.low,
          std::min(mine.turns, theirs.turns)};
}

double InOwnProcess(const char* what, const std::function<double()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) Fail("cannot make a pipe");
  std::fflush(nullptr);  // or the child would print it a second time
  const pid_t child = ::fork();
  if (child < 0) Fail("cannot start a process");
  if (child == 0) WorkAndExit(ends[1], work);
  ::close(ends[1]);
  double result = 0;
  const bool is_read = ::read(ends[0], &result, sizeof result) == ssize_t{sizeof result};
  ::close(ends[0]);
  if (!is_read) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  CheckInterrupt();
  if (!is_read || status != 0) Fail("{} failed in a process of its own", what);
  return result;
}

}  // namespace blocksieve::bench
