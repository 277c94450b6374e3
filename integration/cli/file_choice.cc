#include "integration/cli/file_choice.h"

#include <fmt/format.h>

#include <memory>

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
  return missed;
}

ChosenFiles FindFiles(const FileChoice& choice) {
  if (choice.db.empty() == choice.file.empty()) {
    FailUsage("either --db or FILE is needed; {} given",
              choice.db.empty() ? "none is" : "both are");
  }
  if (!choice.file.empty()) {
    const Engine& engine = EngineOfFile(choice.file, choice.engine);
    return {&engine, {{.path = choice.file, .family = "", .level = -1}}};
  }
  const Engine& engine = EngineOf(choice.db, choice.engine);
  return {&engine, engine.ListFiles(choice.db)};
}

}  // namespace blocksieve::cli
