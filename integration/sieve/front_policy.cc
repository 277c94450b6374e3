#include "integration/sieve/front_policy.h"

#include "blocksieve/rocksdb/filter_policy.h"

namespace blocksieve::sieve {
namespace {

constexpr double kLastLevelFpr = 0.0135;
constexpr double kUpperLevelsFpr = 0.0002;

class FrontPolicy final : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return last_level_->Name(); }
  const char* CompatibilityName() const override { return last_level_->CompatibilityName(); }

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    const auto& policy = context.is_bottommost ? last_level_ : upper_levels_;
    return policy->GetBuilderWithContext(context);
  }

  // A filter says itself what it is.
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return last_level_->GetFilterBitsReader(contents);
  }

 private:
  std::shared_ptr<const rocksdb::FilterPolicy> last_level_ =
      NewFilterPolicy({.target_fpr = kLastLevelFpr, .kind = PolicyKind::kRibbon});
  std::shared_ptr<const rocksdb::FilterPolicy> upper_levels_ =
      NewFilterPolicy({.target_fpr = kUpperLevelsFpr, .kind = PolicyKind::kAuto});
};

}  // namespace

std::shared_ptr<const rocksdb::FilterPolicy> NewFrontPolicy() {
  return std::make_shared<FrontPolicy>();
}

}  // namespace blocksieve::sieve
