// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table_properties.h>

#include <iterator>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/fuzz/fuzz.h"

// Any text as the options of a filter policy or a skip index. If it is accepted, all numbers are in
// their ranges, and the options are written in a form that parses to the same options. As few
// random texts are accepted, the input is also read as a choice of options and values.

namespace blocksieve::testing {
namespace {

using rocksdb_plugin::Policy;
using rocksdb_plugin::SkipIndexCollectorFactory;

const rocksdb::ConfigOptions& Strict() {
  static const rocksdb::ConfigOptions strict = [] {
    rocksdb::ConfigOptions options;
    options.ignore_unknown_options = false;
    options.ignore_unsupported_options = false;
    return options;
  }();
  return strict;
}

// Null: refused, or of another class.
template <class Ours, class Interface>
std::shared_ptr<const Ours> Create(const std::string& text) {
  const rocksdb_plugin::SilentLog silent;  // of refused options
  std::shared_ptr<Interface> made;
  const rocksdb::Status status = Interface::CreateFromString(Strict(), text, &made);
  const auto* const ours = rocksdb_plugin::As<Ours>(made.get());
  return status.ok() && ours != nullptr ? std::shared_ptr<const Ours>(made, ours) : nullptr;
}

template <class Ours, class Interface, class Validate>
void Try(const std::string& text, Validate validate) {
  const auto made = Create<Ours, Interface>(text);
  if (made == nullptr) return;
  Require(validate(*made).ok(), "its options are valid");
  const rocksdb::Configurable& configurable = *made;
  const auto again = Create<Ours, Interface>(configurable.ToString(Strict()));
  Require(again != nullptr, "its text is parsed");
  std::string mismatch;
  Require(configurable.AreEquivalent(Strict(), again.get(), &mismatch), "to the same options");
}

void TryPolicy(const std::string& text) {
  Try<Policy, const rocksdb::FilterPolicy>(text, [](const Policy& policy) {
    return rocksdb_plugin::ValidatePolicyOptions(policy.options());
  });
}

void TrySkipIndex(const std::string& text) {
  Try<SkipIndexCollectorFactory, rocksdb::TablePropertiesCollectorFactory>(
      text, [](const SkipIndexCollectorFactory& factory) {
        return SkipIndexBuilder::Create(factory.settings().index).status();
      });
}

std::string AnyValue(Input* input) {
  constexpr const char* kWords[] = {"auto", "bloom", "ribbon", "w=folded:2", "a=field:1|b=int:3"};
  switch (input->Below(4)) {
    case 0:
      return std::string(input->Text());
    case 1:
      return kWords[input->Below(std::size(kWords))];
    case 2:
      return std::to_string(input->Number<uint16_t>());
    default:
      return std::to_string(input->Number<uint16_t>()) + "e-" + std::to_string(input->Below(8));
  }
}

template <size_t count>
std::string AnyOptions(const char* id, const char* const (&names)[count], Input input) {
  std::string text = std::string("{id=") + id;
  while (!input.empty()) {
    text += std::string(";") + names[input.Below(count)] + "=";
    text += AnyValue(&input);
  }
  return text + "}";
}

}  // namespace

void TestOneInput(ByteView bytes) {
  static const int registered = blocksieve_rocksdb_register();
  static_cast<void>(registered);
  const std::string text(AsText(bytes));
  TryPolicy(text);
  TrySkipIndex(text);
  const Input choices(bytes);
  TryPolicy(AnyOptions("blocksieve",
                       {"target_fpr", "wasted_reads", "bits_per_key", "kind", "max_build_bytes"},
                       choices));
  TrySkipIndex(AnyOptions("blocksieve.skip_index",
                          {"columns", "target_fpr", "granule_rows", "granule_bytes",
                           "max_index_bytes", "value_suffix_bytes"},
                          choices));
}

}  // namespace blocksieve::testing
