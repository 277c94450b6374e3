#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: no_build_paths.sh PREFIX SOURCE_DIR: checks that no installed file depends on the source
# tree, which contains the build tree.
set -euo pipefail
prefix=$1
source_dir=$2

# Text files only: the binaries of a debug build name their sources.
if grep -rIlF "$source_dir" "$prefix"; then
  echo "these files refer to $source_dir"
  exit 1
fi

plugin=$(find "$prefix" -name libblocksieve_rocksdb.so)
if [[ -n $plugin ]]; then
  dynamic=$(readelf -d "$plugin")
  grep -E 'SONAME|NEEDED|RUNPATH|RPATH' <<<"$dynamic"
  grep -qE 'SONAME.*libblocksieve_rocksdb\.so\.[0-9]' <<<"$dynamic"
  if grep -qF "$source_dir" <<<"$dynamic"; then exit 1; fi
fi
