#!/usr/bin/env bash
# usage: make_tree.sh MOCK CONSUMER LINK_INTO TREE: a stand-in for a RocksDB tree, with the plug-in
# linked in, and the program of a consumer.
set -euo pipefail
rm -rf "$4"
mkdir -p "$4/include/rocksdb"
touch "$4/include/rocksdb/version.h"
cp -r "$1"/. "$2"/{database.cc,policy.h} "$4"
"$3" "$4"
