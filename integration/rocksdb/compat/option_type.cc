#include "integration/rocksdb/compat/option_type.h"

#include "blocksieve/sizing.h"

namespace blocksieve::rocksdb_plugin {

rocksdb::Status ToRocksStatus(const Status& status) {
  const std::string message = "blocksieve: " + status.message();
  switch (status.code()) {
    case StatusCode::kOk:
      return rocksdb::Status::OK();
    case StatusCode::kInvalidArgument:
      return rocksdb::Status::InvalidArgument(message);
    case StatusCode::kCorruption:
      return rocksdb::Status::Corruption(message);
    case StatusCode::kNotSupported:
      return rocksdb::Status::NotSupported(message);
    case StatusCode::kResourceExhausted:
      return rocksdb::Status::MemoryLimit(message);
  }
  return rocksdb::Status::Aborted(message);
}

rocksdb::Status OptionOutOfRange(const std::string& name, const std::string& value,
                                 const std::string& allowed) {
  return rocksdb::Status::InvalidArgument("blocksieve: " + name + " is " +
                                          (value.empty() ? "empty" : value) + "; allowed is " +
                                          allowed);
}

rocksdb::Status ParseInRange(const std::string& name, const std::string& text, double lowest,
                             double highest, double* number) {
  double value = 0;
  if (!FromText(text, &value) || !(value >= lowest && value <= highest)) {
    return OptionOutOfRange(name, text, ToText(lowest) + " to " + ToText(highest));
  }
  *number = value;
  return rocksdb::Status::OK();
}

rocksdb::Status ParseTargetFpr(const std::string& name, const std::string& text,
                               double* target_fpr) {
  return ParseInRange(name, text, kMinTargetFpr, kMaxTargetFpr, target_fpr);
}

}  // namespace blocksieve::rocksdb_plugin
