#!/usr/bin/env bash
# usage: two_versions.sh OTHER_PLUGIN PROGRAM COMMAND WORK_DIR
# Preloads a plug-in of another version, 0.0.0, into a program that links this one and into the
# command, which contains the code. Both work as without it, and stderr names that version.
set -euo pipefail
export LD_PRELOAD=$1
program=$2
command=$3
work=$4
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

[[ $(both "$program" "$work/program.db") == works ]]
seq -w 20000 | awk '{print $1 "\tp" int($1 / 100)}' >"$work/rows.tsv"
both "$command" load --db "$work/db" --key 1 --index p=field:1 "$work/rows.tsv"
[[ $(both "$command" scan --db "$work/db" --where "p = 'p7'" | wc -l) == 100 ]]
both "$command" verify --db "$work/db"
both "$command" inspect --db "$work/db" --format json | grep -q '"origin":"blocksieve"'
