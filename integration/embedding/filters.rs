// SPDX-License-Identifier: Apache-2.0
mod blocksieve;
use blocksieve::*;
use std::ffi::CString;

fn main() -> Result<(), String> {
    let arguments: Vec<_> = std::env::args()
        .map(|each| CString::new(each).unwrap())
        .collect();
    let (directory, filter) = (arguments[1].as_ptr(), arguments[2].as_ptr());
    unsafe {
        let options = rocksdb_options_create();
        rocksdb_options_set_create_if_missing(options, 1);
        rocksdb_options_enable_statistics(options);
        checked(|error| blocksieve_enable(options, filter, error))?;
        let db = checked(|error| rocksdb_open(options, directory, error))?;
        let (read, write) = (rocksdb_readoptions_create(), rocksdb_writeoptions_create());
        let (mut found, mut size) = (0, 0);
        // 100,000 keys, then 100,000 absent ones between them.
        for i in 0..200000 {
            let text = format!("key{:07}", i % 100000 * 2 + i / 100000);
            let key = text.as_ptr().cast();
            let value = checked(|error| rocksdb_get(db, read, key, 10, &mut size, error))?;
            if !value.is_null() {
                found += 1;
                rocksdb_free(value);
            } else if i < 100000 {
                checked(|error| rocksdb_put(db, write, key, 10, key, 10, error))?;
            } else if i == 100000 {
                checked(|error| rocksdb_flush(db, rocksdb_flushoptions_create(), error))?;
            }
        }
        let useful = ticker(options, "bloom.filter.useful");
        println!("found {found} keys; filters answered {useful} of 100000 absent ones");
        rocksdb_close(db);
    }
    Ok(())
}
