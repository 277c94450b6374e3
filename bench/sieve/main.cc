// sieve: whether the URL sieve is exact on millions of URLs, what its filters save, and how fast
// pushes are.

#include "integration/sieve/url_sieve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/job.h"

namespace blocksieve::bench::sieve {
namespace {

using blocksieve::sieve::PushCounts;
using blocksieve::sieve::SieveOptions;
using blocksieve::sieve::SieveStats;
using blocksieve::sieve::UrlSieve;

const JobManual kManual = {
    .benchmark = "sieve",
    .description = "The URL sieve: exactness, filter memory and throughput",
    .quick_help = "a tenth of the URLs",
};

// The links of a crawl: `count` URLs, a share of them repeats of earlier ones, recent and old. The
// n-th new URL is Url(n), so that pops can be checked without a list.
class Workload {
 public:
  static constexpr double kRepeats = 0.3;

  std::string Next() {
    const bool repeats = num_new_ > 0 && static_cast<double>(random_()) < kRepeats * 0x1p64;
    return Url(repeats ? random_() % num_new_ : num_new_++);
  }

  // Number of distinct URLs so far.
  uint64_t num_new() const { return num_new_; }

  static std::string Url(uint64_t number) {
    // Spread like hashes, as links of a page lead anywhere; the number makes them distinct.
    const uint64_t spread = (number + 1) * 0x9E3779B97F4A7C15;
    return fmt::format("https://www.site{}.example/{}/{:x}-{}.html", spread >> 48,
                       spread >> 44 & 0xf, static_cast<uint32_t>(spread), number);
  }

 private:
  uint64_t num_new_ = 0;
  std::mt19937_64 random_{1};
};

constexpr uint64_t kBatch = 1 << 15;  // as in the command
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

// Pushes the URLs from `next` in batches. Returns the seconds of pushing alone.
template <class Next>
double PushAll(UrlSieve& sieve, uint64_t num_urls, Next next) {
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
    Check(sieve.Push(views, &counts));
    seconds += stopwatch.Seconds();
  }
  return seconds;
}

// `new_by_reading`: the number of `new_urls` for which a data block was read.
void AddStats(bool is_compacted, const SieveStats& stats, uint64_t new_urls,
              uint64_t new_by_reading, Results& results) {
  const auto bits = [&](uint64_t bytes) { return 8 * Ratio(bytes, stats.seen); };
  const auto if_compacted = [&](double limit) { return is_compacted ? NotAbove(limit) : Target{}; };
  results
      .In("Filter memory, and lookups answered by filters", "Sieve",
          "Loaded: while URLs are pushed. Compacted: for new URLs pushed after a "
          "compaction.")[is_compacted ? "compacted" : "loaded"]
      .Add("filter bits per URL", "bits", bits(stats.filter_bytes()), if_compacted(7.2))
      .Add("counting filter bits per URL", "bits", bits(stats.counting_filter_bytes))
      .Add("new URLs known without a data block", "share", 1 - Ratio(new_by_reading, new_urls),
           NotBelow(0.985))
      .Add("error of the estimated number", "share",
           std::abs(Ratio(stats.estimated.keys, stats.seen) - 1), if_compacted(0.005));
}

// Pops everything. URL n must be the n-th. A repeated or missing URL shifts all that follow, so the
// comparison resumes from the number in the URL.
void PopAndCompare(UrlSieve& sieve, uint64_t distinct, Line& line) {
  std::vector<bool> came(distinct);
  uint64_t last = 0, repeated = 0, out_of_order = 0;
  const auto take = [&](std::span<const std::string> urls) {
    for (const std::string& url : urls) {
      const size_t begin = url.rfind('-') + 1;
      const uint64_t number = std::stoull(url.substr(begin));
      if (number >= distinct || url != Workload::Url(number)) Fail("popped {}, never pushed", url);
      repeated += came[number];
      out_of_order += number < last;
      came[number] = true;
      last = number;
    }
    return true;
  };
  uint64_t num_popped = 0;
  Check(sieve.Pop(UINT64_MAX, take, &num_popped));
  const auto missing = static_cast<uint64_t>(std::count(came.begin(), came.end(), false));
  line.Add("URLs popped again", "count", repeated, NotAbove(0))
      .Add("URLs never popped", "count", missing, NotAbove(0))
      .Add("out of order", "count", out_of_order, NotAbove(0));
}

// Pushes URLs, with restarts; compacts; pushes new URLs to measure the cost of their lookups; and
// pops everything to compare it with the expected order.
void Measure(Job& job) {
  constexpr uint64_t kRestarts = 4;
  const uint64_t num_urls = job.options.quick ? 2'000'000 : 20'000'000;
  const std::filesystem::path dir = job.db_dir / "exact";
  SieveOptions options;
  options.design_urls =
      static_cast<uint64_t>((1 - Workload::kRepeats) * static_cast<double>(num_urls));
  Workload workload;
  std::unique_ptr<UrlSieve> sieve;
  std::vector<double> per_second;
  uint64_t pushed = 0;
  for (uint64_t part = 0; part <= kRestarts; ++part) {
    job.progress.Show(fmt::format("pushing, part {} of {}", part + 1, kRestarts + 1));
    if (sieve != nullptr) Check(sieve->Close());
    sieve = Open(dir, options);
    const uint64_t count = num_urls * (part + 1) / (kRestarts + 1) - pushed;
    const double seconds = PushAll(*sieve, count, [&] { return workload.Next(); });
    per_second.push_back(Ratio(count, seconds));
    pushed += count;
  }
  const SieveStats loaded = StatsOf(*sieve);
  job.progress.Show("compacting");
  Check(sieve->Compact());
  const SieveStats compacted = StatsOf(*sieve);
  job.progress.Show("pushing more");
  uint64_t next = workload.num_new();
  PushAll(*sieve, std::min(kLaterUrls, num_urls / 10), [&] { return Workload::Url(next++); });
  const SieveStats later = StatsOf(*sieve);
  job.progress.Show("popping all");
  Results& results = job.results;
  Line& line = results.In("Exactness and speed")["all URLs"];
  PopAndCompare(*sieve, next, line);
  Check(sieve->Close());
  line.Add("pushed per second", "count", per_second);
  AddStats(false, loaded, loaded.new_urls(), loaded.new_by_reading, results);
  AddStats(true, compacted, later.new_urls() - compacted.new_urls(),
           later.new_by_reading - compacted.new_by_reading, results);
  results.title = "The URL sieve";
  results.lead = fmt::format(
      "A persistent queue that takes each URL once: {} URLs pushed, {} of them distinct, with {} "
      "restarts, and every answer checked. Counting filters are in memory; key filters in files "
      "save reads of data blocks.",
      num_urls, workload.num_new(), kRestarts);
}

}  // namespace
}  // namespace blocksieve::bench::sieve

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(sieve::kManual, argc, argv, sieve::Measure);
}
