#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/cli/maintenance/measured_reads.h"
#include "integration/cli/maintenance/rewrite_plan.h"

// What `rewrite` and `revert` say: what they would do, what it means, and what they did.

namespace blocksieve::cli {

/// Of a column family, before and after.
struct RewrittenFamily {
  FamilyOutlook outlook;
  MeasuredReads before = {};
  MeasuredReads after = {};
  uint64_t bytes_after = 0;
};

/// What a command did.
struct Rewritten {
  uint64_t num_files = 0;
  uint64_t num_bytes = 0;
  double seconds = 0;
  std::vector<RewrittenFamily> families = {};
};

/// The families of which the plan changes a file.
std::vector<FamilyOutlook> ChangedFamilies(const RewritePlan& plan);

// `deed`: what the plan is for, "Rewriting" or the like; begins a sentence.

/// Wasted reads and memory, today and afterwards. "" if the plan changes nothing.
std::string OutlookText(const RewritePlan& plan, const std::string& deed);

/// That, and the files.
std::string ToText(const RewritePlan& plan, const std::string& deed);
nlohmann::ordered_json ToJson(const RewritePlan& plan);

std::string ToText(const Rewritten& rewritten);
nlohmann::ordered_json ToJson(const Rewritten& rewritten);

}  // namespace blocksieve::cli
