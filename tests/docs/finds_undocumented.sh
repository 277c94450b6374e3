#!/usr/bin/env bash
# usage: finds_undocumented.sh DOXYGEN DOXYFILE WORK_DIR
# Adds a header to the public ones, and checks that exactly the names that say so are reported.
set -euo pipefail
doxygen=$1
doxyfile=$2
work=$3
rm -rf "$work"
mkdir -p "$work"

cat >"$work/planted.h" <<'TEXT'
namespace blocksieve {
inline constexpr int kUndocumentedConstant = 1;
using UndocumentedAlias = int;
int UndocumentedFunction();
enum class UndocumentedEnum { kOne };
struct UndocumentedStruct {
  int undocumented_in_struct = 0;
};

/// Documented, unlike some of its members.
class Planted {
 public:
  void UndocumentedMember();
  int undocumented_field = 0;
  int field = 0;  ///< Documented.
 private:
  void Private();
};

namespace internal {
void Internal();
}
}  // namespace blocksieve
TEXT

status=0
"$doxygen" - >"$work/said" 2>&1 <<TEXT || status=$?
@INCLUDE = $doxyfile
INPUT += $work/planted.h
OUTPUT_DIRECTORY = $work
TEXT
cat "$work/said"
if [[ $status -eq 0 ]]; then
  echo "doxygen did not fail"
  exit 1
fi
diff <(grep -oE '[kK]?[uU]ndocumented\w+' "$work/planted.h" | sort) \
  <(grep -oP '(Member|Compound blocksieve::) ?\K\w+' "$work/said" | sort)
