#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/filter_builder.h"

namespace blocksieve::testing {

/// Every kind that FilterBuilder builds: one line here runs all conformance tests on a new kind.
inline const std::vector<FilterKind>& BuildableKinds() {
  static const std::vector<FilterKind> kinds{FilterKind::kBlockedBloom, FilterKind::kRibbon};
  return kinds;
}

inline FilterBuilder MakeBuilder(FilterOptions options) {
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  EXPECT_TRUE(builder.ok()) << builder.status().message();
  return *std::move(builder);
}

inline FilterBuilder MakeBuilder(FilterKind kind, double target_fpr = 0.01) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  return MakeBuilder(options);
}

inline OwnedBytes FinishOk(FilterBuilder& builder) {
  Result<OwnedBytes> block = builder.Finish();
  EXPECT_TRUE(block.ok()) << block.status().message();
  return *std::move(block);
}

/// Present keys have even numbers and absent ones odd: neighbours, as an engine would ask for.
inline std::string KeyNumber(uint64_t number) {
  std::string key = "user:";
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
  return key;
}
inline std::string PresentKey(uint64_t i) { return KeyNumber(2 * i); }
inline std::string AbsentKey(uint64_t i) { return KeyNumber(2 * i + 1); }

inline OwnedBytes BuildBlock(FilterKind kind, double target_fpr, uint64_t num_keys) {
  FilterBuilder builder = MakeBuilder(kind, target_fpr);
  for (uint64_t i = 0; i < num_keys; ++i) builder.AddKey(PresentKey(i));
  return FinishOk(builder);
}

/// The bytes as a string, to be damaged.
inline std::string Copy(const OwnedBytes& block) { return std::string(AsText(block.view())); }

}  // namespace blocksieve::testing
