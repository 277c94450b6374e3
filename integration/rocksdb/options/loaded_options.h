#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <memory>
#include <string>
#include <vector>

#include "integration/rocksdb/options/options_text.h"

// What RocksDB's parser makes of an OPTIONS file, and what it leaves out without an error.

namespace blocksieve::rocksdb_plugin {

/// A name in an OPTIONS file of which RocksDB makes no object here, or not as it is written.
struct NamedObject {
  std::string family;  ///< Empty for options of the database.
  std::string option;  ///< Such as compaction_filter.
  std::string value;   ///< Such as {id=X;ttl=3600}; one element of a list.
  std::string reason;  ///< RocksDB's message.

  /// Whether rows would be read or recovered wrongly without it: a comparator (loaded as null), a
  /// WAL filter, an environment or a table factory.
  bool is_needed() const;
};

/// The reason of an element that RocksDB makes by itself, but not beside the others of its list.
inline constexpr const char* kLeftOutWithOthers = "left out with the others of its list";

/// The elements of a list, "{A:{id=B;x=1}}" or "A", with the braces of those that have options.
std::vector<std::string> SplitList(const std::string& value);

/// The name in "X" and "{id=X;ttl=3600}".
std::string ParseId(const std::string& value);

struct LoadedOptions {
  std::string version;    ///< Of the RocksDB that wrote the file, as written; empty: unknown.
  bool is_newer = false;  ///< Of a later minor version: RocksDB ignores options that it lacks.
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  std::vector<NamedObject> objects;

  /// Null: no such family.
  const rocksdb::ColumnFamilyOptions* Find(const std::string& family) const;
};

/// Loads the text with RocksDB's parser, from memory. Objects that this program does not have are
/// left out or stood in for, and listed. Fails as the parser does, and with Corruption, which names
/// both, if the parser loaded other options than the text has by OptionsText.
rocksdb::Status Load(const OptionsText& text, LoadedOptions* loaded);

enum class PolicyEffect {
  kNone,       ///< No policy.
  kOurs,       ///< Of blocksieve; it may leave out filters on purpose.
  kBuilds,     ///< Of RocksDB or a plug-in; it builds filters.
  kOnlyReads,  ///< It reads filters and builds none: rocksdb.BuiltinBloomFilter, bloomfilter:0
  kStockWithoutBits,  ///< bloomfilter or ribbonfilter, which RocksDB's C API leaves.
  kRefused,           ///< RocksDB knows the name and refuses the options.
  kForeign,           ///< No such policy here.
};

struct PolicyVerdict {
  PolicyEffect kind = PolicyEffect::kNone;
  std::string reason;  ///< RocksDB's message, of kRefused and kForeign.
  std::shared_ptr<const rocksdb::FilterPolicy> policy;  ///< Null if there is none.

  bool builds() const { return kind == PolicyEffect::kOurs || kind == PolicyEffect::kBuilds; }
};

/// Judges a value of filter_policy, as returned by OptionsText::Find.
PolicyVerdict Judge(const std::string& filter_policy);

/// Loads `after`. OK if it differs from `before` in the edits alone, and RocksDB loads what it
/// says; otherwise Corruption, which names the option, or the status of Load. An object that
/// RocksDB does not make of an edited value is no error here, but listed by Load.
rocksdb::Status SameBut(const OptionsText& before, const OptionsText& after,
                        const std::vector<OptionChange>& edits);

}  // namespace blocksieve::rocksdb_plugin
