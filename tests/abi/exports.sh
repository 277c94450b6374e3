#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: exports.sh PLUGIN [--record]
# Compares the plug-in's exported symbols and their version with the recorded ones, or records them.
set -euo pipefail
recorded=$(dirname "${BASH_SOURCE[0]}")/exports.symbols
exports() { nm --dynamic --defined-only --format=just-symbols "$1" | grep '@@' | LC_ALL=C sort; }

if [[ ${2:-} == --record ]]; then
  exports "$1" >"$recorded"
elif ! diff "$recorded" <(exports "$1") | c++filt; then
  echo "Programs that use a symbol that is gone (<) no longer run with this plug-in. If a plug-in of" \
    "this soname was released, undo that, or raise VERSION in CMakeLists.txt, which the soname" \
    "follows. To record: tests/abi/exports.sh $1 --record"
  exit 1
fi
