// SPDX-License-Identifier: Apache-2.0
// Registers the plug-ins as RocksDB does on start, by the build_version.cc that it generates.

#include <rocksdb/utilities/object_registry.h>

#include <string>

extern "C" {
#define PLUGIN(name, function) int function(rocksdb::ObjectLibrary&, const std::string&);
#include "plugin_functions.inc"
#undef PLUGIN
}  // extern "C"

int RegisterPlugins() {
#define PLUGIN(name, function) \
  rocksdb::ObjectRegistry::Default()->AddLibrary(#name)->Register(function, #name);
#include "plugin_functions.inc"
#undef PLUGIN
  return 0;
}

const int registered = RegisterPlugins();
