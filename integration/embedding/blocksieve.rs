// SPDX-License-Identifier: Apache-2.0
//! What filters need of rocksdb/c.h and blocksieve/c.h.

use std::ffi::CStr;
use std::os::raw::{c_char, c_void};

pub type Ptr = *mut c_void;
pub type Text = *const c_char;
pub type Error = *mut *mut c_char;

#[link(name = "blocksieve_rocksdb")]
#[link(name = "rocksdb")]
extern "C" {
    pub fn blocksieve_enable(options: Ptr, features: Text, error: Error);
    pub fn rocksdb_close(db: Ptr);
    pub fn rocksdb_flush(db: Ptr, options: Ptr, error: Error);
    pub fn rocksdb_flushoptions_create() -> Ptr;
    pub fn rocksdb_free(memory: Ptr);
    pub fn rocksdb_get(d: Ptr, o: Ptr, key: Text, n: usize, size: *mut usize, e: Error) -> Ptr;
    pub fn rocksdb_open(options: Ptr, path: Text, error: Error) -> Ptr;
    pub fn rocksdb_options_create() -> Ptr;
    pub fn rocksdb_options_enable_statistics(options: Ptr);
    pub fn rocksdb_options_set_create_if_missing(options: Ptr, on: u8);
    pub fn rocksdb_options_statistics_get_string(options: Ptr) -> *mut c_char;
    pub fn rocksdb_put(d: Ptr, o: Ptr, key: Text, n: usize, value: Text, size: usize, e: Error);
    pub fn rocksdb_readoptions_create() -> Ptr;
    pub fn rocksdb_writeoptions_create() -> Ptr;
}

/// Calls a function that reports errors through its last argument.
pub fn checked<T>(call: impl FnOnce(Error) -> T) -> Result<T, String> {
    let mut error = std::ptr::null_mut();
    let result = call(&mut error);
    if error.is_null() {
        return Ok(result);
    }
    let text = unsafe { CStr::from_ptr(error).to_string_lossy().into_owned() };
    unsafe { rocksdb_free(error.cast()) };
    Err(text)
}

/// One of RocksDB's statistics, such as "bloom.filter.useful".
pub fn ticker(options: Ptr, name: &str) -> String {
    let text = unsafe { CStr::from_ptr(rocksdb_options_statistics_get_string(options)) };
    let text = text.to_string_lossy();
    let rest = text
        .split(&format!("rocksdb.{name} COUNT : "))
        .nth(1)
        .unwrap();
    rest.lines().next().unwrap().to_string()
}
