#include "integration/cli/toylsm/stored_toylsm.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "integration/cli/term/failure.h"
#include "integration/cli/toylsm/toylsm_engine.h"
#include "lib/skip/summary.h"

namespace blocksieve::cli {
namespace {

using toylsm::Env;

// What tells whether another process has changed the database; empty if it cannot be read.
std::string ManifestOf(const std::string& path) {
  Result<std::string> bytes = toylsm::ReadWhole(Env::Posix(), toylsm::ManifestPath(path));
  return bytes.ok() ? *std::move(bytes) : "";
}

toylsm::Recovered Read(const std::string& path, const toylsm::ReadContext& context) {
  constexpr int kMostTries = 20;
  for (int tries = 1;; ++tries) {
    const std::string manifest = ManifestOf(path);
    Result<toylsm::Recovered> recovered = toylsm::ReadDirectory(Env::Posix(), path, context);
    if (recovered.ok()) return *std::move(recovered);
    // Another process may have removed files between our reading their list and opening them.
    if (tries == kMostTries || ManifestOf(path) == manifest) {
      term::Fail("cannot open database {}: {}", path, recovered.status().message());
    }
  }
}

}  // namespace

StoredToyLsm::StoredToyLsm(const std::string& path)
    : path_(path), cache_(toylsm::Options().cache_bytes), recovered_(Read(path, context())) {}

SkipIndexSummary IndexesOf(const toylsm::Version& version, const toylsm::ReadContext& context) {
  internal::SkipIndexSummarizer summarizer;
  toylsm::SstFiles newest_last = version.AllFiles();
  std::sort(newest_last.begin(), newest_last.end(),
            [](const auto& a, const auto& b) { return a->info().number < b->info().number; });
  for (const auto& file : newest_last) {
    const auto index = file->skip_index(context);
    if (index == nullptr) {
      summarizer.AddProblem(FileName(*file) + ": " + IndexProblem(*file, context));
      continue;
    }
    const Status added =
        summarizer.AddIndex(index->index().granules(), file->index().skip_index.stored_bytes);
    if (!added.ok()) term::Fail("cannot read the indexes of a database: {}", added.message());
  }
  return summarizer.Finish();
}

std::vector<FilePlace> ListToyLsmFiles(const std::string& path) {
  const Result<std::string> bytes = toylsm::ReadWhole(Env::Posix(), toylsm::ManifestPath(path));
  if (!bytes.ok()) term::Fail("cannot open database {}: {}", path, bytes.status().message());
  Result<toylsm::Manifest> manifest = toylsm::Manifest::Decode(AsBytes(*bytes));
  if (!manifest.ok()) term::Fail("cannot open database {}: {}", path, manifest.status().message());
  // Of level 0 the newest first.
  std::sort(manifest->files.begin(), manifest->files.end(), [](const auto& a, const auto& b) {
    return a.level != b.level ? a.level < b.level : a.number > b.number;
  });
  std::vector<FilePlace> places;
  for (const toylsm::FileInfo& file : manifest->files) {
    places.push_back({.path = toylsm::SstPath(path, file.number),
                      .family = "",
                      .level = file.level,
                      .is_short_lived = file.level == 0,
                      .keys = {}});
  }
  return places;
}

std::string FileName(const toylsm::SstReader& file) {
  return std::filesystem::path(toylsm::SstPath("", file.info().number)).filename();
}

std::string IndexProblem(const toylsm::SstReader& file, const toylsm::ReadContext& context) {
  if (file.index().value_granule_blocks == 0) return "written without an index";
  return file.skip_index(context) == nullptr ? "index unusable: it cannot be read" : "";
}

}  // namespace blocksieve::cli
