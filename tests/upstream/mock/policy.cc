// Registers the plug-ins as RocksDB does on start, then names a policy in a string.

#include "policy.h"

#include <rocksdb/convenience.h>
#include <rocksdb/utilities/object_registry.h>

#include <string>

// As in the build_version.cc that RocksDB generates.
extern "C" {
#define PLUGIN(name, function) int function(rocksdb::ObjectLibrary&, const std::string&);
#include "plugin_functions.inc"
#undef PLUGIN
}  // extern "C"

std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy() {
#define PLUGIN(name, function) \
  rocksdb::ObjectRegistry::Default()->AddLibrary(#name)->Register(function, #name);
#include "plugin_functions.inc"
#undef PLUGIN
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status =
      rocksdb::FilterPolicy::CreateFromString({}, "blocksieve:0.01", &policy);
  return status.ok() ? policy : nullptr;
}
