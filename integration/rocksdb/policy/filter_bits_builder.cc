#include <new>
#include <string_view>

#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/policy/memory_fit.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// One object serves all partitions of a file. RocksDB uses it from one thread at a time. But under
// parallel compression it calls AddKey and Finish from different threads, and newer versions ask
// for the number of entries meanwhile.
class BitsBuilder final : public FilterBitsBuilderBase<BitsBuilder> {
 public:
  BitsBuilder(FilterBuilder builder, rocksdb::Logger* info_log,
              std::shared_ptr<MemoryFit> memory_fit)
      : builder_(std::move(builder)), info_log_(info_log), memory_fit_(std::move(memory_fit)) {}

  void AddKey(const rocksdb::Slice& key) override { builder_.AddKey({key.data(), key.size()}); }

  size_t EstimateEntriesAdded() override { return static_cast<size_t>(builder_.num_keys()); }

  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buf) override {
    rocksdb::Status ignored;
    return Finish(buf, &ignored);
  }

  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buf, rocksdb::Status* status) override {
    *status = rocksdb::Status::OK();
    const Layout layout = memory_fit_ == nullptr ? builder_.layout() : memory_fit_->Fit(builder_);
    Result<OwnedBytes> block = builder_.Finish(layout);
    has_filter_ = block.ok();
    if (!has_filter_) {
      Report(&reported_no_filter_, "no filter written: ", block.status().message());
      return AlwaysMayMatch(buf);
    }
    if (!builder_.fallback_reason().empty()) {
      Report(&reported_fallback_, "blocked Bloom filter written: ", builder_.fallback_reason());
    }
    const rocksdb::Slice contents(block->memory.get() + block->offset, block->size);
    buf->reset(block->memory.release());
    return contents;
  }

  rocksdb::Status MaybePostVerify(const rocksdb::Slice& filter_content) override try {
    if (!has_filter_ || !builder_.options().keep_hashes) return rocksdb::Status::OK();
    const Status status =
        builder_.VerifyBuilt(AsBytes({filter_content.data(), filter_content.size()}));
    return status.ok() ? rocksdb::Status::OK() : rocksdb::Status::Corruption(status.message());
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::Corruption();  // there is no memory for a message
  }

  size_t ApproximateNumEntries(size_t bytes) override {
    return static_cast<size_t>(builder_.MaxKeys(bytes));
  }

  size_t CalculateSpace(size_t num_entries) override {
    const Layout layout =
        memory_fit_ == nullptr ? builder_.layout() : memory_fit_->Choose(builder_, num_entries);
    return static_cast<size_t>(builder_.BlockBytes(layout, num_entries));
  }

  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    return builder_.EstimateFpr(num_entries, bytes);
  }

 private:
  // Once per file: what happens to one of its partitions may happen to hundreds.
  void Report(bool* reported, std::string_view message, std::string_view reason) {
    if (!*reported) LogLoudly(info_log_, message, reason);
    *reported = true;
  }

  // For an empty Slice, as for one to five bytes, RocksDB would answer "no" for every key.
  static rocksdb::Slice AlwaysMayMatch(std::unique_ptr<const char[]>* buf) {
    static constexpr char kZeros[kZeroTailBytes + 1] = {};
    buf->reset();
    return {kZeros, sizeof(kZeros)};
  }

  FilterBuilder builder_;
  rocksdb::Logger* const info_log_;
  const std::shared_ptr<MemoryFit> memory_fit_;
  bool has_filter_ = false;
  bool reported_no_filter_ = false;
  bool reported_fallback_ = false;
};

}  // namespace

rocksdb::FilterBitsBuilder* NewBitsBuilder(FilterBuilder builder, rocksdb::Logger* info_log,
                                           std::shared_ptr<MemoryFit> memory_fit) {
  // RocksDB is not exception-safe; without a builder it writes no filter.
  auto* const bits =
      new (std::nothrow) BitsBuilder(std::move(builder), info_log, std::move(memory_fit));
  if (bits == nullptr) LogLoudly(info_log, "no filter written: out of memory");
  return bits;
}

}  // namespace blocksieve::rocksdb_plugin
