#!/usr/bin/env bash
# usage: make_tree.sh MOCK LINK_INTO TREE: makes a mock RocksDB tree with a link to the plug-in.
set -euo pipefail
rm -rf "$3"
mkdir -p "$3/include/rocksdb"
touch "$3/include/rocksdb/version.h"
cp -r "$1"/. "$3"
"$2" "$3"
