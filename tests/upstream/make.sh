#!/usr/bin/env bash
# usage: make.sh TREE: compiles one source of the plug-in as RocksDB's Makefile would. With
# BLOCKSIEVE_LONG_TESTS in the environment, compiles all and runs the mock, as the CMake test does.
set -euo pipefail
cd "$1"
export MAKEFLAGS='' # of a make that might have called ctest
if [[ -n ${BLOCKSIEVE_LONG_TESTS:-} ]]; then
  make --jobs "$(nproc)" OBJ_DIR=.
  ./mock ./db
else
  make OBJ_DIR=. ./plugin/blocksieve/integration/rocksdb/policy/policy.o
fi

# In the other object directory, too, the plug-in's sources get their flags after RocksDB's.
compilations=$(make --dry-run OBJ_DIR=jl | grep -e '-c plugin/blocksieve')
! grep -v -e '-std=c++17 .*-std=c++20' <<<"$compilations"
