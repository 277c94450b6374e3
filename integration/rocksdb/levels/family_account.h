#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/tree.h"

namespace blocksieve::rocksdb_plugin {

/// What a file adds to its column family.
struct FileSizes {
  uint64_t bytes = 0;        ///< Of filters, block index and their reader.
  uint64_t index_bytes = 0;  ///< Of the block index, a part of `bytes`.
  uint64_t num_keys = 0;
};

/// A flush or compaction. Inputs leave the version if it succeeds, except those that it moves.
struct SstJob {
  std::string family;
  int id = 0;
  std::set<uint64_t> inputs = {};
  int output_level = 0;
  uint64_t num_keys = 0;  ///< It may write as many.
  bool is_manual = false;
};

/// Of CompactFiles, for which RocksDB reports no beginning: the next job of the family that is not
/// known takes it.
inline constexpr int kUnknownJob = -1;

/// The files of a column family with what their filters take, and the jobs that replace them.
///
/// The outputs of a job may take what its inputs hold, as these leave the version when the outputs
/// enter it. With in and out for what inputs hold and outputs have taken, the sum over the versions
/// to come stays below a ceiling, in whichever order jobs end, if
///
///   live files + sum over jobs of max(0, out - in) <= ceiling
///
/// Not thread-safe.
class FamilyAccount {
 public:
  bool Has(uint64_t file) const { return files_.contains(file); }
  int LevelOf(uint64_t file) const;
  uint64_t BytesOf(uint64_t file) const;

  /// A moment, for SetVersion. Thread-safe.
  static uint64_t Now();

  /// Sets the files that were live at a moment after `since`, by level. Those that are gone leave,
  /// except inputs and outputs of jobs, and files that became live after `since`.
  void SetVersion(const std::map<uint64_t, int>& levels, uint64_t since);
  /// Adds a live file, or corrects it.
  void SetFile(uint64_t file, int level, const FileSizes& sizes);
  void Erase(uint64_t file);

  void BeginJob(const SstJob& job);
  /// Its inputs leave, except those that are among `outputs`, if it succeeded.
  void EndJob(int id, bool is_ok, const std::set<uint64_t>& outputs);

  /// @{
  /// Sets what a file takes that the job writes, or may not be known to write.
  void SetOutput(int job, uint64_t file, int level, const FileSizes& sizes);
  /// Reserves for all files of a job, once; nothing for an unknown one. Returns what it has.
  uint64_t ReserveForJob(int job, uint64_t bytes, uint64_t available);
  /// What it may take of its inputs' bytes.
  uint64_t CreditOf(int job);
  uint64_t KeysOf(int job);
  bool IsManual(int job);
  /// @}

  /// See above; with what jobs have reserved ahead.
  uint64_t num_bytes() const;
  uint64_t index_bytes() const { return index_bytes_; }

  /// Files that stay, and what is reserved for those to come, by level.
  uint64_t BytesOnLevel(int level) const;

  /// The levels when the running jobs have ended.
  std::vector<TreeLevel> LevelsToCome() const;

 private:
  struct File {
    int level = 0;
    FileSizes sizes;
    uint64_t live_since = 0;  // in a version since this moment; 0: to come
    bool is_input = false;    // of a running job

    bool is_live() const { return live_since != 0; }
    void SetLive();
  };
  struct Job {
    SstJob job;
    uint64_t in_bytes = 0;
    std::map<uint64_t, uint64_t> out = {};
    uint64_t whole_bytes = 0;  // reserved for all its files

    uint64_t taken() const;
    uint64_t out_bytes() const;
  };
  // Files that are not inputs.
  struct Level {
    uint64_t bytes = 0;
    uint64_t num_keys = 0;   // of live files
    uint64_t num_files = 0;  // live
  };

  Job* FindJob(int id);
  void Count(const File& file, bool adds);
  template <class Change>
  void Update(uint64_t number, Change change);
  void CountInputs(Job* job);

  std::map<uint64_t, File> files_;
  std::map<int, Job> jobs_;
  std::map<int, Level> levels_;
  uint64_t num_bytes_ = 0;
  uint64_t index_bytes_ = 0;
};

}  // namespace blocksieve::rocksdb_plugin
