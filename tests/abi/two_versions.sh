#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: two_versions.sh OTHER_PLUGIN COMMAND KILLED_PROGRAM THE_SAME_OF_OTHER WORK_DIR [PROGRAM SOURCE]...
# Preloads a plug-in of another version, 0.0.0, into the programs of the documents, which link this
# one, and into the command, which contains the code. All work as without it, and stderr names that
# version. Then both versions go on by turns with a database that the other left as after a crash.
set -euo pipefail
links=$(mktemp -d) # LD_PRELOAD takes no path with blanks
trap 'rm -rf "$links"' EXIT
ln -s "$(realpath "$1")" "$links/plugin.so"
export LD_PRELOAD=$links/plugin.so
command=$2
killed=("$3" "$4")
work=$5
shift 5
rm -rf "$work"
mkdir -p "$work"

# both COMMAND...: runs the command, and fails unless stderr names the other version once.
both() {
  "$@" 2>"$work/stderr" || { cat "$work/stderr" && return 1; }
  [[ $(grep -c 'blocksieve.*0\.0\.0' "$work/stderr") == 1 ]] || {
    echo "$* said: $(<"$work/stderr")"
    return 1
  }
}

(($# > 0))
while (($# > 0)); do
  cp "$1" "$work/program"
  both "$(dirname "$0")/../readme/run.sh" "$work/program" "$2"
  shift 2
done
seq -w 20000 | awk '{print $1 "\tp" int($1 / 100)}' >"$work/rows.tsv"
both "$command" load --db "$work/db" --key 1 --index p=field:1 "$work/rows.tsv"
[[ $(both "$command" scan --db "$work/db" --where "p = 'p7'" | wc -l) == 100 ]]
both "$command" verify --db "$work/db"
both "$command" inspect --db "$work/db" --format json | grep -q '"origin":"blocksieve"'
unset LD_PRELOAD
for round in 0 1 2 3 4 5; do
  code=0
  "${killed[round % 2]}" "$work/left" "$round" || code=$?
  [[ $code == 137 ]] || { echo "round $round ended with $code" && exit 1; }
done
[[ $("$command" scan --db "$work/left" --where "round = 'r5'" --count) == 1000 ]]
"$command" verify --db "$work/left"
