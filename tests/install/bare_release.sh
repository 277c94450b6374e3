#!/usr/bin/env bash
# usage: bare_release.sh RELEASE   (as root, with debootstrap and the network)
#
# Makes a Debian that has nothing but what it needs to exist, such as bookworm, trixie or testing, in
# a directory of its own, clones the last commit into it, and runs bench/run --quick and tests/run
# there, as whoever tries the project does. Takes half an hour; leaves nothing behind.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# In a mount namespace of its own, so that no mount outlives it.
if [[ ${1:-} != --in-namespace ]]; then
  [[ $# -eq 1 ]] || {
    echo "usage: $0 RELEASE" >&2
    exit 2
  }
  machine=$(mktemp -d /tmp/bare_release.XXXXXX)
  trap 'rm -rf --one-file-system "$machine"' EXIT
  unshare --mount --propagation private "${BASH_SOURCE[0]}" --in-namespace "$1" "$machine"
  exit
fi
release=$2
machine=$3

chmod 755 "$machine" # apt downloads as a user of its own
debootstrap --variant=minbase --include=ca-certificates "$release" "$machine" \
  http://deb.debian.org/debian
git clone --quiet "$root" "$machine/srv/blocksieve"
mount -t proc proc "$machine/proc"
mount --rbind /dev "$machine/dev"
for command in "bench/run --quick" tests/run; do
  echo "== $release: $command"
  # shellcheck disable=SC2086 # a command and its arguments
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    chroot "$machine" /srv/blocksieve/$command
done
