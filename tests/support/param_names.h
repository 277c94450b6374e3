#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

namespace blocksieve::testing {

// Names of test parameters. Enumerations have a NameOf of their own.
template <class Struct>
requires requires(const Struct& s) { s.name; }
std::string NameOf(const Struct& param) { return param.name; }
/// "OneIn100" for 0.01.
inline std::string NameOf(double fpr) { return "OneIn" + std::to_string(std::lround(1 / fpr)); }
inline std::string NameOf(unsigned seed) { return "Seed" + std::to_string(seed); }

/// Names the cases of a parameterised test by their parameters, concatenated.
struct ParamNames {
  template <class Param>
  std::string operator()(const ::testing::TestParamInfo<Param>& info) const {
    return Join(info.param);
  }

 private:
  template <class Param>
  static std::string Join(const Param& param) {
    return NameOf(param);
  }
  template <class... Params>
  static std::string Join(const std::tuple<Params...>& params) {
    return std::apply([](const auto&... each) { return (std::string() + ... + NameOf(each)); },
                      params);
  }
};

}  // namespace blocksieve::testing
