# SPDX-License-Identifier: Apache-2.0
import sys

import blocksieve

try:
    db = blocksieve.Database(sys.argv[1], sys.argv[2] + ";columns=value=value")
except blocksieve.Error as error:
    sys.exit(error)
found = 0
for i in range(200000):  # 100,000 keys, then 100,000 absent ones between them
    key = b"key%07d" % (i % 100000 * 2 + i // 100000)
    if db.get(key) is not None:
        found += 1
    elif i < 100000:
        db.put(key, key)
    elif i == 100000:
        db.flush()
useful = db.ticker("bloom.filter.useful")
assert list(db.scan("value = 'key0000042'")) == [(b"key0000042", b"key0000042")]
print(f"found {found} keys; filters answered {useful} of 100000 absent ones")
db.close()
