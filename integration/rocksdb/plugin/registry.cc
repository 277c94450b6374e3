// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/plugin/registry.h"

#include <rocksdb/utilities/object_registry.h>

#include <memory>
#include <string>

#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/block_index/file_id.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {

// Shows all copies of this code in the process who has registered. Its layout never changes. Not in
// the anonymous namespace, where each copy would have a type of its own.
struct Registration {
  static const char* Type() { return "blocksieve"; }

  const char* version = BLOCKSIEVE_VERSION;
};

namespace {

constexpr char kRegistration[] = "registration";

// The version whose objects option strings create. Empty: none.
std::string RegisteredVersion() {
  std::unique_ptr<Registration> registration;
  const rocksdb::Status status = rocksdb::ObjectRegistry::Default()->NewUniqueObject<Registration>(
      kRegistration, &registration);
  return status.ok() ? registration->version : "";
}

// `id` is "blocksieve" or "blocksieve:<target_fpr>". RocksDB silently turns an error in an OPTIONS
// file into "no filter", so errors go to stderr as well.
const rocksdb::FilterPolicy* MakeFromId(const std::string& id,
                                        std::unique_ptr<const rocksdb::FilterPolicy>* guard,
                                        std::string* error) {
  EnableOptions options;
  if (const size_t colon = id.find(':'); colon != std::string::npos) {
    const rocksdb::Status status =
        PolicyOptionTable()["target_fpr"].parse(id.substr(colon + 1), &options);
    if (!status.ok()) {
      *error = status.ToString();
      LogLoudly(nullptr,
                "filter policy " + internal::Shown(id) +
                    " refused, so RocksDB may write files without filters: " + ToMessage(status));
      return nullptr;
    }
  }
  *guard = MakePolicy(options);
  return guard->get();
}

template <class Type, class Make>
void AddFactory(rocksdb::ObjectLibrary& library, const char* name, Make make) {
  library.AddFactory<Type>(name,
                           [make](const std::string&, std::unique_ptr<Type>* guard, std::string*) {
                             guard->reset(make());
                             return guard->get();
                           });
}

// Registers the factories of the filter policy ("blocksieve" and "blocksieve:<target_fpr>"), the
// skip index ("blocksieve.skip_index"), the block index ("blocksieve.block_index") with its
// collector of ids ("blocksieve.block_index.id"), the listener ("blocksieve"), the prefix extractor
// of range filters ("blocksieve.range", and its other name in files) and those of earlier files.
// Returns their number.
int RegisterFactories(rocksdb::ObjectLibrary& library) {
  AddFactory<Registration>(library, kRegistration, [] { return new Registration; });
  // The pattern accepts any text after the colon, not just numbers: an id that matches no pattern
  // is "not found", which RocksDB may swallow.
  library.AddFactory<const rocksdb::FilterPolicy>(
      rocksdb::ObjectLibrary::PatternEntry(Policy::kName, true).AddSeparator(":", false),
      MakeFromId);
  // RocksDB then sets the option columns. If it does not, PrepareOptions fails.
  AddFactory<rocksdb::TablePropertiesCollectorFactory>(
      library, SkipIndexCollectorFactory::kName, [] { return new SkipIndexCollectorFactory({}); });
  AddFactory<rocksdb::TablePropertiesCollectorFactory>(library, FileIdCollectorFactory::kName,
                                                       [] { return new FileIdCollectorFactory; });
  AddFactory<rocksdb::EventListener>(library, Listener::kName,
                                     [] { return MakeListener().release(); });
  for (const char* const name : {RangeExtractor::kName, RangeExtractor::kMarkedName}) {
    AddFactory<const rocksdb::SliceTransform>(library, name,
                                              [name] { return new RangeExtractor(name); });
  }
  for (const char* const name : kSizedExtractors) {
    library.AddFactory<const rocksdb::SliceTransform>(
        rocksdb::ObjectLibrary::PatternEntry(name, false).AddNumber("."),
        [](const std::string& id, std::unique_ptr<const rocksdb::SliceTransform>* guard,
           std::string*) {
          *guard = NewEarlierExtractor(id);
          return guard->get();
        });
  }
  return 8 + RegisterBlockIndex(library);
}

// RocksDB searches the library that was added last first, so it finds our extractors of earlier
// files before its own, and a statically linked program uses its own objects.
int RegisterFirst() {
  const std::string before = RegisteredVersion();
  if (!before.empty() && before != BLOCKSIEVE_VERSION) {
    LogLoudly(nullptr,
              "option strings use blocksieve " BLOCKSIEVE_VERSION
              " from now on; this process has also loaded blocksieve ",
              before);
  }
  return RegisterFactories(*rocksdb::ObjectRegistry::Default()->AddLibrary("blocksieve"));
}

}  // namespace

void RegisterUnlessRegistered() {
  [[maybe_unused]] static const bool is_registered = [] {
    const std::string before = RegisteredVersion();
    if (before.empty()) {
      RegisterFirst();
    } else if (before != BLOCKSIEVE_VERSION) {
      LogLoudly(nullptr,
                "option strings do not use blocksieve " BLOCKSIEVE_VERSION
                ", because this process had already loaded blocksieve ",
                before);
    }
    return true;
  }();
}

}  // namespace blocksieve::rocksdb_plugin

extern "C" int blocksieve_rocksdb_register(void) {
  static const int registered = blocksieve::rocksdb_plugin::RegisterFirst();
  return registered;
}

// Called by a RocksDB built with this plug-in in its tree (ROCKSDB_PLUGINS=blocksieve). RocksDB's
// generated build_version.cc declares it with C linkage.
extern "C" int blocksieve_register(rocksdb::ObjectLibrary& library, const std::string&) {
  return blocksieve::rocksdb_plugin::RegisterFactories(library);
}
