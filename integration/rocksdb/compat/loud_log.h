#pragma once

#include <string_view>

namespace rocksdb {
class Logger;
}

namespace blocksieve::rocksdb_plugin {

/// Reports what RocksDB would swallow: `message`, followed by `reason`. Writes to the database's
/// info log if there is one, else to stderr. Works when memory is short, which is one of the
/// reasons.
void LogLoudly(rocksdb::Logger* info_log, std::string_view message,
               std::string_view reason = {}) noexcept;

}  // namespace blocksieve::rocksdb_plugin
