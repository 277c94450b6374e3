#pragma once

#include <rocksdb/slice_transform.h>

#include <memory>
#include <string>

namespace blocksieve::rocksdb_plugin {

/// Whether the loaded RocksDB calls extractor and filter as range filters need it, so that a "no"
/// can be relied on. False until the self-test has run and found it so.
bool RangesAreTrusted() noexcept;

/// Runs the self-test, once in a process: writes a few keys to files in memory, seeks in them, and
/// compares what is asked and found. Says on stderr what is wrong, if anything is. Thread-safe. It
/// needs no other thread and no lock of a database, so that it can run wherever a filter is opened.
void TestRangesOnce();

/// The test itself, with RangeExtractor::Get() or one that tests have in its place. Empty if all is
/// as expected.
std::string RangeSelfTestProblem(const std::shared_ptr<const rocksdb::SliceTransform>& extractor);

}  // namespace blocksieve::rocksdb_plugin
