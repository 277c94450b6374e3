#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh PROGRAM SOURCE [PACKAGE...] Runs PROGRAM, built from SOURCE: it must succeed and
# print what SOURCE's comments say. With PACKAGEs, first compiles it with their pkg-config flags,
# CXX and CXXFLAGS.
set -euo pipefail
program=$(realpath "$1")
source=$(realpath "$2")
if [[ $# -gt 2 ]]; then
  read -ra flags <<<"${CXXFLAGS:-} $(pkg-config --cflags --libs "${@:3}")"
  "${CXX:-c++}" -std=c++20 -o "$program" "$source" "${flags[@]}"
fi

rm -rf "$program.run" # for what it writes
mkdir "$program.run"
cd "$program.run"
output=$("$program")
sed -n 's|.*//.*prints: ||p' "$source" | while read -r expected; do
  [[ $output == *"$expected"* ]] || {
    echo "printed \"$output\", but the document says \"$expected\""
    exit 1
  }
done
