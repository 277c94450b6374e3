#include "bench/space/build_memory.h"

#include "bench/space/hashes.h"
#include "bench/support/failure.h"
#include "bench/support/own_process.h"
#include "blocksieve/filter_builder.h"

namespace blocksieve::bench::space {

double MeasureBuildMemory(FilterKind kind, double target_fpr, uint64_t num_keys) {
  return InOwnProcess("building a filter", [&] {
    const uint64_t before = ResidentBytes();
    FilterOptions options;
    options.kind = kind;
    options.target_fpr = target_fpr;
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder.ok()) Fail("{}", builder.status().message());
    for (uint64_t i = 0; i < num_keys; ++i) builder->AddHash(HashOf(i));
    const Result<OwnedBytes> block = builder->Finish();
    if (!block.ok()) Fail("{}", block.status().message());
    return static_cast<double>(PeakResidentBytes() - before - block->size) /
           static_cast<double>(num_keys);
  });
}

}  // namespace blocksieve::bench::space
