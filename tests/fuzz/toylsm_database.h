#pragma once

#include <map>
#include <string>

#include "integration/toylsm/base/options.h"

namespace blocksieve::testing {

/// A small database of the toy LSM, with something in every kind of file, the same each time.
struct ToyDatabase {
  /// From where a read takes the newest version of a key.
  enum class Place { kLog, kLevel0, kLevel1 };
  struct Row {
    std::string value;
    Place place;
  };

  std::map<std::string, std::string> files;  ///< by path
  std::map<std::string, Row> rows;           ///< by key; without those that were deleted

  /// Of the file of that place.
  std::string path(Place place) const;

  /// To open it with. Two files of level 0 are compacted at once.
  static toylsm::Options OptionsIn(toylsm::Env* env);
  static constexpr char kDirectory[] = "/db";

  static ToyDatabase Make();
};

}  // namespace blocksieve::testing
