#pragma once

#if __cplusplus < 202002L
#error "blocksieve needs C++20: compile with -std=c++20 or later"
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

/// Marks what libblocksieve_rocksdb.so exports. Everything else in it is hidden.
#define BLOCKSIEVE_EXPORT __attribute__((visibility("default")))

/// Filters and skip indexes for storage engines that keep sorted files.
namespace blocksieve {

/// What kind of failure a `Status` reports.
enum class StatusCode : uint8_t {
  kOk,                 ///< There was none.
  kInvalidArgument,    ///< The caller asked for something outside the documented range.
  kCorruption,         ///< Bytes that were to be decoded are damaged.
  kNotSupported,       ///< Well-formed, but from a newer version or another program.
  kResourceExhausted,  ///< A memory budget or a size limit would be exceeded.
};

/// The outcome of a function that can fail. The core reports errors only this way: it neither
/// throws across its API nor prints nor aborts. Memory that is short is such an error,
/// ResourceExhausted; only functions that return something else, and copies, throw std::bad_alloc,
/// as strings and containers do.
class [[nodiscard]] Status {
 public:
  /// Success.
  Status() = default;

  /// @{
  /// One of each code; `message` is for people.
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

  /// Whether the code is kOk.
  bool ok() const noexcept { return code_ == StatusCode::kOk; }

  /// For programs to tell failures apart.
  StatusCode code() const noexcept { return code_; }

  /// Names the thing, its value and the allowed range; empty if ok.
  const std::string& message() const noexcept { return message_; }

 private:
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

/// A value, or the reason why there is none.
///
/// Taking the value of an error ends the process in every build type, with the reason on stderr.
template <class T>
class [[nodiscard]] Result {
 public:
  /// @{
  /// Implicit, so that a function returns either. An ok status ends the process.
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit
  Result(Status status)                          // NOLINT: implicit
      : status_(std::move(status)) {
    if (status_.ok()) [[unlikely]]
      Terminate("an ok status in place of a value");
  }
  /// @}

  /// Whether there is a value.
  bool ok() const noexcept { return value_.has_value(); }

  /// The reason; Status::Ok() if there is a value.
  const Status& status() const noexcept { return status_; }

  /// @{
  /// The value; it lives as long as the result. Without one, the process ends.
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
  // The address of the value of `self`, const or not.
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
