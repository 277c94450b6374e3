#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: use_packages.sh DIR: on a minimal Debian (bare.sh), installs the packages in DIR and uses
# them: the command, the plug-in preloaded into RocksDB's tools, and the programs of the documents.
# Then removes the packages, checks that no file remains, and installs them again.
set -euxo pipefail
programs=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../readme")
cd "$1"
get() { apt-get install --yes --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }
apt-get update

: The command
get ./blocksieve_*.deb ./libblocksieve-rocksdb0.1_*.deb # of blocksieve-preload
blocksieve --version
blocksieve size --fpr 0.01
seq 100000 | awk '{printf "path%06d\tpackage%d\n", $1, $1 / 100}' >rows.tsv
blocksieve load --db rows.db --key 1 --index package=field:1 rows.tsv
test "$(blocksieve scan --db rows.db --where "package = 'package77'" | wc -l)" = 100
blocksieve verify --db rows.db

: The plug-in, preloaded into programs that never heard of it
get rocksdb-tools
export LD_PRELOAD=libblocksieve_rocksdb.so.0.1
BLOCKSIEVE_REPLACE_BUILTIN=1 db_bench --db=bench.db --benchmarks=fillrandom,flush,readrandom \
  --num=20000 --bloom_bits=10
ldb --db=bench.db put word value
test "$(ldb --db=bench.db get word)" = value
unset LD_PRELOAD
blocksieve inspect --db bench.db --format json | grep '"blocksieve"'
sst_dump --file=bench.db --show_properties --command=none | grep 'filter policy name: blocksieve'
ldb --db=bench.db checkconsistency

: Programs built against the headers
get ./libblocksieve-dev_*.deb g++
"$programs/../install/headers.sh" /usr/include
get cmake make python3-minimal
cmake -S "$programs" -B programs
cmake --build programs
ctest --test-dir programs --output-on-failure --no-tests=error

: Gone without a trace, and back
debs=(*.deb)
apt-get purge --yes "${debs[@]%%_*}"
ldconfig -p | grep blocksieve && exit 1
find / -xdev -name '*blocksieve*' -not -path '/srv/*' | grep . && exit 1
get ./*.deb
blocksieve size --fpr 0.01
LD_PRELOAD=libblocksieve_rocksdb.so.0.1 ldb --db=bench.db checkconsistency
echo "works on a bare machine"
