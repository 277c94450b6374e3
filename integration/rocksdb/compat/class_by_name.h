#pragma once

#include <string_view>

namespace blocksieve::rocksdb_plugin {

/// `object` if its name is that of class `Ours`, otherwise null. It takes the place of
/// dynamic_cast, because RocksDB's own release builds have no run-time type information.
template <class Ours, class Interface>
const Ours* As(const Interface* object) {
  return object != nullptr && std::string_view(object->Name()) == Ours::kName
             ? static_cast<const Ours*>(object)
             : nullptr;
}

}  // namespace blocksieve::rocksdb_plugin
