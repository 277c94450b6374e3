#include "bench/sieve/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/measure.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::sieve {
namespace {

using blocksieve::sieve::PushCounts;
using blocksieve::sieve::SieveOptions;
using blocksieve::sieve::SieveStats;
using blocksieve::sieve::UrlSieve;

// A crawl's links: `count` URLs, of which a share are repeats of earlier ones, recent and old
// alike. The n-th new URL is Url(n), so that what a sieve hands out can be checked without a list.
class Workload {
 public:
  static constexpr double kRepeats = 0.3;

  Workload(uint64_t first_url, uint64_t seed) : num_new_(first_url), random_(seed) {}

  std::string Next() {
    const bool repeats = num_new_ > 0 && static_cast<double>(random_()) < kRepeats * 0x1p64;
    return Url(repeats ? random_() % num_new_ : num_new_++);
  }

  // Different URLs that there were, those before `first_url` included.
  uint64_t num_new() const { return num_new_; }

  static std::string Url(uint64_t number) {
    // Spread like hashes, as links of a page lead anywhere; the number itself keeps them apart.
    const uint64_t spread = (number + 1) * 0x9E3779B97F4A7C15;
    return fmt::format("https://www.site{}.example/{}/{:x}-{}.html", spread >> 48,
                       spread >> 44 & 0xf, static_cast<uint32_t>(spread), number);
  }

 private:
  uint64_t num_new_;
  std::mt19937_64 random_;
};

constexpr uint64_t kBatch = 1 << 15;  // as the command has it
constexpr uint64_t kLaterUrls = 1'000'000;

void Check(const rocksdb::Status& status) {
  if (!status.ok()) Fail("sieve: {}", status.ToString());
}

std::unique_ptr<UrlSieve> Open(const std::filesystem::path& dir, const SieveOptions& options) {
  std::unique_ptr<UrlSieve> sieve;
  Check(UrlSieve::Open(dir.string(), options, &sieve));
  return sieve;
}

SieveStats StatsOf(const UrlSieve& sieve) {
  SieveStats stats;
  Check(sieve.GetStats(&stats));
  return stats;
}

/// Pushes what `next` gives, in batches. Returns the seconds that pushing alone took.
template <class Next>
double PushAll(UrlSieve* sieve, uint64_t num_urls, Next next) {
  double seconds = 0;
  std::vector<std::string> urls;
  for (uint64_t left = num_urls; left > 0;) {
    CheckInterrupt();
    urls.clear();
    for (uint64_t i = std::min(left, kBatch); i > 0; --i) urls.push_back(next());
    left -= urls.size();
    const std::vector<std::string_view> views(urls.begin(), urls.end());
    PushCounts counts;
    const Stopwatch stopwatch;
    Check(sieve->Push(views, &counts));
    seconds += stopwatch.Seconds();
  }
  return seconds;
}

/// URL n must come as number n. What comes too often or not at all shifts all that follow, so the
/// comparison goes on from where a URL says it is.
void PopAndCompare(UrlSieve* sieve, uint64_t distinct, Exactness* result) {
  std::vector<bool> came(distinct);
  uint64_t last = 0;
  const auto take = [&](std::span<const std::string> urls) {
    for (const std::string& url : urls) {
      const size_t begin = url.rfind('-') + 1;
      const uint64_t number = std::stoull(url.substr(begin));
      if (number >= distinct || url != Workload::Url(number)) Fail("popped {}, never pushed", url);
      result->let_through += came[number];
      result->out_of_order += number < last;
      came[number] = true;
      last = number;
    }
    return true;
  };
  uint64_t num_popped = 0;
  Check(sieve->Pop(UINT64_MAX, take, &num_popped));
  result->dropped = static_cast<uint64_t>(std::count(came.begin(), came.end(), false));
}

}  // namespace

Exactness MeasureExactness(const std::filesystem::path& dir, uint64_t num_urls, uint64_t restarts,
                           Progress* progress) {
  Exactness result;
  result.restarts = restarts;
  SieveOptions options;
  options.design_urls =
      static_cast<uint64_t>((1 - Workload::kRepeats) * static_cast<double>(num_urls));
  Workload workload(0, 1);
  std::unique_ptr<UrlSieve> sieve = Open(dir, options);
  for (uint64_t part = 0; part <= restarts; ++part) {
    progress->Show(fmt::format("pushing, part {} of {}", part + 1, restarts + 1));
    const uint64_t end = num_urls * (part + 1) / (restarts + 1);
    result.push_seconds.push_back(
        PushAll(sieve.get(), end - result.pushed, [&] { return workload.Next(); }));
    result.pushed = end;
    if (part == restarts) break;
    Check(sieve->Close());
    sieve = Open(dir, options);
  }
  result.distinct = workload.num_new();
  result.loaded = StatsOf(*sieve);

  progress->Show("compacting");
  Check(sieve->Compact());
  result.compacted = StatsOf(*sieve);

  progress->Show("pushing more");
  uint64_t next = result.distinct;
  PushAll(sieve.get(), std::min(kLaterUrls, num_urls / 10), [&] { return Workload::Url(next++); });
  const SieveStats later = StatsOf(*sieve);
  result.later_new = later.new_urls() - result.compacted.new_urls();
  result.later_by_reading = later.new_by_reading - result.compacted.new_by_reading;

  progress->Show("popping all");
  PopAndCompare(sieve.get(), next, &result);
  Check(sieve->Close());
  return result;
}

double MeasurePushes(const std::filesystem::path& dir, blocksieve::sieve::FileFilters file_filters,
                     uint64_t num_urls, uint64_t seed) {
  SieveOptions options;
  options.design_urls = num_urls;
  options.file_filters = file_filters;
  const std::unique_ptr<UrlSieve> sieve = Open(dir, options);
  Workload workload(0, seed);
  double seconds = PushAll(sieve.get(), num_urls, [&] { return workload.Next(); });
  const Stopwatch stopwatch;
  Check(sieve->Close());
  seconds += stopwatch.Seconds();
  return static_cast<double>(num_urls) / seconds;
}

}  // namespace blocksieve::bench::sieve
