#pragma once

#include <rocksdb/convenience.h>
#include <rocksdb/status.h>
#include <rocksdb/utilities/options_type.h>

#include <string>

namespace blocksieve::rocksdb_plugin {

/// One option of type T as RocksDB's option machinery wants it: where it lies among the options,
/// how it is parsed, Status parse(text, T*), and how it is written, string write(T). RocksDB leaves
/// an option without a text out.
template <class T, class Parse, class Write>
rocksdb::OptionTypeInfo OptionAsText(size_t offset, Parse parse, Write write) {
  using rocksdb::ConfigOptions;
  return rocksdb::OptionTypeInfo(
      static_cast<int>(offset), rocksdb::OptionType::kUnknown,
      rocksdb::OptionVerificationType::kNormal, rocksdb::OptionTypeFlags::kNone,
      [parse](const ConfigOptions&, const std::string&, const std::string& text, void* address) {
        return parse(text, static_cast<T*>(address));
      },
      [write](const ConfigOptions&, const std::string&, const void* address, std::string* text) {
        *text = write(*static_cast<const T*>(address));
        return rocksdb::Status::OK();
      },
      [](const ConfigOptions&, const std::string&, const void* a, const void* b, std::string*) {
        return *static_cast<const T*>(a) == *static_cast<const T*>(b);
      });
}

}  // namespace blocksieve::rocksdb_plugin
