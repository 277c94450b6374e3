// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/info_log.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "blocksieve/sizing.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

using Event = nlohmann::json;

// "rocksdb.block.cache.miss COUNT : 123", or "rocksdb.block.cache.miss": "123", anywhere in the
// line. Histograms have other words before COUNT.
void AddTickers(std::string_view line, Tickers* tickers) {
  constexpr std::string_view kPrefix = "rocksdb.";
  constexpr std::string_view kCount = "COUNT";
  for (size_t begin = line.find(kPrefix); begin != line.npos;) {
    const size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-", begin);
    const auto skip = [&](size_t from) {
      return std::min(line.find_first_not_of(" \t\":=|,", from), line.size());
    };
    size_t at = skip(std::min(end, line.size()));
    if (line.substr(at).starts_with(kCount)) at = skip(at + kCount.size());
    uint64_t number = 0;
    const char* const last = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data() + at, last, number);
    const bool is_fraction = rest != last && (*rest == '.' || *rest == 'e');
    if (error == std::errc() && !is_fraction) {
      (*tickers)[std::string(line.substr(begin, end - begin))] = number;
    }
    begin = line.find(kPrefix, end);
  }
}

// RocksDB writes events by the program's locale: "1.618.506", "1,618,506" or "1 618 506", and
// "0,8".
std::string WithoutLocale(std::string text) {
  const auto is_digit = [&](size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (size_t at = 1; at < text.size(); ++at) {
    if (!is_digit(at - 1) || !is_digit(at + 1)) continue;
    const bool is_fraction = text[at - 1] == '0' && !is_digit(at - 2);
    if (!is_fraction && std::string_view(",.' ").find(text[at]) != std::string_view::npos &&
        is_digit(at + 2) && is_digit(at + 3) && !is_digit(at + 4)) {
      text.erase(at, 1);
    } else if (text[at] == ',') {
      text[at] = '.';
    }
  }
  return text;
}

// What follows `begin` in the line.
std::optional<std::string> After(const std::string& line, std::string_view begin) {
  const size_t found = line.find(begin);
  if (found == std::string::npos) return std::nullopt;
  return line.substr(found + begin.size());
}

std::string FirstWord(const std::optional<std::string>& text) {
  std::string word;
  std::istringstream(text.value_or("")) >> word;
  return word;
}

/// Tables that RocksDB created on a level.
struct CreatedTables {
  double num_bytes = 0;
  double num_entries = 0;
  double filter_entries = 0;
  double filter_bytes = 0;
  std::string policy;  // of the last one

  void Add(const CreatedTables& other) {
    num_bytes += other.num_bytes;
    num_entries += other.num_entries;
    filter_entries += other.filter_entries;
    filter_bytes += other.filter_bytes;
    policy = other.policy;
  }
};

struct LoggedFamily {
  std::map<int, std::pair<uint64_t, double>> levels;  // files and bytes, of the last dump
  std::map<int, CreatedTables> tables;  // by output level, since the policy last changed
  bool stays_on_level0 = false;
};

// The policy of tables that blocksieve gave RocksDB's own filters.
constexpr const char* kStockKind = "blocksieve, kind=stock";

// The FPR of filters of this size.
FilterReport EstimateFilter(const CreatedTables& tables, int level, double num_entries) {
  FilterReport filter;
  const std::string& policy = tables.policy;
  if (tables.filter_bytes == 0 || tables.num_entries == 0) return filter;
  const double share = num_entries / tables.num_entries;
  filter.policy = policy;
  filter.num_filters = 1;
  filter.num_entries = static_cast<uint64_t>(share * tables.filter_entries);
  filter.num_bytes = static_cast<uint64_t>(share * tables.filter_bytes);
  const double bits = 8 * tables.filter_bytes / tables.filter_entries;
  const bool is_stock_kind = policy == kStockKind;
  if (policy.starts_with("blocksieve") && !is_stock_kind) {
    filter.origin = FilterOrigin::kBlocksieve;
    const FilterKind kind = level == 0 ? FilterKind::kBlockedBloom : FilterKind::kRibbon;
    filter.kinds = {kind};
    const Result<Layout> layout = LayoutForBitsPerKey(kind, bits);
    filter.predicted_fpr = layout.ok() ? layout->predicted_fpr : 1;
  } else if (is_stock_kind ? level != 0 : policy.find("ibbon") != std::string::npos) {
    filter.origin = FilterOrigin::kStock;
    filter.kinds = {FilterKind::kStockRibbon};
    filter.predicted_fpr = StockRibbonFpr(bits / kStockSlotsPerKey);
  } else {
    filter.origin = FilterOrigin::kStock;
    filter.kinds = {FilterKind::kStockBloom};
    filter.predicted_fpr = StockBloomFpr(bits);
  }
  return filter;
}

/// A log as operators keep it. A prefix, a quote or a CR stays: readers look for their words
/// anywhere in a line. Throws Failure like LineReader.
struct LogFile {
  explicit LogFile(const std::string& path) : rest(path) {
    constexpr size_t kMaxLines = 100;
    const std::regex time(R"(\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d)");
    for (std::smatch found; found.empty() && first_lines.size() < kMaxLines;) {
      const std::optional<std::string_view> next = rest.Next();
      if (!next) break;
      const std::string& line = first_lines.emplace_back(*next);
      if (std::regex_search(line, found, time)) begin = found.str() + found.suffix().str();
    }
    if (begin.empty() && !first_lines.empty()) begin = first_lines.front();
  }

  std::string begin;  ///< RocksDB's time in the first line that has one, or else the first line.
  std::vector<std::string> first_lines;  ///< Those that were read for it.
  term::LineReader rest;
};

/// Reads the lines of a database's logs in order of time.
class LogReader {
 public:
  void Read(LogFile* log) {
    in_levels_ = in_statistics_ = false;
    for (const std::string& line : log->first_lines) ReadLine(line);
    while (const auto line = log->rest.Next()) ReadLine(std::string(*line));
  }

  InfoLog Finish() {
    EndSession();
    for (const auto& [name, family] : families_) AddFiles(name, family);
    return std::move(log_);
  }

  // What a log without known files is; "" if it only lacks the tables of families.
  std::string Problem(const InfoLog& log) const {
    if (!log.unknown_families.empty()) return "";
    if (has_levels_) return "shows a database without files in its last dump of statistics";
    return std::string(is_info_log_ ? "" : "is not an info log of RocksDB, such as LOG: it ") +
           "has no dump of statistics with files; RocksDB writes one every stats_dump_period_sec, "
           "600 by default";
  }

 private:
  void ReadLine(const std::string& line) {
    const bool was_info_log = std::exchange(is_info_log_, true);
    if (const auto event = After(line, "EVENT_LOG_v1 ")) return ReadEvent(*event);
    if (const auto session = After(line, "DB Session ID:")) return BeginSession(*session);
    if (const auto place = After(line, "SST files in ")) {
      log_.database = place->substr(0, place->find(" dir, Total Num:"));
    } else if (const auto options = After(line, "Options for column family [")) {
      options_of_ = options->substr(0, options->find(']'));
    } else if (const auto in_effect = After(line, "options in effect: ")) {
      is_stock_kind_ = in_effect->find("kind: stock") != std::string::npos;
    } else if (const auto style = After(line, "Options.compaction_style: ")) {
      families_[options_of_].stays_on_level0 = style->starts_with("kCompactionStyleFIFO");
    } else if (const auto no_cache = After(line, "no_block_cache: ")) {
      has_cache_ = no_cache->starts_with('0');
      if (!has_cache_ && !log_.cache_bytes) log_.cache_bytes = 0;
    } else if (auto capacity = After(line, "capacity : ");
               capacity || (capacity = After(line, "block_cache_size: "))) {
      uint64_t bytes = 0;
      std::istringstream(*capacity) >> bytes;
      if (has_cache_) log_.cache_bytes = std::max(log_.cache_bytes.value_or(0), bytes);
    } else {
      is_info_log_ = was_info_log;
      ReadDump(line);
    }
  }

  // Rolling the log repeats the beginning of a session.
  void BeginSession(const std::string& text) {
    const std::string session = FirstWord(text);
    if (session == session_) return;
    session_ = session;
    EndSession();
  }

  void EndSession() {
    for (const auto& [name, count] : tickers_) log_.tickers[name] += count;
    tickers_.clear();
    unplaced_.clear();
  }

  void ReadDump(const std::string& line) {
    if (line.find("STATISTICS:") != std::string::npos) {
      in_statistics_ = true;
    } else if (in_statistics_ && line.find(" COUNT : ") != std::string::npos) {
      AddTickers(line, &tickers_);
    } else if (const auto family = After(line, "** Compaction Stats [")) {
      dumped_ = family->substr(0, family->find("] **"));
    } else if (const auto columns = After(line, "Level"); FirstWord(columns) == "Files") {
      in_levels_ = has_levels_ = true;
      families_[dumped_].levels.clear();
    } else if (in_levels_ && (After(line, "Sum ") || After(line, "Sum\t"))) {
      in_levels_ = false;
    } else if (in_levels_) {
      ReadLevel(line);
    }
  }

  // "  L1      2/0    5.51 MB   0.7 ...": files, of which some are being compacted. RocksDB before
  // 5.4 has no unit.
  void ReadLevel(std::string line) {
    std::replace(line.begin(), line.end(), ',', '.');
    for (size_t at = line.find('L'); at != line.npos; at = line.find('L', at + 1)) {
      int level = 0;
      int num_files = 0;
      int compacted = 0;
      double size = 0;
      char unit = 0;
      if (std::sscanf(line.c_str() + at, "L%d %d / %d %lf %c", &level, &num_files, &compacted,
                      &size, &unit) != 5) {
        continue;
      }
      constexpr std::string_view kUnits = "BKMGT";
      const size_t exponent = kUnits.find(std::isdigit(unit) != 0 ? 'M' : unit);
      if (num_files == 0 || exponent == std::string_view::npos) return;
      families_[dumped_].levels[level] = {num_files,
                                          std::ldexp(size, 10 * static_cast<int>(exponent))};
    }
  }

  void ReadEvent(const std::string& text, bool has_locale = false) try {
    Event event;
    std::istringstream(has_locale ? WithoutLocale(text) : text) >> event;  // not what follows it
    AddEvent(event);
  } catch (const Event::exception&) {  // not JSON, or not as RocksDB writes it
    if (!has_locale) ReadEvent(text, true);
  }

  void AddEvent(const Event& event) {
    const std::string name = event.value("event", "");
    const int job = event.value("job", 0);
    if (name == "table_file_creation") {
      unplaced_.insert({job, event});
    } else if (name == "compaction_finished") {
      Place(job, event.value("output_level", 0));
    } else if (name == "flush_finished" || name == "recovery_finished") {
      Place(job, 0);
    }
  }

  // The level of a table is known at the end of its job.
  void Place(int job, int level) {
    const auto [begin, end] = unplaced_.equal_range(job);
    for (auto one = begin; one != end; ++one) {
      const Event& event = one->second;
      const Event properties = event.value("table_properties", Event::object());
      CreatedTables table;
      table.num_bytes = event.value("file_size", 0.0);
      table.num_entries =
          properties.value("num_entries", 0.0) - properties.value("num_range_deletions", 0.0);
      table.filter_bytes = properties.value("filter_size", 0.0);
      // Logged since RocksDB 7.3.
      table.filter_entries = properties.value("num_filter_entries", table.num_entries);
      // The older name is of RocksDB before 6.10.
      table.policy = properties.value("filter_policy", properties.value("filter_policy_name", ""));
      if (is_stock_kind_ && table.policy == "blocksieve") table.policy = kStockKind;
      CreatedTables& sum = families_[event.value("cf_name", "default")].tables[level];
      if (sum.policy != table.policy) sum = {};
      sum.Add(table);
    }
    unplaced_.erase(begin, end);
  }

  void AddFiles(const std::string& name, const LoggedFamily& family) {
    CreatedTables all;
    for (const auto& [level, tables] : family.tables) all.Add(tables);
    if (all.num_bytes == 0 && !family.levels.empty()) log_.unknown_families.push_back(name);
    for (const auto& [level, logged] : family.levels) {
      const auto& [num_files, level_bytes] = logged;
      log_.num_bytes += static_cast<uint64_t>(level_bytes);
      if (all.num_bytes == 0) continue;
      const auto found = family.tables.find(level);
      const CreatedTables& tables = found == family.tables.end() ? all : found->second;
      const double num_bytes = level_bytes / static_cast<double>(num_files);
      const double num_entries = num_bytes * tables.num_entries / tables.num_bytes;
      FileReport file;
      file.place.family = name;
      file.place.level = level;
      file.place.is_short_lived = level == 0 && !family.stays_on_level0;
      file.num_bytes = static_cast<uint64_t>(num_bytes);
      file.num_entries = static_cast<uint64_t>(num_entries);
      file.filter = EstimateFilter(tables, level, num_entries);
      log_.files.insert(log_.files.end(), num_files, file);
    }
  }

  InfoLog log_;
  std::string session_;
  bool has_cache_ = false;
  std::string options_of_ = "default";
  bool is_stock_kind_ = false;  // of the latest policy of blocksieve
  std::string dumped_;
  bool in_levels_ = false;
  bool in_statistics_ = false;
  bool is_info_log_ = false;
  bool has_levels_ = false;
  Tickers tickers_;  // of the last dump of this session
  std::multimap<int, Event> unplaced_;
  std::map<std::string, LoggedFamily> families_;
};

}  // namespace

Tickers ReadStatistics(const std::string& path) {
  term::LineReader lines(path);
  Tickers tickers;
  while (const auto line = lines.Next()) AddTickers(*line, &tickers);
  if (!tickers.empty()) return tickers;
  term::Fail(
      "{} has no counters; allowed: the text of Statistics::ToString, or JSON with members such as "
      "rocksdb.number.keys.read",
      lines.name());
}

InfoLog ReadInfoLogs(const std::vector<std::string>& paths) {
  std::list<LogFile> logs;
  for (const std::string& path : paths) logs.emplace_back(path);
  logs.sort([](const LogFile& a, const LogFile& b) { return a.begin < b.begin; });
  LogReader reader;
  for (LogFile& log : logs) reader.Read(&log);
  InfoLog log = reader.Finish();
  const std::string problem = log.files.empty() ? reader.Problem(log) : "";
  if (!problem.empty()) term::Fail("{} {}", logs.back().rest.name(), problem);
  return log;
}

}  // namespace blocksieve::cli
