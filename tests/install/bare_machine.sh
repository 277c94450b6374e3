#!/usr/bin/env bash
# usage: bare_machine.sh [BUILD_DIR]   (as root, with debootstrap and the network; build/ by default)
#
# Makes Debian packages of a build tree, installs them on a Debian 12 that has nothing else, in a
# directory of its own, and uses them as their users would: the command, the plug-in preloaded into
# RocksDB's tools, and programs built against the headers. Removes them, looks for what they left,
# installs them again. Prints what it does; takes some minutes; leaves nothing behind.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/bare_root.sh"
[[ ${1:-} == --in-namespace ]] || make_machine "$(realpath "${1:-$here/../../build}")"
machine=$2
build=$3

set -x
install_debian bookworm
mkdir "$machine/srv/packages"
(cd "$machine/srv/packages" && cpack --config "$build/CPackConfig.cmake" -B . && rm -r _CPack_Packages)
cp -r "$here/consumer" "$here/pkg_config.sh" "$machine/srv"

{ set +x; } 2>/dev/null
cat >"$machine/srv/inside.sh" <<'INSIDE'
export DEBIAN_FRONTEND=noninteractive
cd /srv
get() { apt-get install --yes --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }
apt-get update

: The command, alone
get ./packages/blocksieve_*.deb
blocksieve --version
blocksieve size --fpr 0.01
seq 100000 | awk '{printf "path%06d\tpackage%d\n", $1, $1 / 100}' >rows.tsv
blocksieve load --db rows.db --key 1 --index package=field:2 rows.tsv
test "$(blocksieve scan --db rows.db --where "package = 'package77'" | wc -l)" = 100
blocksieve verify --db rows.db

: The plug-in, preloaded into programs that do not know it
get rocksdb-tools ./packages/libblocksieve-rocksdb0.1_*.deb
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
get ./packages/libblocksieve-dev_*.deb g++
CXX=g++ ./pkg_config.sh /usr consumer pkg_config_consumer
get cmake make
cmake -S consumer -B cmake_consumer
cmake --build cmake_consumer
ctest --test-dir cmake_consumer --output-on-failure --no-tests=error

: Gone without a trace, and back
names=$(cd packages && for deb in *.deb; do echo "${deb%%_*}"; done)
apt-get purge --yes $names
ldconfig -p | grep blocksieve && exit 1
find / -xdev -name '*blocksieve*' -not -path '/srv/*' | grep . && exit 1
get ./packages/*.deb
blocksieve size --fpr 0.01
LD_PRELOAD=libblocksieve_rocksdb.so.0.1 ldb --db=bench.db checkconsistency
echo "works on a bare machine"
INSIDE
in_machine bash -euxo pipefail /srv/inside.sh
