#include "integration/cli/database/info_log.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "blocksieve/sizing.h"
#include "integration/cli/term/failure.h"
#include "integration/rocksdb/compat/stock_filters.h"

namespace blocksieve::cli {
namespace {

using Event = nlohmann::json;

std::ifstream OpenFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) term::Fail("cannot open {}: {}", path, std::generic_category().message(errno));
  return file;
}

// "rocksdb.block.cache.miss COUNT : 123". Histograms have other words before COUNT.
void AddTicker(const std::string& line, Tickers* tickers) {
  std::istringstream words(line);
  std::string name;
  std::string count;
  std::string colon;
  uint64_t number = 0;
  if (words >> name >> count >> colon >> number && name.starts_with("rocksdb.") &&
      count == "COUNT") {
    (*tickers)[name] = number;
  }
}

void AddTickers(const Event& document, Tickers* tickers) {
  for (const auto& [name, value] : document.items()) {
    if (value.is_structured()) AddTickers(value, tickers);
    if (!name.starts_with("rocksdb.")) continue;
    if (value.is_number_unsigned()) (*tickers)[name] = value.get<uint64_t>();
    if (value.is_string()) AddTicker(name + " COUNT : " + value.get<std::string>(), tickers);
  }
}

// What follows `begin` in the line.
std::optional<std::string> After(const std::string& line, std::string_view begin) {
  const size_t found = line.find(begin);
  if (found == std::string::npos) return std::nullopt;
  return line.substr(found + begin.size());
}

/// Tables that RocksDB created on a level.
struct CreatedTables {
  double num_tables = 0;
  double num_bytes = 0;
  double num_entries = 0;
  double filter_entries = 0;
  double filter_bytes = 0;
  std::string policy;  // of the last one

  void Add(const CreatedTables& other) {
    num_tables += other.num_tables;
    num_bytes += other.num_bytes;
    num_entries += other.num_entries;
    filter_entries += other.filter_entries;
    filter_bytes += other.filter_bytes;
    policy = other.policy;
  }
};

struct LoggedLevel {
  uint64_t num_files = 0;
  double num_bytes = 0;
};

struct LoggedFamily {
  std::map<int, LoggedLevel> levels;    // of the last dump
  std::map<int, CreatedTables> tables;  // by output level, since the policy last changed
  bool stays_on_level0 = false;
};

// The FPR of filters of this size.
FilterReport FilterOf(const CreatedTables& tables, int level, double num_entries) {
  FilterReport filter;
  const std::string& policy = tables.policy;
  if (tables.filter_bytes == 0 || tables.num_entries == 0) return filter;
  const double share = num_entries / tables.num_entries;
  filter.policy = policy;
  filter.num_filters = 1;
  filter.num_entries = static_cast<uint64_t>(share * tables.filter_entries);
  filter.num_bytes = static_cast<uint64_t>(share * tables.filter_bytes);
  const double bits = 8 * tables.filter_bytes / tables.filter_entries;
  if (policy.starts_with("blocksieve")) {
    filter.origin = FilterOrigin::kBlocksieve;
    const FilterKind kind = level == 0 ? FilterKind::kBlockedBloom : FilterKind::kRibbon;
    filter.kind = FilterKindName(kind);
    const Result<Layout> layout = LayoutForBitsPerKey(kind, bits);
    filter.predicted_fpr = layout.ok() ? layout->predicted_fpr : 1;
  } else if (policy.find("ibbon") != std::string::npos) {
    // RocksDB's ribbons take 4 to 5 % more than a bit for each halving of the rate.
    constexpr double kOverhead = 1.045;
    filter.origin = FilterOrigin::kStock;
    filter.kind = "ribbon";
    filter.predicted_fpr = std::exp2(-bits / kOverhead);
  } else {
    filter.origin = FilterOrigin::kStock;
    filter.kind = "bloom";
    filter.predicted_fpr = rocksdb_plugin::StockBloomFpr(bits);
  }
  return filter;
}

/// Reads the lines of a database's logs in order of time.
class LogReader {
 public:
  void Read(std::istream* lines) {
    in_levels_ = in_statistics_ = false;
    for (std::string line; std::getline(*lines, line);) ReadLine(line);
  }

  InfoLog Finish() {
    InfoLog log{.database = database_, .files = {}, .cache_bytes = cache_bytes_, .tickers = ended_};
    for (const auto& [name, count] : tickers_) log.tickers[name] += count;
    for (const auto& [name, family] : families_) AddFiles(name, family, &log.files);
    return log;
  }

 private:
  void ReadLine(const std::string& line) {
    if (const auto event = After(line, "EVENT_LOG_v1 ")) return ReadEvent(*event);
    if (const auto session = After(line, "DB Session ID:")) return BeginSession(*session);
    if (const auto place = After(line, "SST files in ")) {
      database_ = place->substr(0, place->find(" dir, Total Num:"));
    } else if (const auto options = After(line, "Options for column family [")) {
      options_of_ = options->substr(0, options->find(']'));
    } else if (const auto style = After(line, "Options.compaction_style: ")) {
      families_[options_of_].stays_on_level0 = style->starts_with("kCompactionStyleFIFO");
    } else if (const auto no_cache = After(line, "  no_block_cache: ")) {
      has_cache_ = no_cache->starts_with('0');
      if (!has_cache_ && !cache_bytes_) cache_bytes_ = 0;
    } else if (const auto capacity = After(line, "    capacity : ")) {
      uint64_t bytes = 0;
      std::istringstream(*capacity) >> bytes;
      if (has_cache_) cache_bytes_ = std::max(cache_bytes_.value_or(0), bytes);
    } else {
      ReadDump(line);
    }
  }

  // Rolling the log repeats the beginning of a session.
  void BeginSession(const std::string& session) {
    if (session == session_) return;
    session_ = session;
    for (const auto& [name, count] : tickers_) ended_[name] += count;
    tickers_.clear();
    unplaced_.clear();
  }

  void ReadDump(const std::string& line) {
    if (line.ends_with(" STATISTICS:")) {
      in_statistics_ = true;
    } else if (in_statistics_ && line.find(" COUNT : ") != std::string::npos) {
      AddTicker(line, &tickers_);
    } else if (const auto family = After(line, "** Compaction Stats [")) {
      dumped_ = family->substr(0, family->rfind(']'));
    } else if (line.starts_with("Level ")) {
      in_levels_ = true;
      families_[dumped_].levels.clear();
    } else if (in_levels_ && line.find(" Sum ") != std::string::npos) {
      in_levels_ = false;
    } else if (in_levels_) {
      ReadLevel(line);
    }
  }

  // "  L1      2/0    5.51 MB   0.7 ...": files, of which some are being compacted.
  void ReadLevel(const std::string& line) {
    std::istringstream words(line);
    char letter = 0;
    int level = 0;
    uint64_t num_files = 0;
    std::string compacted;
    double size = 0;
    std::string unit;
    if (!(words >> letter >> level >> num_files >> compacted >> size >> unit) || letter != 'L') {
      return;
    }
    constexpr std::string_view kUnits = "BKMGT";
    const size_t exponent = kUnits.find(unit.front());
    if (num_files == 0 || exponent == std::string_view::npos) return;
    families_[dumped_].levels[level] = {num_files,
                                        std::ldexp(size, 10 * static_cast<int>(exponent))};
  }

  void ReadEvent(const std::string& text) {
    const Event event = Event::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!event.is_object()) return;
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
      table.num_tables = 1;
      table.num_bytes = event.value("file_size", 0.0);
      table.num_entries =
          properties.value("num_entries", 0.0) - properties.value("num_range_deletions", 0.0);
      table.filter_bytes = properties.value("filter_size", 0.0);
      // Logged since RocksDB 7.3.
      table.filter_entries = properties.value("num_filter_entries", table.num_entries);
      table.policy = properties.value("filter_policy", "");
      CreatedTables& sum = families_[event.value("cf_name", "default")].tables[level];
      if (sum.policy != table.policy) sum = {};
      sum.Add(table);
    }
    unplaced_.erase(begin, end);
  }

  static void AddFiles(const std::string& name, const LoggedFamily& family,
                       std::vector<FileReport>* files) {
    CreatedTables all;
    for (const auto& [level, tables] : family.tables) all.Add(tables);
    for (const auto& [level, logged] : family.levels) {
      const auto found = family.tables.find(level);
      const CreatedTables& tables = found == family.tables.end() ? all : found->second;
      if (tables.num_bytes == 0) {
        term::Fail(
            "the info logs show no table that was written to column family {}; add older ones, "
            "such as LOG.old",
            name);
      }
      const double num_bytes = logged.num_bytes / static_cast<double>(logged.num_files);
      const double num_entries = num_bytes * tables.num_entries / tables.num_bytes;
      FileReport file;
      file.place.family = name;
      file.place.level = level;
      file.place.is_short_lived = level == 0 && !family.stays_on_level0;
      file.num_bytes = static_cast<uint64_t>(num_bytes);
      file.num_entries = static_cast<uint64_t>(num_entries);
      file.filter = FilterOf(tables, level, num_entries);
      files->insert(files->end(), logged.num_files, file);
    }
  }

  std::string session_;
  std::string database_;
  std::optional<uint64_t> cache_bytes_;
  bool has_cache_ = false;
  std::string options_of_ = "default";
  std::string dumped_;
  bool in_levels_ = false;
  bool in_statistics_ = false;
  Tickers ended_;    // of sessions before
  Tickers tickers_;  // of the last dump of this session
  std::multimap<int, Event> unplaced_;
  std::map<std::string, LoggedFamily> families_;
};

}  // namespace

Tickers ReadStatistics(const std::string& path) {
  std::ifstream file = OpenFile(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Tickers tickers;
  const Event document = Event::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_structured()) {
    AddTickers(document, &tickers);
  } else {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) AddTicker(line, &tickers);
  }
  if (!tickers.empty()) return tickers;
  term::Fail(
      "{} has no counters; allowed: the text of Statistics::ToString, or JSON with members such as "
      "rocksdb.number.keys.read",
      path);
}

InfoLog ReadInfoLogs(const std::vector<std::string>& paths) {
  std::vector<std::pair<std::string, std::string>> by_time;  // lines begin with their time
  for (const std::string& path : paths) {
    std::ifstream file = OpenFile(path);
    std::string line;
    std::getline(file, line);
    by_time.emplace_back(line, path);
  }
  std::sort(by_time.begin(), by_time.end());
  LogReader reader;
  for (const auto& [time, path] : by_time) {
    std::ifstream file = OpenFile(path);
    reader.Read(&file);
  }
  InfoLog log = reader.Finish();
  if (!log.files.empty()) return log;
  term::Fail(
      "{} has no dump of statistics with files; RocksDB writes one every stats_dump_period_sec, "
      "600 "
      "by default",
      by_time.back().second);
}

}  // namespace blocksieve::cli
