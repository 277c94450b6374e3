#pragma once

#include <memory>

#include "blocksieve/value.h"

namespace blocksieve {

/// Refers to, and does not own, a callable `bool(const Value&)` that is given the values of a
/// column one by one and returns whether it wants more. A std::function would allocate for every
/// row. Bytes of a value are valid during the call only.
class ValueVisitor {
 public:
  /// `callable` must outlive the visitor and its copies.
  template <class Callable>
  ValueVisitor(const Callable& callable) noexcept  // NOLINT: implicit, to take a lambda
      : callable_(std::addressof(callable)),
        call_([](const void* object, const Value& value) -> bool {
          return (*static_cast<const Callable*>(object))(value);
        }) {}

  /// Gives the callable a value; whether it wants more.
  bool operator()(const Value& value) const { return call_(callable_, value); }

 private:
  const void* callable_;
  bool (*call_)(const void* object, const Value& value);
};

}  // namespace blocksieve
