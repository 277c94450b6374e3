// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "blocksieve/sizing.h"
#include "integration/cli/commands/options.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kSizeFooter =
    R"(Give exactly one of --fpr, --bits-per-key and --bytes. For each kind of filter, prints the smallest
layout that meets the false-positive rate (FPR), or the most accurate layout that fits:
  bits/key       bits per key of the layout; small filters take more, as they round up
  bytes          size of the filter without its footer; an estimate for ribbon filters
  predicted FPR  share of absent keys that pass the filter
  limit          log2(1/FPR) bits per key, the minimum for any filter
  above limit    how far the size of the filter exceeds that minimum

Examples:
  blocksieve size --fpr 0.01                           filters that pass 1 % of absent keys
  blocksieve size --bits-per-key 10 --keys 50000000    the FPR for ten bits per key
  blocksieve size --bytes 64MiB --keys 50000000        the FPR for 64 MiB
  blocksieve size --fpr 0.001 --format json)";

constexpr uint64_t kDefaultKeys = 1'000'000;
constexpr double kMaxBitsPerKey = 1000;
constexpr uint64_t kMaxNumber = uint64_t{1} << 50;

struct SizeOptions {
  std::optional<double> fpr;
  std::optional<double> bits_per_key;
  std::optional<uint64_t> bytes;
  uint64_t keys = kDefaultKeys;
  std::string format = "text";
};

// The most accurate layout whose payload fits.
Result<Layout> LayoutForBytes(FilterKind kind, uint64_t bytes, uint64_t keys) {
  double bits_per_key = 8 * Ratio(bytes, keys);
  Result<Layout> layout = LayoutForBitsPerKey(kind, bits_per_key);
  // Payloads are rounded up.
  while (layout.ok() && PayloadBytes(*layout, keys) > bytes) {
    constexpr double kStep = 1.0 / 16;
    bits_per_key = layout->bits_per_key - kStep;
    layout = LayoutForBitsPerKey(kind, bits_per_key);
  }
  return layout;
}

Result<Layout> LayoutFor(FilterKind kind, const SizeOptions& options) {
  if (options.fpr) return ChooseLayout(kind, *options.fpr);
  if (options.bits_per_key) return LayoutForBitsPerKey(kind, *options.bits_per_key);
  return LayoutForBytes(kind, *options.bytes, options.keys);
}

Json Size(const Layout& layout, uint64_t keys) {
  const uint64_t bytes = PayloadBytes(layout, keys);
  const double limit = std::log2(1 / layout.predicted_fpr);
  return {{"kind", FilterKindName(layout.kind)},
          {"layout", LayoutText(layout)},
          {"num_probes", layout.num_probes},
          {"bits_per_key", layout.bits_per_key},
          {"num_bytes", bytes},
          {"predicted_fpr", layout.predicted_fpr},
          {"limit_bits_per_key", limit},
          {"above_limit", 8 * Ratio(bytes, keys) / limit - 1}};
}

std::string DescribeRequest(const SizeOptions& options) {
  const std::string keys = term::CountOf(options.keys, "key");
  if (options.fpr) return fmt::format("{} at a false-positive rate of {:g}", keys, *options.fpr);
  if (options.bits_per_key) {
    return fmt::format("{} at up to {:g} bits per key", keys, *options.bits_per_key);
  }
  return fmt::format("{} in up to {}", keys, term::CountOf(*options.bytes, "byte"));
}

std::string ToText(const SizeOptions& options, const Json& layouts) {
  return DescribeRequest(options) + "\n\n" +
         TableText({{"kind", "/kind", PlainText},
                    {"layout", "/layout", PlainText},
                    {"bits/key", "/bits_per_key", ReadsText},
                    {"bytes", "/num_bytes", CountText},
                    {"predicted FPR", "/predicted_fpr", RateText},
                    {"limit", "/limit_bits_per_key", ReadsText},
                    {"above limit", "/above_limit", ShareText}},
                   layouts);
}

void RunSize(const SizeOptions& options) {
  const int num_given =
      options.fpr.has_value() + options.bits_per_key.has_value() + options.bytes.has_value();
  if (num_given != 1) {
    term::FailUsage("{} of --fpr, --bits-per-key and --bytes are given; required: exactly one",
                    num_given);
  }
  Json all = Json::array();
  std::string problems;
  for (const FilterKind kind : AllFilterKinds()) {
    const Result<Layout> layout = LayoutFor(kind, options);
    if (layout.ok()) {
      all.push_back(Size(*layout, options.keys));
    } else {
      problems += fmt::format("\n  {}: {}", FilterKindName(kind), layout.status().message());
    }
  }
  // The best choice first.
  std::sort(all.begin(), all.end(), [](const Json& a, const Json& b) {
    return a["above_limit"].get<double>() < b["above_limit"].get<double>();
  });
  if (all.empty())
    term::FailUsage("no kind of filter fits {}:{}", DescribeRequest(options), problems);
  if (!problems.empty()) problems = "\nNot possible:" + problems + "\n";
  Json document = {{"num_keys", options.keys}};
  if (options.fpr) document["target_fpr"] = *options.fpr;
  if (options.bits_per_key) document["max_bits_per_key"] = *options.bits_per_key;
  if (options.bytes) document["max_bytes"] = *options.bytes;
  document["layouts"] = all;
  WriteReport(options.format, document, ToText(options, all) + problems);
}

}  // namespace

void AddSizeCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "size", "Compute the size or false-positive rate of filters",
                    kSizeFooter, RunSize);
  const auto& fpr = rocksdb_plugin::PolicyOptionTable()["target_fpr"];
  AddOption(command, &options->fpr, "--fpr P", "target false-positive rate, " + fpr.allowed,
            InRange(fpr));
  AddOption(command, &options->bits_per_key, "--bits-per-key B", "maximum bits per key",
            InRange(0, kMaxBitsPerKey));
  AddOption(command, &options->bytes, "--bytes N", "maximum size of the filter, as 10kB or 64MiB",
            BytesInRange(1, kMaxNumber));
  AddOption(command, &options->keys, "--keys N", "number of keys (default 1000000)",
            WholeInRange(1, kMaxNumber));
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
