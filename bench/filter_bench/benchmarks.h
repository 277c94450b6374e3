#pragma once

namespace blocksieve::bench {

/// Registers build, absent, present and batch of every contestant, the raw probes of every kernel,
/// and the physical limits, each at 10 k, 1 M and 10 M keys.
void RegisterBenchmarks();

}  // namespace blocksieve::bench
