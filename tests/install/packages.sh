#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: packages.sh CPACK BUILD INSTALLED_PREFIX WORK_DIR [--core-only]
# Makes Debian packages from the build tree, checks them, with lintian too if it is installed, and
# unpacks them into WORK_DIR/root.
set -euo pipefail
cpack=$1
build=$2
installed=$3
work=$4
packages=(libblocksieve-dev)
[[ ${5:-} == --core-only ]] || packages+=(libblocksieve-rocksdb0.1 blocksieve)

rm -rf "$work"
mkdir -p "$work/root"
(cd "$work" && "$cpack" --config "$build/CPackConfig.cmake" -B .)

fail() {
  echo "$*"
  exit 1
}

# depends PACKAGE PATTERN: checks that the package has a dependency that matches.
depends() {
  dpkg-deb --field "$work/$1"_*.deb Depends | tr ',' '\n' | grep -qE "^ *$2" ||
    fail "$1 does not depend on $2"
}

diff <(printf '%s\n' "${packages[@]}" | sort) <(cd "$work" && ls ./*.deb | sed -E 's|\./(.*)_.*_.*|\1|')
for package in "${packages[@]}"; do
  deb=("$work/$package"_*.deb)
  dpkg-deb --info "${deb[0]}"
  for doc in copyright changelog.gz changelog.Debian.gz; do
    dpkg-deb --contents "${deb[0]}" | grep -F "./usr/share/doc/$package/$doc"
  done
  for field in Version Maintainer Section Description Architecture; do
    [[ -n $(dpkg-deb --field "${deb[0]}" $field) ]] || fail "$package has no $field"
  done
  dpkg-deb --extract "${deb[0]}" "$work/root"
  dpkg-deb --control "${deb[0]}" "$work/$package.control"
  (cd "$work/root" && md5sum --check --quiet "$work/$package.control/md5sums")
done

# Every installed file is in exactly one package; cpack omits files without a component.
all_of() { (cd "$1" && find . -not -type d | sed 's/\.gz$//' | sort); }
diff <(all_of "$installed") <(all_of "$work/root/usr")
diff -r "$installed/include" "$work/root/usr/include"
for deb in "$work"/*.deb; do dpkg-deb --contents "$deb"; done |
  grep -v '^d' | awk '{print $6}' | sort | uniq -d | grep . && fail "in more than one package"

if command -v lintian; then lintian --fail-on error "$work"/*.deb; fi

depends libblocksieve-dev libzstd-dev
if [[ ${5:-} != --core-only ]]; then
  version=$(dpkg-deb --field "$work"/libblocksieve-dev_*.deb Version)
  dpkg-deb --contents "$work"/libblocksieve-dev_*.deb | grep "/libblocksieve_rocksdb\.a$" ||
    fail "libblocksieve-dev lacks the static plug-in"
  depends libblocksieve-dev librocksdb-dev
  depends libblocksieve-dev "libblocksieve-rocksdb0\\.1 \\(= $version\\)"
  # Debian's package names: librocksdb.so.7.8 is in librocksdb7.8.
  rocksdb=$(readelf -d "$work"/root/usr/lib*/libblocksieve_rocksdb.so |
    sed -nE 's|.*NEEDED.*\[(librocksdb)\.so\.([0-9.]+)\]|\1\2|p')
  depends libblocksieve-rocksdb0.1 "${rocksdb:?} "
  depends blocksieve "$rocksdb "
  gzip --test "$work/root/usr/share/man/man1/blocksieve.1.gz"
  "$work/root/usr/bin/blocksieve" size --fpr 0.01
fi
