#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: make.sh TREE: compiles the plug-in as RocksDB's Makefile would, and runs the mock.
set -euo pipefail
cd "$1"
export MAKEFLAGS='' # of a make that might have called ctest
make --jobs "$(nproc)" OBJ_DIR=.
./mock ./db blocksieve:0.01 | grep 'policy=blocksieve written=blocksieve found=2000 rejected=[12]'

# In the other object directory, too, the plug-in's sources get their flags after RocksDB's.
compilations=$(make --dry-run OBJ_DIR=jl | grep -e '-c plugin/blocksieve')
! grep -v -e '-std=c++17 .*-std=c++20' <<<"$compilations"
