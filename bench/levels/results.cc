#include "bench/levels/results.h"

#include <algorithm>
#include <cmath>

#include "bench/support/failure.h"

namespace blocksieve::bench::levels {
namespace {

double Interpolate(double x0, double y0, double x1, double y1, double x) {
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

// The line through two points next to each other of `points`: those around the place where
// `is_before` ends, or the two at that end.
template <class IsBefore>
std::pair<const Measurement*, const Measurement*> Neighbours(const std::vector<Point>& points,
                                                             IsBefore is_before) {
  if (points.size() < 2) Fail("{} points make no line", points.size());
  const auto after = std::find_if_not(
      points.begin(), points.end(), [&](const Point& point) { return is_before(point.measured); });
  const auto i =
      std::clamp<ptrdiff_t>(after - points.begin(), 1, static_cast<ptrdiff_t>(points.size()) - 1);
  return {&points[static_cast<size_t>(i) - 1].measured, &points[static_cast<size_t>(i)].measured};
}

}  // namespace

uint64_t Measurement::keys() const {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += run.keys;
  return sum;
}

uint64_t Measurement::filter_bytes() const {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += run.filter_bytes;
  return sum;
}

double Measurement::bits_per_key() const {
  return 8 * static_cast<double>(filter_bytes()) / static_cast<double>(keys());
}

double Measurement::wasted_reads() const {
  return static_cast<double>(wasted_data_blocks) / static_cast<double>(lookups);
}

double Measurement::optimum() const {
  std::vector<RunGroup> groups;
  for (const Run& run : runs) groups.push_back({.keys_per_run = static_cast<double>(run.keys)});
  const Result<RateAllocation> allocation = AllocateForBitsPerKey(groups, bits_per_key());
  if (!allocation.ok()) Fail("no optimum: {}", allocation.status().message());
  return allocation->wasted_reads;
}

double Curve::WastedReadsAt(double bits_per_key) const {
  const auto [a, b] =
      Neighbours(points, [&](const Measurement& m) { return m.bits_per_key() < bits_per_key; });
  return std::exp(Interpolate(a->bits_per_key(), std::log(a->wasted_reads()), b->bits_per_key(),
                              std::log(b->wasted_reads()), bits_per_key));
}

double Curve::BitsPerKeyAt(double wasted_reads) const {
  const auto [a, b] =
      Neighbours(points, [&](const Measurement& m) { return m.wasted_reads() > wasted_reads; });
  return Interpolate(std::log(a->wasted_reads()), a->bits_per_key(), std::log(b->wasted_reads()),
                     b->bits_per_key(), std::log(wasted_reads));
}

const Curve& TreeResults::CurveOf(Role role) const {
  return *std::find_if(curves.begin(), curves.end(),
                       [&](const Curve& curve) { return curve.role == role; });
}

const Point& TreeResults::StockBloom() const {
  const std::vector<Point>& points = CurveOf(Role::kStockBloom).points;
  return *std::find_if(points.begin(), points.end(),
                       [&](const Point& point) { return point.asked_bits == kComparedBits; });
}

}  // namespace blocksieve::bench::levels
