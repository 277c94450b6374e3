#include <rocksdb/utilities/object_registry.h>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// `id` is "blocksieve" or "blocksieve:<target_fpr>". RocksDB silently turns an error in an OPTIONS
// file into "no filter", so errors go to stderr as well.
const rocksdb::FilterPolicy* MakeFromId(const std::string& id,
                                        std::unique_ptr<const rocksdb::FilterPolicy>* guard,
                                        std::string* error) {
  FilterPolicyOptions options;
  if (const size_t colon = id.find(':'); colon != std::string::npos) {
    const rocksdb::Status status =
        ParseTargetFpr("target_fpr", id.substr(colon + 1), &options.target_fpr.emplace());
    if (!status.ok()) {
      *error = status.ToString();
      LogLoudly(nullptr, "filter policy " + internal::Shown(id) + " refused: " + *error);
      return nullptr;
    }
  }
  *guard = MakePolicy(options);
  return guard->get();
}

// Of the filter policy ("blocksieve" and "blocksieve:<target_fpr>"), the skip index
// ("blocksieve.skip_index"), the listener ("blocksieve") and the prefix extractor of range filters
// ("blocksieve.range"; files may have been written under its other name). Returns their number.
int RegisterFactories(rocksdb::ObjectLibrary& library) {
  // The pattern takes any text after the colon, not just numbers. An id that matches no pattern is
  // "not found", which RocksDB may swallow.
  library.AddFactory<const rocksdb::FilterPolicy>(
      rocksdb::ObjectLibrary::PatternEntry(Policy::kName, true).AddSeparator(":", false),
      MakeFromId);
  library.AddFactory<rocksdb::TablePropertiesCollectorFactory>(
      SkipIndexCollectorFactory::kName,
      [](const std::string&, std::unique_ptr<rocksdb::TablePropertiesCollectorFactory>* guard,
         std::string*) {
        // The columns follow as an option. Without any, PrepareOptions fails.
        guard->reset(new SkipIndexCollectorFactory(SkipIndexOptions()));
        return guard->get();
      });
  library.AddFactory<rocksdb::EventListener>(
      Listener::kName,
      [](const std::string&, std::unique_ptr<rocksdb::EventListener>* guard, std::string*) {
        guard->reset(new Listener);
        return guard->get();
      });
  for (const char* const name : {RangeExtractor::kName, RangeExtractor::kMarkedName}) {
    library.AddFactory<const rocksdb::SliceTransform>(
        name, [name](const std::string&, std::unique_ptr<const rocksdb::SliceTransform>* guard,
                     std::string*) {
          guard->reset(new RangeExtractor(name));
          return guard->get();
        });
  }
  return 5;
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin

extern "C" int blocksieve_rocksdb_register(void) {
  return blocksieve::rocksdb_plugin::RegisterFactories(*rocksdb::ObjectLibrary::Default());
}

// Called when a RocksDB starts that has this plug-in in its tree (ROCKSDB_PLUGINS=blocksieve).
// RocksDB's generated build_version.cc declares it with C linkage.
extern "C" int blocksieve_register(rocksdb::ObjectLibrary& library, const std::string&) {
  return blocksieve::rocksdb_plugin::RegisterFactories(library);
}
