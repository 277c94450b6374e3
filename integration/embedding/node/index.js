// SPDX-License-Identifier: Apache-2.0
'use strict'

// Loads the plug-in after the binding, whose RocksDB it uses: alone it would not load, and with another
// RocksDB it could end the process. Throws if it is missing, or was built for another version.
const path = require('node:path')
const name = '@nxtedition/rocksdb'
const builtFor = require('./package.json').peerDependencies[name]
const found = require(`${name}/package.json`).version

if (found !== builtFor) {
  throw new Error(`blocksieve: ${name} is ${found}; allowed: ${builtFor}, or build blocksieve for it`)
}
require(name)
process.dlopen({ exports: {} }, path.join(__dirname, 'libblocksieve_rocksdb.so'))
