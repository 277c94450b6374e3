#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes databases by servers and commands, and reads them, as owner.cc: owner.sh KIND DIR [NAME]
set -euo pipefail

# Families in the reverse order of keys, one of its own, and rows that are only in the WAL.
myrocks() {
  local data=$TMPDIR/data server
  if [[ ! -d $data ]]; then
    mariadb-install-db --no-defaults --user=root --datadir="$data" --skip-test-db >/dev/null
  fi
  if [[ $# -gt 1 ]]; then
    rm -r "$data/#rocksdb"
    cp -r "$1/$2" "$data/#rocksdb"
  fi
  mariadbd --no-defaults --user=root --datadir="$data" --socket="$data/socket" --skip-networking \
    --skip-grant-tables --innodb-buffer-pool-size=8M --plugin-load-add=ha_rocksdb \
    --rocksdb-max-total-wal-size=1M >"$data/out" 2>&1 &
  server=$!
  for _ in {1..300}; do
    ! mariadb --no-defaults --socket="$data/socket" -e '' 2>/dev/null || break
    sleep 0.1
  done
  if [[ $# -gt 1 ]]; then
    mariadb --no-defaults --socket="$data/socket" --batch -N \
      -e "SELECT CONCAT(HEX('zoo.t'), ' ', HEX(id), ' ', HEX(CONCAT(color, n))) FROM zoo.t"
  else
    mariadb --no-defaults --socket="$data/socket" <<'SQL'
CREATE DATABASE zoo; USE zoo;
CREATE TABLE t (id INT PRIMARY KEY, color VARCHAR(20), n INT,
  KEY color (color) COMMENT 'rev:colors', KEY n (n) COMMENT 'numbers:1') ENGINE=ROCKSDB;
INSERT INTO t SELECT seq, IF(seq % 3, 'tan', 'red'), seq % 100 FROM seq_1_to_1400;
SET GLOBAL rocksdb_force_flush_memtable_now = 1;
INSERT INTO t SELECT seq, 'blue', seq % 100 FROM seq_1401_to_1500;
SQL
  fi
  kill -KILL "$server"
  wait "$server" 2>/dev/null || true
  [[ $# -gt 1 ]] || {
    cp -r "$data/#rocksdb" "$1/db"
    sed -i "s|$data/#rocksdb|$1/db|g" "$1"/db/OPTIONS* "$1"/db/LOG
  }
}

# Indexes of two families: OPTIONS give them rates of their own, and a column that no file has.
indexes() {
  local family options
  for family in default logs; do
    if [[ $# -gt 1 ]]; then
      ldb --db="$1/$2" --hex --column_family="$family" scan |
        sed -E "s/^0x(\w+) \S+ 0x/$(printf %s "$family" | od -An -tx1 | tr -d ' \n') \1 /"
    else
      seq 1500 | awk '{ printf "k%06d\t%d\tword%d\tend\n", $1, $1 % 100, $1 % 7 }' |
        "$BLOCKSIEVE" load --db "$1/db" --key 1 --column-family "$family" --index n=int:1 - \
          >/dev/null
    fi
  done
  [[ $# -eq 1 ]] || return 0
  options=$(find "$1/db" -name 'OPTIONS-*' | sort | tail -n 1)
  sed -i '/table_properties_collectors/d' "$options"
  while read -r family definition; do
    definition="  table_properties_collectors={{id=blocksieve.skip_index;$definition}}"
    sed -i "/^\[CFOptions \"$family/a\\$definition" "$options"
  done <<'DEFINITIONS'
default target_fpr=0.2;granule_rows=64;columns=n%3Dint%3A1|word%3Dfield%3A2;
logs target_fpr=0.003;max_index_bytes=99999;columns=n%3Dint%3A1;
DEFINITIONS
}

"$@"
