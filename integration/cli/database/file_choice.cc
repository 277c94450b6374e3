#include "integration/cli/database/file_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "integration/cli/database/database.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/progress.h"

namespace blocksieve::cli {
namespace {

std::vector<FilePlace> ListChosen(const FileChoice& choice) {
  std::vector<FilePlace> places = ListFiles(choice.db);
  std::erase_if(places, [&](const FilePlace& place) {
    return place.family != choice.family.value_or(place.family);
  });
  return places;
}

// Fails if `path` cannot be a table file.
void CheckTableFile(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    term::Fail("FILE is {}, a directory; for a database, use --db {}", path, path);
  }
  // Opening a named pipe would block.
  if (std::filesystem::is_other(status)) term::Fail("FILE is {}; allowed: a regular file", path);
  if (error) term::Fail("cannot open {}: {}", path, error.message());
}

}  // namespace

ChosenFiles::Missed ChosenFiles::ForEach(const std::string& doing,
                                         const std::function<void(TableFile*)>& visit) const {
  term::Progress progress;
  Missed missed;
  for (size_t i = 0; i < places.size(); ++i) {
    if (progress.IsDue()) {
      progress.Show(doing, {i, places.size(), i, "file"});
    }
    std::unique_ptr<TableFile> file;
    try {
      file = TableFile::Open(places[i]);
      if (file == nullptr) missed.vanished.push_back(places[i]);
    } catch (const term::Failure& failure) {
      missed.unopened.emplace_back(failure.what());
    }
    if (file != nullptr) visit(file.get());
  }
  SeparateMissingFiles(&missed);
  return missed;
}

std::vector<FileReport> ChosenFiles::ReadReports(const std::string& doing, Missed* missed) {
  constexpr int kMaxPasses = 5;
  std::map<std::string, FileReport> known;  // by path
  for (int pass = 1;; ++pass) {
    ChosenFiles unread = *this;
    std::erase_if(unread.places,
                  [&](const FilePlace& place) { return known.contains(place.path); });
    *missed = unread.ForEach(
        doing, [&](TableFile* file) { known.emplace(file->report().place.path, file->report()); });
    if (missed->vanished.empty() || choice.db.empty() || pass == kMaxPasses) break;
    places = ListChosen(choice);
  }
  std::vector<FileReport> reports;
  for (const FilePlace& place : places) {
    const auto report = known.find(place.path);
    if (report == known.end()) continue;
    // The file may have moved to another level meanwhile.
    report->second.place.level = place.level;
    report->second.place.is_short_lived = place.is_short_lived;
    reports.push_back(std::move(report->second));
  }
  return reports;
}

// A missing file that the database still lists was not removed by its process.
void ChosenFiles::SeparateMissingFiles(Missed* missed) const {
  if (missed->vanished.empty() || choice.db.empty()) return;
  std::set<std::string> listed;
  for (const FilePlace& place : ListFiles(choice.db)) listed.insert(place.path);
  std::erase_if(missed->vanished, [&](const FilePlace& place) {
    if (!listed.contains(place.path)) return false;
    missed->unopened.push_back(fmt::format("cannot open {}: the file does not exist", place.path));
    return true;
  });
}

ChosenFiles FindFiles(const FileChoice& choice) {
  if (choice.db.empty() == choice.file.empty()) {
    term::FailUsage("{} given; required: one of them",
                    choice.db.empty() ? "neither --db nor FILE is" : "both --db and FILE are");
  }
  if (!choice.file.empty()) {
    CheckTableFile(choice.file);
    return {{{.path = choice.file, .family = "", .keys = {}}}, choice};
  }
  CheckDatabase(choice.db);
  if (choice.family) CheckFamily(choice.db, *choice.family);
  return {ListChosen(choice), choice};
}

}  // namespace blocksieve::cli
