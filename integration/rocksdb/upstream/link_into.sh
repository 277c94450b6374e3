#!/usr/bin/env bash
# usage: link_into.sh ROCKSDB_TREE
# Makes blocksieve a plug-in of a RocksDB source tree (7.0.3 or later): fills ROCKSDB_TREE/plugin/blocksieve
# with links to the files here. Run it again when files were added or removed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)

if [[ $# -ne 1 || ! -f ${1:-}/include/rocksdb/version.h ]]; then
  echo "usage: $0 ROCKSDB_TREE, a directory with include/rocksdb/version.h" >&2
  exit 2
fi
folder=$1/plugin/blocksieve
for part in include lib integration/rocksdb; do
  # Links files, not directories, because make puts objects beside the sources.
  rm -rf "${folder:?}/$part"
  mkdir -p "$folder/$part"
  cp -rs "$root/$part/." "$folder/$part"
done
ln -sf "$here/CMakeLists.txt" "$folder"
# Trees that build lz4 themselves find its xxhash.h, which has no XXH3, before the system's. So a directory
# with only a link to the system's is searched first.
xxhash=$(echo '#include <xxhash.h>' | ${CXX:-c++} -E -x c++ - |
  sed -n 's|^# 1 "\(/.*/xxhash\.h\)".*|\1|p' | head -n 1) || true
if [[ -z $xxhash ]]; then
  echo "$0: the compiler finds no xxhash.h; on Debian it is in libxxhash-dev" >&2
  exit 1
fi
mkdir -p "$folder/xxhash"
ln -sf "$xxhash" "$folder/xxhash/xxhash.h"

# All sources but shared_plugin.cc, which takes effect when it is loaded.
list() { (cd "$root" && find "$@" | sort | paste --serial --delimiters ' '); }
sources=$(list lib integration/rocksdb -name '*.cc' ! -name shared_plugin.cc)
headers=$(list integration/rocksdb/include -name '*.h')
sed -e "s|@SOURCES@|$sources|" -e "s|@HEADERS@|$headers|" "$here/blocksieve.mk.in" >"$folder/blocksieve.mk"

cat <<TEXT
$folder is in place. In $1, build with either of

  cmake -S . -B build -DROCKSDB_PLUGINS=blocksieve && cmake --build build
  make ROCKSDB_PLUGINS=blocksieve static_lib
TEXT
