#pragma once  // SPDX-License-Identifier: Apache-2.0

#if __cplusplus < 202002L
#error "blocksieve needs C++20: compile with -std=c++20 or later"
#endif

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>

/// Exports a symbol from libblocksieve_rocksdb.so; all other symbols are hidden.
#define BLOCKSIEVE_EXPORT __attribute__((visibility("default")))

/// Filters and skip indexes for storage engines that keep sorted files. Every function follows
/// these rules, unless it or its class says otherwise:
///
/// * Threads: functions outside of classes and static ones are thread-safe, on distinct objects if
///   they change one. Const functions of an object may be called concurrently; any other function
///   needs exclusive access to it.
/// * Ownership: arguments are used during the call only, and results belong to the caller.
///   References and views of an object's parts are valid until it changes or is destroyed.
/// * Exceptions: only std::bad_alloc is thrown, and only by copies and by functions that return
///   neither a Status nor a Result and are not noexcept; and NoValue, by a Result whose caller
///   reads the value of an error. Callbacks must not throw.
namespace blocksieve {

/// What kind of failure a `Status` reports.
enum class StatusCode : uint8_t {
  kOk,                 ///< No failure.
  kInvalidArgument,    ///< An argument is outside its documented range.
  kCorruption,         ///< The bytes to decode are damaged.
  kNotSupported,       ///< Well-formed bytes from a newer version or another program.
  kResourceExhausted,  ///< Out of memory, or a memory budget or size limit would be exceeded.
};

/// The outcome of a function that can fail. The core reports errors only this way: it never prints
/// and never ends the process.
class [[nodiscard]] Status {
 public:
  Status() = default;  ///< Success.

  /// @{
  /// A status with that code. `message` is for people.
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
  /// @}

  bool ok() const noexcept { return code_ == StatusCode::kOk; }  ///< Whether code() is kOk.
  StatusCode code() const noexcept { return code_; }             ///< Kind of failure, for programs.

  /// The option or argument, its value and the allowed range; empty if ok().
  const std::string& message() const noexcept { return message_; }

 private:
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

/// Thrown where the value of an error is read; what() is the reason.
class NoValue : public std::exception {
 public:
  explicit NoValue(std::string reason) noexcept : reason_(std::move(reason)) {}  ///< See above.
  const char* what() const noexcept override { return reason_.c_str(); }         ///< The message.

 private:
  std::string reason_;
};

/// A value, or the reason why there is none. Reading the value of an error throws NoValue; in
/// programs without exceptions it aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  /// @{
  /// Implicit, so that a function can return either. An ok status is an error, too: it is no value.
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit
  Result(Status status)                          // NOLINT: implicit
      : status_(std::move(status)) {
    if (status_.ok()) [[unlikely]]
      status_ = Status::InvalidArgument("an ok status instead of a value");
  }
  /// @}

  bool ok() const noexcept { return value_.has_value(); }    ///< Whether it has a value.
  const Status& status() const noexcept { return status_; }  ///< Status::Ok(), or the reason.

  /// @{
  /// The value, owned by this result. Throws NoValue if there is none.
  const T& value() const& { return **this; }
  T& value() & { return **this; }
  T&& value() && { return *std::move(*this); }
  const T& operator*() const& { return *Checked(this); }
  T& operator*() & { return *Checked(this); }
  T&& operator*() && { return std::move(*Checked(this)); }
  const T* operator->() const { return Checked(this); }
  T* operator->() { return Checked(this); }
  /// @}

 private:
  static auto* Checked(auto* self) {
    if (!self->ok()) [[unlikely]] {
#if defined(__cpp_exceptions)
      throw NoValue(self->status_.message());
#else
      std::abort();
#endif
    }
    return &*self->value_;
  }

  std::optional<T> value_;
  Status status_;
};

}  // namespace blocksieve
