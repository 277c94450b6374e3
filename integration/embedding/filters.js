// SPDX-License-Identifier: Apache-2.0
const fs = require('node:fs')
const { RocksLevel } = require('@nxtedition/rocksdb')
require('blocksieve')

const [directory, filterPolicy] = process.argv.slice(2)
const keyOf = (i) => `key${String(i).padStart(7, '0')}`
const reads = () => Number(/syscr: (\d+)/.exec(fs.readFileSync('/proc/self/io'))[1])

// Reads 100,000 keys, or the absent ones between them, so that neighbours are not read together.
async function count (db, absent) {
  let found = 0
  for (let i = 0; i < 100; ++i) {
    const keys = Array.from({ length: 1000 }, (_, k) => keyOf((k * 100 + i) * 2 + absent))
    found += (await db.getMany(keys)).filter((value) => value !== undefined).length
  }
  return found
}

async function main () {
  let db = await RocksLevel.open(directory, { createIfMissing: true, filterPolicy })
  const found = await count(db, 0)
  if (found === 0) {
    for (let i = 0; i < 100000; ++i) await db.put(keyOf(2 * i), 'v'.repeat(400) + Math.random())
    await db.close() // the next open writes a file
    db = await RocksLevel.open(directory, { filterPolicy })
  }
  const before = reads()
  const wrong = await count(db, 1)
  console.log(`found ${found} keys, ${wrong} absent ones; the latter took ${reads() - before} reads`)
  await db.close()
}

main().catch((error) => {
  console.error(error.cause ?? error)
  process.exit(1)
})
