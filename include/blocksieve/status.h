#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace blocksieve {

/// What kind of failure a `Status` reports.
enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,    ///< The caller asked for something outside the documented range.
  kCorruption,         ///< Bytes that were to be decoded are damaged.
  kNotSupported,       ///< Well-formed, but from a newer version or another program.
  kResourceExhausted,  ///< A memory budget or a size limit would be exceeded.
};

/// The outcome of a function that can fail. The core reports errors only this way: it neither
/// throws across its API nor prints nor aborts.
class [[nodiscard]] Status {
 public:
  Status() = default;

  static Status Ok() { return {}; }
  static Status InvalidArgument(std::string message) {
    return {StatusCode::kInvalidArgument, std::move(message)};
  }
  static Status Corruption(std::string message) {
    return {StatusCode::kCorruption, std::move(message)};
  }
  static Status NotSupported(std::string message) {
    return {StatusCode::kNotSupported, std::move(message)};
  }
  static Status ResourceExhausted(std::string message) {
    return {StatusCode::kResourceExhausted, std::move(message)};
  }

  bool ok() const noexcept { return code_ == StatusCode::kOk; }
  StatusCode code() const noexcept { return code_; }

  /// Names the thing, its value and the allowed range; empty if ok.
  const std::string& message() const noexcept { return message_; }

 private:
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

/// A value, or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                                  // NOLINT: implicit
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT: implicit

  bool ok() const noexcept { return value_.has_value(); }
  const Status& status() const noexcept { return status_; }

  /// REQUIRES: ok()
  const T& value() const& noexcept { return *value_; }
  T& value() & noexcept { return *value_; }
  T&& value() && noexcept { return *std::move(value_); }
  const T& operator*() const& noexcept { return *value_; }
  T& operator*() & noexcept { return *value_; }
  T&& operator*() && noexcept { return *std::move(value_); }
  const T* operator->() const noexcept { return &*value_; }
  T* operator->() noexcept { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace blocksieve
