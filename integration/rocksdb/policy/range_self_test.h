#pragma once

#include <string>

namespace blocksieve::rocksdb_plugin {

/// Whether the loaded RocksDB calls extractor and filter as range filters need it, so that a "no"
/// can be relied on. False until the self-test has run and found it so.
bool RangesAreTrusted() noexcept;

/// Runs the self-test, once in a process: writes a few keys to a database in memory, seeks in it,
/// and compares what is asked and found. Says on stderr what is wrong, if anything is. Thread-safe.
void TestRangesOnce();

/// The test itself. Empty if all is as expected.
std::string RangeSelfTestProblem();

}  // namespace blocksieve::rocksdb_plugin
