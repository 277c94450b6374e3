#pragma once

#include <string>

namespace rocksdb {
class Logger;
}

namespace blocksieve::rocksdb_plugin {

/// Reports what RocksDB would swallow: to the database's info log if there is one, else to stderr.
void LogLoudly(rocksdb::Logger* info_log, const std::string& message);

}  // namespace blocksieve::rocksdb_plugin
