#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "lib/column/values.h"

namespace blocksieve::internal {

/// A pattern of LIKE, of STARTSWITH, or of HAS with n-grams. Immutable, thread-safe.
///
/// Literals match bytes, % matches any bytes, _ matches one whole character. In valid UTF-8 that is
/// LIKE over code points. In other texts, `LIKE 'x%'` still equals STARTSWITH 'x'.
class Pattern {
 public:
  /// A pattern of LIKE; nullopt if it ends in a single backslash.
  static std::optional<Pattern> Like(std::string_view pattern);
  /// Match texts that equal, begin with, or contain `literal`, which has no wildcards.
  static Pattern Equal(std::string_view literal) { return {literal, false, false}; }
  static Pattern Prefix(std::string_view literal) { return {literal, false, true}; }
  static Pattern Contains(std::string_view literal) { return {literal, true, true}; }

  bool Matches(std::string_view text) const noexcept;

  /// The literal that every match begins with.
  std::string_view prefix() const noexcept;
  /// Whether the pattern is prefix() alone, or prefix() followed by %.
  bool IsEqual() const noexcept { return segments_.size() == 1 && IsPlain(segments_[0]); }
  bool IsPrefix() const noexcept {
    return segments_.size() == 2 && IsPlain(segments_[0]) && segments_[1].empty();
  }

  /// Tokens that every matching text has: those inside a literal, whatever an adjacent wildcard
  /// matches. Sorted, distinct, refer to the pattern. REQUIRES: column.has_tokens()
  std::vector<std::string_view> RequiredTokens(const Column& column) const;

 private:
  // A literal, or nullopt for the wildcard _. Adjacent literals are merged.
  using Piece = std::optional<std::string>;
  using Segment = std::vector<Piece>;

  Pattern() : segments_(1) {}
  Pattern(std::string_view literal, bool any_before, bool any_after);

  static bool IsPlain(const Segment& segment) noexcept {
    return segment.empty() || (segment.size() == 1 && segment[0]);
  }
  static void AppendLiteral(char c, Segment* segment);
  static size_t MatchAt(const Segment& segment, std::string_view text, size_t position) noexcept;
  static size_t MatchBefore(const Segment& segment, std::string_view text) noexcept;

  // The pieces between wildcards %; at least one. The first is anchored to the beginning of the
  // text, the last to its end.
  std::vector<Segment> segments_;
};

}  // namespace blocksieve::internal
