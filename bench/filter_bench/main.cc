#include <benchmark/benchmark.h>

#include "bench/filter_bench/benchmarks.h"

int main(int argc, char** argv) {
  blocksieve::bench::RegisterBenchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
