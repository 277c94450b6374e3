#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace blocksieve::bench {

/// Something that is to be reached, and what a run measured.
struct Target {
  std::string what;
  double limit = 0;
  bool is_upper = true;  ///< The figure is to be at most `limit`; else at least.
  double figure = 0;
  std::string limit_text;
  std::string figure_text;

  /// A figure that is not a number meets nothing.
  bool is_met() const { return is_upper ? figure <= limit : figure >= limit; }
};

/// The targets of a run, for its report.
class Targets {
 public:
  void AtMost(std::string what, double figure, double limit, std::string_view unit = "");
  void AtLeast(std::string what, double figure, double limit, std::string_view unit = "");
  /// The figure is printed as one in so many.
  void AtMostOneIn(std::string what, double figure, double limit);

  const std::vector<Target>& all() const { return targets_; }
  size_t num_met() const;

  /// For people: what, target, figure and whether it is met; and a line that counts.
  std::string ToText() const;
  nlohmann::ordered_json ToJson() const;

 private:
  std::vector<Target> targets_;
};

}  // namespace blocksieve::bench
