#include "integration/cli/file_choice.h"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "integration/cli/engine_choice.h"
#include "integration/cli/failure.h"

namespace blocksieve::cli {

void AddFileOptions(CLI::App* command, FileChoice* choice) {
  command->add_option("--db", choice->db, "the directory of a database")->type_name("DIR");
  AddEngineOption(command, &choice->engine, "what it is of; found out if not given");
  command->add_option("FILE", choice->file, "or a single file of one")->type_name("");
}

ChosenFiles::Missed ChosenFiles::ForEach(const std::string& doing,
                                         const std::function<void(TableFile*)>& visit) const {
  Progress progress;
  Missed missed;
  for (size_t i = 0; i < places.size(); ++i) {
    if (progress.IsDue()) {
      progress.Show(fmt::format("{}: file {} of {}", doing, i + 1, places.size()));
    }
    std::unique_ptr<TableFile> file;
    try {
      file = engine->OpenFile(places[i]);
      if (file == nullptr) missed.vanished.push_back(places[i]);
    } catch (const Failure& failure) {
      missed.unopened.emplace_back(failure.what());
    }
    if (file != nullptr) visit(file.get());
  }
  TellMissingFromVanished(&missed);
  return missed;
}

// What the database still has in its list was not removed by its process.
void ChosenFiles::TellMissingFromVanished(Missed* missed) const {
  if (missed->vanished.empty() || db.empty()) return;
  std::set<std::string> listed;
  for (const FilePlace& place : engine->ListFiles(db)) listed.insert(place.path);
  std::erase_if(missed->vanished, [&](const FilePlace& place) {
    if (!listed.contains(place.path)) return false;
    missed->unopened.push_back(fmt::format("cannot open {}: there is no such file", place.path));
    return true;
  });
}

ChosenFiles FindFiles(const FileChoice& choice) {
  if (choice.db.empty() == choice.file.empty()) {
    FailUsage("either --db or FILE is needed; {} given",
              choice.db.empty() ? "none is" : "both are");
  }
  if (!choice.file.empty()) {
    const Engine& engine = EngineOfFile(choice.file, choice.engine);
    return {&engine, {{.path = choice.file, .family = ""}}, ""};
  }
  const Engine& engine = EngineOf(choice.db, choice.engine);
  return {&engine, engine.ListFiles(choice.db), choice.db};
}

}  // namespace blocksieve::cli
