#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Random tests as text. A seed is no reproducer once the code that draws changes; a text of the
// operations is, and can be shortened.

namespace blocksieve::testing {

/// All random choices of a run, from one seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  uint64_t Bits() { return random_(); }
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t times) { return Below(times) == 0; }

 private:
  std::mt19937_64 random_;
};

/// A verb with named arguments, on a line of its own:
///   put key=user%20name value=7
/// Spaces, "%" and bytes that are not printable are written %XX. A name may occur several times.
struct Operation {
  std::string verb;
  std::vector<std::pair<std::string, std::string>> args = {};

  bool Has(std::string_view name) const;
  /// The first value of this name, or `otherwise`.
  std::string Get(std::string_view name, std::string_view otherwise = {}) const;
  uint64_t Number(std::string_view name) const;
  /// All values of this name, in order.
  std::vector<std::string> All(std::string_view name) const;

  Operation& Add(std::string name, std::string value) {
    args.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  Operation& Add(std::string name, uint64_t value) {
    return Add(std::move(name), std::to_string(value));
  }
  bool operator==(const Operation&) const = default;
};

using Operations = std::vector<Operation>;

std::string ToText(const Operations& operations);

/// Ignores empty lines, and lines that start with "#".
Operations ParseOperations(std::string_view text);

/// The shortest text found for which `fails` still returns true: without some of its operations and
/// arguments, and with shorter keys and values. `enough`: stops with so few operations. REQUIRES:
/// any part of a text can be run.
Operations Shrink(Operations text, const std::function<bool(const Operations&)>& fails,
                  size_t enough = 0);

}  // namespace blocksieve::testing
