#!/usr/bin/env bash
# usage: pkg_config.sh PREFIX CONSUMER_DIR WORK_DIR [--core-only]
# Builds the consumer with a plain compiler and pkg-config, and runs it. CXX and CXXFLAGS count.
set -euo pipefail
prefix=$1
consumer=$2
work=$3
rm -rf "$work"
mkdir -p "$work"

pc_dir=$(dirname "$(find "$prefix" -name blocksieve.pc)")
export PKG_CONFIG_PATH=$pc_dir
export LD_LIBRARY_PATH=${pc_dir%/pkgconfig}

# build PACKAGE PROGRAM SOURCES...
build() {
  local -a flags sources=("${@:3}")
  read -ra flags <<<"$(pkg-config --cflags --libs "$1") ${CXXFLAGS:-}"
  "${CXX:-c++}" -std=c++20 -Wall -Wextra -o "$work/$2" "${sources[@]/#/$consumer/}" "${flags[@]}"
}

for program in core filters; do
  build blocksieve "$program" "$program.cc"
  "$work/$program"
done
[[ ${4:-} != --core-only ]] || exit 0
for way in by_function by_string; do
  build blocksieve_rocksdb "$way" database.cc "$way.cc"
  "$work/$way" "$work/$way.db"
done
