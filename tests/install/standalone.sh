#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: standalone.sh   (as root, with debootstrap and the network; after .ci/prepare)
#
# Builds the command as a single file that needs nothing (preset standalone), runs the command's tests
# with it, and runs it on databases in an empty root and on bare Debian 12 and 13 machines. Removes
# everything at the end.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
cmake --preset standalone
cmake --build --preset standalone
export BLOCKSIEVE=$root/build-standalone/integration/cli/blocksieve
export LEVEL_TREE=$root/build/tests/cli/level_tree
export PLUGIN=$root/build/integration/rocksdb/libblocksieve_rocksdb.so
(cd tests/cli && python3 -B -m unittest discover --pattern '*_test.py')

machines=$(mktemp -d /var/tmp/standalone.XXXXXX)
trap 'rm -rf --one-file-system "$machines"' EXIT
mkdir "$machines/empty"
for release in bookworm trixie; do
  debootstrap --variant=minbase "$release" "$machines/$release"
done
for machine in "$machines"/*; do
  cp "$BLOCKSIEVE" "$machine"
  seq -w 20000 | sed 's/$/\tvalue/' |
    "$BLOCKSIEVE" load --db "$machine/paths.db" --key 1 --index value=field:1 -
  db_bench --db="$machine/stock.db" --benchmarks=fillrandom,flush --num=20000 --bloom_bits=10
  for command in inspect verify advise check; do
    for db in paths.db stock.db; do
      echo "== $(basename "$machine"): blocksieve $command --db $db"
      env --ignore-environment "$(command -v chroot)" "$machine" /blocksieve "$command" --db "$db"
    done
  done
done
stat --format 'needs nothing, and has %s bytes' "$machines/empty/blocksieve"
