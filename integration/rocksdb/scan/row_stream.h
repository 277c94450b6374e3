#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <optional>

namespace blocksieve::rocksdb_plugin {

/// Keys that may be those of matching rows, in scan order, found as late as possible: a source that
/// a limited scan never comes to reads nothing.
class CandidateSource {
 public:
  virtual ~CandidateSource() = default;

  /// No candidate is left.
  virtual bool Done() const = 0;

  /// No candidate that is left comes before this key; none: nothing is known. Valid until the next
  /// call of another function. REQUIRES: !Done()
  virtual std::optional<rocksdb::Slice> Bound() const = 0;

  /// Whether Bound() is a candidate; otherwise Position() is to be called.
  virtual bool IsPositioned() const = 0;

  /// Looks for the next candidate; afterwards the source is positioned, done, or has a later bound.
  /// REQUIRES: !Done() && !IsPositioned()
  virtual void Position() = 0;

  /// Leaves the candidate. REQUIRES: IsPositioned()
  virtual void Next() = 0;
};

/// Matching rows in scan order. Stands at the first after Start().
class RowStream {
 public:
  virtual ~RowStream() = default;

  virtual void Start() = 0;
  virtual bool Valid() const = 0;
  /// REQUIRES: Valid()
  virtual void Next() = 0;
  virtual rocksdb::Slice key() const = 0;
  virtual rocksdb::Slice value() const = 0;
  virtual rocksdb::Status status() const = 0;
};

}  // namespace blocksieve::rocksdb_plugin
