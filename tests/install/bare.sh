#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: bare.sh RELEASE tests|packages   (as root, with debootstrap and the network)
#
# Installs a minimal Debian, such as bookworm, trixie or testing, in a directory of its own, and
# clones the last commit into it. tests: runs bench/run --quick and tests/run there, like a new
# user. packages: makes Debian packages there, runs lintian, builds the programs of the documents
# with the sources in a parent project, and uses the packages in a second minimal Debian: see
# use_packages.sh. Removes everything at the end.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [[ ${1:-} != --in-namespace ]]; then
  [[ $# -eq 2 && ($2 == tests || $2 == packages) ]] || {
    echo "usage: $0 RELEASE tests|packages" >&2
    exit 2
  }
  # In its own mount namespace, so that no mount outlives the script.
  machines=$(mktemp -d /var/tmp/bare.XXXXXX)
  trap 'rm -rf --one-file-system "$machines"' EXIT
  unshare --mount --propagation private "$0" --in-namespace "$machines" "$@"
  exit
fi
machines=$2
release=$3
chmod 755 "$machines" # apt downloads as a user of its own

# install_debian NAME: from this machine's Debian mirror, if it has one.
install_debian() {
  local mirror
  mirror=$(apt-get indextargets --format "\$(REPO_URI)" 'Label: Debian' 'Created-By: Packages' |
    sort -u | sed -n '1p')
  debootstrap --variant=minbase --include=ca-certificates \
    "$release" "$machines/$1" ${mirror:+"$mirror"}
  mount -t proc proc "$machines/$1/proc"
  mount --rbind /dev "$machines/$1/dev"
  git clone --quiet "$root" "$machines/$1/srv/blocksieve"
}

# in_debian NAME COMMAND...: runs the command without this environment.
in_debian() {
  echo "== $release: ${*:2}"
  env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive \
    chroot "$machines/$1" sh -c 'cd /srv && exec "$@"' sh "${@:2}" </dev/null
}

install_debian builder
if [[ $4 == tests ]]; then
  in_debian builder blocksieve/bench/run --quick
  in_debian builder blocksieve/tests/run
else
  in_debian builder blocksieve/.ci/prepare --packages=bench,build \
    blocksieve_rocksdb blocksieve_rocksdb_static blocksieve_cli blocksieve_cli_files
  in_debian builder apt-get install --yes --no-install-recommends dpkg-dev file lintian
  in_debian builder cpack --config blocksieve/build/CPackConfig.cmake -B packages
  in_debian builder sh -c 'lintian --fail-on error packages/*.deb'
  in_debian builder sh -c 'cmake -S blocksieve/tests/readme -B parent -G Ninja \
    -DFETCHCONTENT_SOURCE_DIR_BLOCKSIEVE=/srv/blocksieve && cmake --build parent &&
    ctest --test-dir parent --output-on-failure --no-tests=error'
  install_debian user
  cp -r "$machines/builder/srv/packages" "$machines/user/srv"
  in_debian user blocksieve/tests/install/use_packages.sh packages
fi
