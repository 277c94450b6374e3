#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "blocksieve/bloom.h"
#include "blocksieve/filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/must.h"

namespace blocksieve::testing {

inline FilterBuilder MakeBuilder(const FilterOptions& options) {
  return Must(FilterBuilder::Create(options));
}

inline OwnedBytes FinishOk(FilterBuilder& builder) { return Must(builder.Finish()).block; }

/// Present keys have even numbers and absent keys odd ones: neighbours, as in an engine's lookups.
inline std::string KeyNumber(uint64_t number) {
  return "user:" + MakeKey(KeyShape::kCounter, number);
}
inline std::string PresentKey(uint64_t i) { return KeyNumber(2 * i); }
inline std::string AbsentKey(uint64_t i) { return KeyNumber(2 * i + 1); }

/// The first five absent keys of 20,000 that match.
template <class AnyFilter>
std::string FirstFalsePositives(const AnyFilter& filter) {
  std::string found;
  int num_found = 0;
  for (uint64_t i = 0; i < 20'000 && num_found < 5; ++i) {
    if (!filter.MayContain(AbsentKey(i))) continue;
    found += std::to_string(i) + " ";
    ++num_found;
  }
  return found;
}

/// Adds the first `num_keys` present keys.
inline void AddKeys(FilterBuilder* builder, uint64_t num_keys) {
  for (uint64_t i = 0; i < num_keys; ++i) builder->AddKey(PresentKey(i));
}

inline OwnedBytes BuildBlock(const FilterOptions& options, uint64_t num_keys) {
  FilterBuilder builder = MakeBuilder(options);
  AddKeys(&builder, num_keys);
  return FinishOk(builder);
}

/// The bytes as a string, to be damaged.
inline std::string Copy(const OwnedBytes& block) { return std::string(AsText(block.view())); }

/// A serialized classic or counting filter.
template <class Bloom>
std::string Serialized(const Bloom& filter) {
  return Copy(Must(filter.Serialize()));
}

}  // namespace blocksieve::testing
