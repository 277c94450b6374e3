#pragma once  // SPDX-License-Identifier: Apache-2.0

#if __cplusplus < 202002L
#error "blocksieve needs C++20: compile with -std=c++20 or later"
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
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
///   neither a Status nor a Result and are not noexcept. Callbacks must not throw.
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
/// or aborts.
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

/// A value, or the reason why there is none. Reading the value of an error prints the reason to
/// stderr and aborts, in every build type.
template <class T>
class [[nodiscard]] Result {
 public:
  /// @{
  /// Implicit, so that a function can return either. An ok status aborts the process.
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit
  Result(Status status)                          // NOLINT: implicit
      : status_(std::move(status)) {
    if (status_.ok()) [[unlikely]]
      Terminate("an ok status instead of a value");
  }
  /// @}

  bool ok() const noexcept { return value_.has_value(); }    ///< Whether it has a value.
  const Status& status() const noexcept { return status_; }  ///< Status::Ok(), or the reason.

  /// @{
  /// The value, owned by this result. Without a value, aborts.
  const T& value() const& noexcept { return **this; }
  T& value() & noexcept { return **this; }
  T&& value() && noexcept { return *std::move(*this); }
  const T& operator*() const& noexcept { return *Checked(this); }
  T& operator*() & noexcept { return *Checked(this); }
  T&& operator*() && noexcept { return std::move(*Checked(this)); }
  const T* operator->() const noexcept { return Checked(this); }
  T* operator->() noexcept { return Checked(this); }
  /// @}

 private:
  static auto* Checked(auto* self) noexcept {
    if (!self->ok()) [[unlikely]]
      Terminate(self->status_.message().c_str());
    return &*self->value_;
  }

  [[noreturn]] static void Terminate(const char* reason) noexcept {
    std::fprintf(stderr, "blocksieve: a Result has no value: %s\n", reason);
    std::abort();
  }
  std::optional<T> value_;
  Status status_;
};

}  // namespace blocksieve
