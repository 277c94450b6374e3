# shellcheck shell=bash
# For bare_machine.sh and bare_release.sh: a Debian that has nothing but what it needs to exist, in a
# directory of its own, $machine.

# make_machine ARGUMENTS...: makes the directory and runs the script once more, as SCRIPT
# --in-namespace DIRECTORY ARGUMENTS..., in a mount namespace of its own, so that no mount outlives it.
make_machine() {
  machine=$(mktemp -d "/tmp/$(basename "$0" .sh).XXXXXX")
  trap 'rm -rf --one-file-system "$machine"' EXIT
  chmod 755 "$machine" # apt downloads as a user of its own
  unshare --mount --propagation private "$0" --in-namespace "$machine" "$@"
  exit
}

# install_debian RELEASE: into $machine, such as bookworm, trixie or testing.
install_debian() {
  debootstrap --variant=minbase --include=ca-certificates "$1" "$machine" \
    http://deb.debian.org/debian
  mount -t proc proc "$machine/proc"
  mount --rbind /dev "$machine/dev"
}

# in_machine COMMAND...: in $machine, with nothing of this environment.
in_machine() {
  env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    chroot "$machine" "$@" </dev/null
}
