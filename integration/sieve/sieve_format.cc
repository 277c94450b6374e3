#include "integration/sieve/sieve_format.h"

#include "lib/base/coding.h"

namespace blocksieve::sieve {
namespace {

constexpr uint64_t ShardRecord::*kFields[] = {
    &ShardRecord::seen,
    &ShardRecord::enqueued,
    &ShardRecord::withdrawn,
    &ShardRecord::new_by_counting_filter,
    &ShardRecord::new_by_file_filters,
    &ShardRecord::new_by_reading,
    &ShardRecord::repeats,
    &ShardRecord::design_urls,
};

}  // namespace

std::string ShardRecord::Encode() const {
  std::string text;
  for (const auto field : kFields) AppendVarint(&text, this->*field);
  return text;
}

std::optional<ShardRecord> ShardRecord::Decode(std::string_view text) {
  Decoder decoder(AsBytes(text));
  ShardRecord record;
  for (const auto field : kFields) record.*field = decoder.Varint();
  if (!decoder.ok() || !decoder.rest().empty()) return std::nullopt;
  return record;
}

}  // namespace blocksieve::sieve
