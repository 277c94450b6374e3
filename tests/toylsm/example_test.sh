#!/usr/bin/env bash
# usage: example_test.sh PROGRAM: runs the example on lists with a known result, and on the lists of
# this machine.
set -euo pipefail
program=$1
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
for package in {001..200}; do
  seq -f "/usr/share/package$package/%05g" 500 >"$lists/package$package.list"
done

output=$("$program" "$lists" package123)
echo "$output"
[[ $output == "  /usr/share/package123/00001
  /usr/share/package123/00002
  /usr/share/package123/00003
  ...
package = 'package123': 500 rows; of "* ]]
[[ $output =~ of\ ([0-9]+)\ granules,\ ([0-9]+)\ read,\ ([0-9]+)\ pruned ]]
all=${BASH_REMATCH[1]} read=${BASH_REMATCH[2]} pruned=${BASH_REMATCH[3]}
# The rows are adjacent, in 1/200 of the granules.
((read + pruned == all && read >= all / 200 && read <= all / 100))
[[ $("$program" "$lists" absent) == *": 0 rows; of $all granules, "* ]]

output=$("$program")
echo "$output"
[[ $output == *"package = 'dpkg': "* && $output != *": 0 rows"* && $output != *" 0 pruned"* ]]
