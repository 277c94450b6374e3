#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: preload.sh PREFIX WORK_DIR
# Tests the wrapper of RocksDB's tools: files that they compact get the OPTIONS file's filters.
set -euo pipefail
work=$2
rm -rf "$work"
mkdir -p "$work"
copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT
cp -a "$1" "$copies/prefix"
cp -a "$1" "$copies/a prefix"
bin=$copies/prefix/bin
db=$work/db

fail() {
  echo "$*"
  exit 1
}

seq -w 20000 | sed 's/$/\tvalue/' | "$bin/blocksieve" load --db "$db" --key 1 -
origin() { "$bin/blocksieve" inspect --db "$db" --format json | grep -o '"origin":"[a-z]*"' | sort -u; }
"$bin/blocksieve-preload" ldb --db="$db" compact
[[ $(origin) == '"origin":"blocksieve"' ]] || fail "with the plug-in: $(origin)"
ldb --db="$db" compact
[[ $(origin) == '"origin":"none"' ]] || fail "without it: $(origin)"

"$bin/blocksieve-preload" sh -c 'exit 7' || [[ $? == 7 ]] || fail "another exit code"
[[ $("$bin/blocksieve-preload" printf '%s|' 'a b' '' '*') == 'a b||*|' ]] || fail "other arguments"
status=0
"$copies/a prefix/bin/blocksieve-preload" true 2> "$work/said" || status=$?
[[ $status == 1 && $(< "$work/said") == *'has a blank or colon; install it elsewhere' ]] || fail "a blank: $status"
status=0
"$bin/blocksieve-preload" 2> "$work/said" || status=$?
[[ $status == 2 && $(< "$work/said") == usage:* ]] || fail "without a program: $status"
