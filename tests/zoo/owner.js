// SPDX-License-Identifier: Apache-2.0
// Writes databases by a package of npm, and reads them, as owner.cc: owner.js PACKAGE DIR [NAME]
// leveldb-zlib looks up the binding that it ships by the kernel's major version.
require('os').release = () => '5'
const [, , name, parent, reads] = process.argv
const dir = `${parent}/${reads || 'db'}`

async function open (options) {
  const found = require(name)
  if (found.RocksLevel) return found.RocksLevel.open(dir, options)
  if (found.ClassicLevel) {
    const db = new found.ClassicLevel(dir)
    await db.open(options)
    return db
  }
  if (found.LevelDB) {
    const db = new found.LevelDB(dir, options)
    await db.open()
    const iterator = () => {
      const rows = db.getIterator()
      return { next: async () => (await rows.next())?.reverse(), close: () => rows.end() }
    }
    return { batch: (rows) => db.batch(rows), close: () => db.close(), iterator }
  }
  // abstract-leveldown, which takes callbacks.
  const db = found(dir)
  const promised = (target, method) => (...args) => new Promise((resolve, reject) =>
    target[method](...args, (error, ...result) => error ? reject(error) : resolve(result)))
  await promised(db, 'open')(options)
  return {
    batch: promised(db, 'batch'),
    close: promised(db, 'close'),
    iterator: () => {
      const iterator = db.iterator()
      const next = promised(iterator, 'next')
      return {
        next: async () => {
          const row = await next()
          return row.length ? row : undefined
        },
        close: promised(iterator, 'end')
      }
    }
  }
}

async function main () {
  // Each open but the first moves the rows of the log to a file.
  for (let part = 0; part < 3 && !reads; ++part) {
    const db = await open({ createIfMissing: true })
    await db.batch(Array.from({ length: 500 }, (_, i) => ({
      type: 'put', key: `k${String(part * 500 + i).padStart(6, '0')}`, value: `${i}\tred`
    })))
    await db.close()
  }
  if (!reads) return
  const db = await open({ createIfMissing: false })
  const rows = db.iterator()
  const hex = (text) => Buffer.from(text).toString('hex').toUpperCase()
  for (let row; (row = await rows.next());) console.log(hex('default'), hex(row[0]), hex(row[1]))
  await rows.close()
  await db.close()
}

main().catch((error) => {
  console.error(error.cause ?? error)
  process.exit(1)
})
