#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: headers.sh INCLUDE_DIR: checks that installed headers that do not compile as C++17 say
# first that they need C++20. Compiles with CXX.
set -euo pipefail
cd "$1"
find blocksieve -name '*.h' | while read -r header; do
  first_error=$("${CXX:-c++}" -std=c++17 -I. -fsyntax-only -Wfatal-errors -x c++ "$header" 2>&1 |
    grep -m 1 -w error || :)
  [[ -z $first_error || $first_error == *"needs C++20"* ]] || {
    echo "$header in C++17: $first_error"
    exit 1
  }
done
