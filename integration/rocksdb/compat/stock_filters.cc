#include "integration/rocksdb/compat/stock_filters.h"

#include <rocksdb/convenience.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/option_type.h"
#include "lib/base/c_locale.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// The maximum bits per key, in thousandths, with 1, 2, ... probes, from RocksDB's FastLocalBloom.
// Above these, one more probe per 2,000, and 24 above 50,000.
constexpr std::array<int, 12> kMaxMillibitsOfProbes = {2080,  3580,  5100,  6640,  8300,  10070,
                                                       11720, 14001, 16050, 18300, 22001, 25501};
constexpr int kMinMillibits = 1000;
constexpr int kMaxMillibits = 100000;

// Rounds bits per key as RocksDB does. 0: no filter.
int Millibits(double bits_per_key) {
  if (!(bits_per_key >= 0.5)) return 0;
  if (bits_per_key < 1) return kMinMillibits;
  if (bits_per_key >= 100) return kMaxMillibits;
  return static_cast<int>(bits_per_key * 1000 + 0.500001);
}

std::shared_ptr<const rocksdb::FilterPolicy> FromString(const std::string& text) {
  const internal::CLocale c_locale;  // RocksDB parses numbers in the current locale
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString(Strict(), text, &policy);
  return status.ok() ? policy : nullptr;
}

}  // namespace

const rocksdb::FilterPolicy* StockBloom(double bits_per_key) {
  static auto& mutex = *new std::mutex;
  static auto& policies = *new std::map<int, std::shared_ptr<const rocksdb::FilterPolicy>>;
  const int millibits = Millibits(bits_per_key);
  const std::lock_guard lock(mutex);
  auto& policy = policies[millibits];
  if (policy == nullptr)
    policy = FromString("bloomfilter:" + ToText(millibits / 1000.0) + ":false");
  return policy.get();
}

const rocksdb::FilterPolicy* StockReader() {
  static const rocksdb::FilterPolicy* const policy = StockBloom(10);
  return policy;
}

uint32_t StockBloomProbes(double bits_per_key) {
  const int millibits = Millibits(bits_per_key);
  if (millibits == 0) return 0;
  for (size_t i = 0; i < kMaxMillibitsOfProbes.size(); ++i) {
    if (millibits <= kMaxMillibitsOfProbes[i]) return static_cast<uint32_t>(i + 1);
  }
  return millibits > 50000 ? 24 : static_cast<uint32_t>((millibits - 1) / 2000 - 1);
}

double StockBloomFpr(double bits_per_key) {
  const int millibits = Millibits(bits_per_key);
  return millibits == 0 ? 1 : BlockedBloomFpr(millibits / 1000.0, StockBloomProbes(bits_per_key));
}

double StockBloomBitsPerKey(double fpr) {
  // Bisects: the FPR falls with the bits, except for slight rises where the probes change.
  int too_few = kMinMillibits - 1;
  int enough = kMaxMillibits;
  while (enough - too_few > 1) {
    const int middle = (too_few + enough) / 2;
    (StockBloomFpr(middle / 1000.0) <= fpr ? enough : too_few) = middle;
  }
  return enough / 1000.0;
}

}  // namespace blocksieve::rocksdb_plugin
