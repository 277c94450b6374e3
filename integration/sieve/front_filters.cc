#include "integration/sieve/front_filters.h"

#include <algorithm>

#include "blocksieve/rocksdb/filter_policy.h"

namespace blocksieve::sieve {
namespace {

// With five URLs per counter, one counter in 4,000 reaches fifteen and sticks, and the estimate of
// n URLs has a standard error of 5.3 sqrt(n). With ten, the error would be twice the half percent
// that is allowed.
constexpr uint64_t kUrlsPerCounter = 5;
constexpr uint64_t kLeastCounters = 1024;

// Shards are not equally full, and estimates err. Up to this share beyond the design size, the
// sieve as a whole may not be over-full.
constexpr uint64_t kDesignPartsOfSlack = 16;

constexpr double kLastLevelFpr = 0.0135;
constexpr double kUpperLevelsFpr = 0.001;

class FrontPolicy final : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return last_level_->Name(); }
  const char* CompatibilityName() const override { return last_level_->CompatibilityName(); }

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    const auto& policy = context.is_bottommost ? last_level_ : upper_levels_;
    return policy->GetBuilderWithContext(context);
  }

  // Either policy reads the filters of both.
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return last_level_->GetFilterBitsReader(contents);
  }

 private:
  std::shared_ptr<const rocksdb::FilterPolicy> last_level_ =
      NewFilterPolicy({.target_fpr = kLastLevelFpr, .kind = PolicyKind::kRibbon});
  std::shared_ptr<const rocksdb::FilterPolicy> upper_levels_ =
      NewFilterPolicy({.target_fpr = kUpperLevelsFpr, .kind = PolicyKind::kRibbon});
};

}  // namespace

BloomLayout FrontLayout(uint64_t design_urls) {
  return {.num_bits = std::max(design_urls / kUrlsPerCounter, kLeastCounters),
          .num_probes = 1,
          .hash_seed = kSieveSeed,
          .design_keys = design_urls + design_urls / kDesignPartsOfSlack};
}

std::shared_ptr<const rocksdb::FilterPolicy> NewFrontPolicy() {
  return std::make_shared<FrontPolicy>();
}

}  // namespace blocksieve::sieve
