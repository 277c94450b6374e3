#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/hash.h"
#include "integration/toylsm/write_batch.h"
#include "tests/toylsm/toy_model.h"

namespace blocksieve::toylsm {

/// Writes that depend on nothing but their number, so that whoever finds a database, wherever its
/// writer was stopped, knows what should be in it.
struct Write {
  WriteBatch batch;
  bool sync = false;

  /// What it does to the model.
  std::vector<std::pair<std::string, std::optional<std::string>>> changes;
};

inline Write NthWrite(uint64_t n, uint64_t num_keys) {
  uint64_t state = n + 1;
  const auto below = [&state](uint64_t bound) {
    state = HashKey(std::string_view(reinterpret_cast<const char*>(&state), sizeof(state)));
    return state % bound;
  };
  Write write;
  write.sync = below(4) == 0;
  for (uint64_t i = 1 + (below(4) == 0 ? below(4) : 0); i > 0; --i) {
    const std::string key = "key" + std::to_string(below(num_keys));
    if (below(3) == 0) {
      write.batch.Delete(key);
      write.changes.emplace_back(key, std::nullopt);
    } else {
      const std::string value = "w" + std::to_string(below(8)) + "\t" + std::to_string(n) + "\t" +
                                std::string(below(30), 'v');
      write.batch.Put(key, value);
      write.changes.emplace_back(key, value);
    }
  }
  return write;
}

inline void Apply(const Write& write, Model* model) {
  for (const auto& [key, value] : write.changes) {
    if (value) {
      (*model)[key] = *value;
    } else {
      model->erase(key);
    }
  }
}

/// After n writes the database must be states[n].
inline std::vector<Model> StatesOf(uint64_t num_writes, uint64_t num_keys) {
  std::vector<Model> states(1);
  for (uint64_t n = 0; n < num_writes; ++n) {
    states.push_back(states.back());
    Apply(NthWrite(n, num_keys), &states.back());
  }
  return states;
}

}  // namespace blocksieve::toylsm
