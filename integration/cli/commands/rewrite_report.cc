#include "integration/cli/commands/rewrite_report.h"

#include <fmt/format.h>

#include <set>

#include "integration/cli/advise/verdict.h"
#include "integration/cli/database/file_text.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"

namespace blocksieve::cli {
namespace {

using Json = nlohmann::ordered_json;

uint64_t SumOfBytes(const RewritePlan& plan) {
  uint64_t sum = 0;
  for (const FileToRewrite& file : plan.rewrites) sum += file.num_bytes;
  return sum;
}

std::string BytesText(int64_t bytes) {
  return bytes < 0 ? "-" + term::WithCommas(static_cast<uint64_t>(-bytes))
                   : term::WithCommas(static_cast<uint64_t>(bytes));
}

std::string ListText(const RewritePlan& plan) {
  term::TextTable table({"file", "level", "bytes", "saves reads", "saves filter bytes"});
  for (const FileToRewrite& file : plan.rewrites) {
    table.AddRow({ShortName(file.place), LevelText(file.place.level),
                  term::WithCommas(file.num_bytes), fmt::format("{:.3g}", file.saved_reads),
                  BytesText(file.saved_bytes)});
  }
  return table.ToString();
}

std::string PerLookupText(double reads) { return fmt::format("{:.3g}", reads); }

std::string PerLookupText(const MeasuredReads& reads) {
  return reads.num_lookups == 0 ? "-" : PerLookupText(reads.PerLookup());
}

std::string MeaningText(const FamilyOutlook& outlook, const std::string& deed) {
  if (!outlook.is_known) {
    return fmt::format("{} means other filters, of a policy that this program does not have", deed);
  }
  return fmt::format("{} means {}", deed, DifferenceText(outlook.today, outlook.then));
}

std::vector<std::string> RowOf(const std::string& name, const Outlook& outlook, uint64_t num_keys) {
  const double bits = 8 * static_cast<double>(outlook.filter_bytes);
  return {name, PerLookupText(outlook.wasted_reads), term::WithCommas(outlook.filter_bytes),
          BitsText(bits / static_cast<double>(num_keys))};
}

Json ToJson(const Outlook& outlook) {
  return {{"wasted_reads_absent", outlook.wasted_reads_absent},
          {"filter_bytes", outlook.filter_bytes}};
}

Json ToJson(const MeasuredReads& reads) {
  return reads.num_lookups == 0 ? Json(nullptr) : Json(reads.PerLookup());
}

}  // namespace

std::vector<FamilyOutlook> ChangedFamilies(const RewritePlan& plan) {
  std::set<std::string> names;
  for (const FileToRewrite& file : plan.rewrites) names.insert(file.place.family);
  std::vector<FamilyOutlook> changed;
  for (const FamilyOutlook& outlook : plan.outlooks) {
    if (names.contains(outlook.family)) changed.push_back(outlook);
  }
  return changed;
}

std::string OutlookText(const RewritePlan& plan, const std::string& deed) {
  std::string text;
  const std::vector<FamilyOutlook> families = ChangedFamilies(plan);
  for (const FamilyOutlook& outlook : families) {
    const std::string of =
        families.size() == 1 ? "" : fmt::format(", in column family {}", outlook.family);
    term::TextTable table({"", "wasted reads", "filter bytes", "bits/key"});
    table.AddRow(RowOf("today", outlook.today, outlook.num_keys));
    if (outlook.is_known) {
      table.AddRow(RowOf("afterwards", outlook.then, outlook.num_keys));
    }
    text += MeaningText(outlook, deed) + of + ".\n\n" + table.ToString() + "\n";
  }
  return text;
}

std::string ToText(const RewritePlan& plan, const std::string& deed) {
  return fmt::format("{}{}\n{} with {} bytes would be rewritten\n", OutlookText(plan, deed),
                     ListText(plan), term::CountOf(plan.rewrites.size(), "file"),
                     term::WithCommas(SumOfBytes(plan)));
}

Json ToJson(const RewritePlan& plan) {
  Json document = {{"bytes", SumOfBytes(plan)}};
  Json& families = document["families"] = Json::array();
  for (const FamilyOutlook& outlook : ChangedFamilies(plan)) {
    families.push_back({{"family", outlook.family},
                        {"today", ToJson(outlook.today)},
                        {"afterwards", outlook.is_known ? ToJson(outlook.then) : Json(nullptr)}});
  }
  Json& files = document["files"] = Json::array();
  for (const FileToRewrite& file : plan.rewrites) {
    files.push_back({{"path", file.place.path},
                     {"level", file.place.level},
                     {"num_bytes", file.num_bytes},
                     {"saved_reads", file.saved_reads},
                     {"saved_filter_bytes", file.saved_bytes}});
  }
  return document;
}

std::string ToText(const Rewritten& rewritten) {
  term::TextTable table({"", "wasted reads\npredicted", "\nmeasured", "filter bytes"});
  for (const RewrittenFamily& family : rewritten.families) {
    const FamilyOutlook& outlook = family.outlook;
    const std::string name = rewritten.families.size() == 1 ? "" : outlook.family + " ";
    table.AddRow({name + "before", PerLookupText(outlook.today.wasted_reads),
                  PerLookupText(family.before), term::WithCommas(outlook.today.filter_bytes)});
    table.AddRow({name + "after", outlook.is_known ? PerLookupText(outlook.then.wasted_reads) : "-",
                  PerLookupText(family.after), term::WithCommas(family.bytes_after)});
  }
  return fmt::format("rewritten: {}, {} bytes in {:.1f} s\n\n{}",
                     term::CountOf(rewritten.num_files, "file"),
                     term::WithCommas(rewritten.num_bytes), rewritten.seconds, table.ToString());
}

Json ToJson(const Rewritten& rewritten) {
  Json document = {{"files_rewritten", rewritten.num_files},
                   {"bytes_rewritten", rewritten.num_bytes}};
  Json& families = document["families"] = Json::array();
  for (const RewrittenFamily& family : rewritten.families) {
    const FamilyOutlook& outlook = family.outlook;
    const Json reads_then = outlook.is_known ? Json(outlook.then.wasted_reads) : Json(nullptr);
    families.push_back({{"family", outlook.family},
                        {"before",
                         {{"wasted_reads_predicted", outlook.today.wasted_reads},
                          {"wasted_reads_measured", ToJson(family.before)},
                          {"filter_bytes", outlook.today.filter_bytes}}},
                        {"after",
                         {{"wasted_reads_predicted", reads_then},
                          {"wasted_reads_measured", ToJson(family.after)},
                          {"filter_bytes", family.bytes_after}}}});
  }
  return document;
}

}  // namespace blocksieve::cli
