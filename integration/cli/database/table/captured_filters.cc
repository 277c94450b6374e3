#include "integration/cli/database/table/captured_filters.h"

#include "integration/rocksdb/policy/filter_bits.h"

namespace blocksieve::cli {
namespace {

struct Captured {
  std::vector<std::string> contents;
  std::optional<bool> answer;
};

class CapturedReader final : public rocksdb::FilterBitsReader {
 public:
  CapturedReader(const rocksdb::Slice& contents, std::shared_ptr<Captured> captured)
      : reader_(rocksdb_plugin::NewBitsReader(contents)), captured_(std::move(captured)) {}

  bool MayMatch(const rocksdb::Slice& entry) override {
    captured_->answer = reader_ == nullptr || reader_->MayMatch(entry);
    return false;
  }

 private:
  const std::unique_ptr<rocksdb::FilterBitsReader> reader_;
  const std::shared_ptr<Captured> captured_;  // RocksDB may keep readers longer than the policy
};

}  // namespace

class CapturedFilters::Policy final : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return "blocksieve.captured_filters"; }
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    captured_->contents.push_back(contents.ToString());
    return new CapturedReader(contents, captured_);
  }

  Captured& captured() const { return *captured_; }

 private:
  const std::shared_ptr<Captured> captured_ = std::make_shared<Captured>();
};

CapturedFilters::CapturedFilters() : policy_(std::make_shared<Policy>()) {}

std::shared_ptr<const rocksdb::FilterPolicy> CapturedFilters::policy() const { return policy_; }

const std::vector<std::string>& CapturedFilters::contents() const {
  return policy_->captured().contents;
}

std::optional<bool> CapturedFilters::TakeAnswer() {
  return std::exchange(policy_->captured().answer, std::nullopt);
}

}  // namespace blocksieve::cli
