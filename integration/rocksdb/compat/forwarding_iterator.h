#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/iterator.h>
#include <rocksdb/snapshot.h>

#include <memory>
#include <string>

namespace blocksieve::rocksdb_plugin {

template <class Iterator, class Argument>
Argument ArgumentOf(void (Iterator::*)(Argument));

/// The argument of Iterator::Prepare, which has changed since RocksDB 10.1; before, it is none.
template <class Iterator>
struct PrepareArgument {
  using Type = const void*;
};
template <class Iterator>
requires requires { &Iterator::Prepare; }
struct PrepareArgument<Iterator> {
  using Type = decltype(ArgumentOf(&Iterator::Prepare));
};

/// Since RocksDB 9.8: reads the value of an iterator with `allow_unprepared_value`.
template <class Iterator>
bool PrepareValue([[maybe_unused]] Iterator* iterator) {
  if constexpr (requires { iterator->PrepareValue(); }) return iterator->PrepareValue();
  return true;
}

/// Forwards what all versions of RocksDB ask of an iterator and of its row, but for its moves, to
/// another one. Functions without `override` override those of some versions: Refresh of a
/// snapshot since 8.8, PrepareValue since 9.8, Prepare since 10.1. A test knows all.
class ForwardingIterator : public rocksdb::Iterator {
 public:
  rocksdb::Slice key() const final { return base_->key(); }
  rocksdb::Slice value() const final { return base_->value(); }
  const rocksdb::WideColumns& columns() const final { return base_->columns(); }
  rocksdb::Slice timestamp() const final { return base_->timestamp(); }

  bool PrepareValue() { return rocksdb_plugin::PrepareValue(base_.get()); }

  void Prepare(PrepareArgument<rocksdb::Iterator>::Type ranges) {
    const auto prepare = [&](auto* base) {
      if constexpr (requires { base->Prepare(ranges); }) base->Prepare(ranges);
    };
    prepare(base_.get());
  }

  rocksdb::Status Refresh() final {
    rocksdb::Status status = IsMadeAnew() ? rocksdb::Status::OK() : base_->Refresh();
    return status.ok() ? OnRefreshed(nullptr) : status;
  }
  rocksdb::Status Refresh(const rocksdb::Snapshot* snapshot) {
    const auto refresh = [&](auto* base) {
      if constexpr (requires { base->Refresh(snapshot); }) return base->Refresh(snapshot);
      return rocksdb::Status::NotSupported("Refresh() is not supported");
    };
    rocksdb::Status status = IsMadeAnew() ? rocksdb::Status::OK() : refresh(base_.get());
    return status.ok() ? OnRefreshed(snapshot) : status;
  }

 protected:
  /// Whether OnRefreshed makes another base iterator of the new moment, without asking this one.
  virtual bool IsMadeAnew() const { return false; }
  /// The base iterator shows the rows of `snapshot`, or without one of this moment.
  virtual rocksdb::Status OnRefreshed(const rocksdb::Snapshot* snapshot) = 0;

  std::unique_ptr<rocksdb::Iterator> base_;
};

}  // namespace blocksieve::rocksdb_plugin
