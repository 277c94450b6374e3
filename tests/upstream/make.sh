#!/usr/bin/env bash
# usage: make.sh TREE: builds the stand-in as RocksDB's Makefile would, and runs it.
set -euo pipefail
cd "$1"
export MAKEFLAGS='' # of a make that might have called ctest
make --jobs "$(nproc)" OBJ_DIR=.
./mock ./db

# In the other place for objects, too, the plug-in's own sources get their flags, after RocksDB's.
compilations=$(make --dry-run OBJ_DIR=jl | grep -e '-c plugin/blocksieve')
! grep -v -e '-std=c++17 .*-std=c++20' <<<"$compilations"
