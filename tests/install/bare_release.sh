#!/usr/bin/env bash
# usage: bare_release.sh RELEASE   (as root, with debootstrap and the network)
#
# Makes a Debian that has nothing but what it needs to exist, such as bookworm, trixie or testing, in
# a directory of its own, clones the last commit into it, and runs bench/run --quick and tests/run
# there, as whoever tries the project does. Takes half an hour; leaves nothing behind.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tests/install/bare_root.sh"
if [[ ${1:-} != --in-namespace ]]; then
  [[ $# -eq 1 ]] || {
    echo "usage: $0 RELEASE" >&2
    exit 2
  }
  make_machine "$1"
fi
machine=$2
release=$3

install_debian "$release"
git clone --quiet "$root" "$machine/srv/blocksieve"
for command in "bench/run --quick" tests/run; do
  echo "== $release: $command"
  # shellcheck disable=SC2086 # a command and its arguments
  in_machine /srv/blocksieve/$command
done
