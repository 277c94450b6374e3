# SPDX-License-Identifier: Apache-2.0
"""RocksDB with blocksieve's filters and skip indexes, by the C interfaces of both.

    db = blocksieve.Database("directory", "target_fpr=0.01;columns=package=field:1")
    db.put(b"key", b"zlib\t1.3")
    for key, value in db.scan("package = 'zlib'"): ...

BLOCKSIEVE_PLUGIN is the path of the plug-in if the system does not find it.
"""
import ctypes
import os
from ctypes import c_char_p, c_size_t, c_uint8, c_void_p, string_at

# The plug-in also loads librocksdb, whose functions are found through it.
_LIBRARY = ctypes.CDLL(os.environ.get("BLOCKSIEVE_PLUGIN", "libblocksieve_rocksdb.so.0.1"))
_TYPES = {"-": None, "b": c_uint8, "n": c_size_t, "p": c_void_p, "s": c_char_p}
_TYPES |= {"N": ctypes.POINTER(c_size_t), "e": ctypes.POINTER(c_void_p)}  # e: errptr
# Names, each with the types of its result and its arguments.
_FUNCTIONS = """
    rocksdb_options_create p                     rocksdb_options_set_create_if_missing -pb
    rocksdb_options_enable_statistics -p         rocksdb_options_statistics_get_string pp
    rocksdb_readoptions_create p                 rocksdb_writeoptions_create p
    rocksdb_flushoptions_create p                rocksdb_free -p
    rocksdb_open ppse                            rocksdb_close -p
    rocksdb_get pppsnNe                          rocksdb_put -ppsnsne
    rocksdb_flush -ppe                           rocksdb_iter_valid bp
    rocksdb_iter_key ppN                         rocksdb_iter_value ppN
    rocksdb_iter_next -p                         rocksdb_iter_get_error -pe
    rocksdb_iter_destroy -p                      blocksieve_create_skip_scan ppppse
    blocksieve_enable -pse
""".split()
for _name, _types in zip(_FUNCTIONS[::2], _FUNCTIONS[1::2]):
    _function = getattr(_LIBRARY, _name)
    _function.restype, *_function.argtypes = (_TYPES[each] for each in _types)


class Error(Exception):
    """An error of RocksDB or blocksieve."""


def _take(text, size=-1):
    copy = string_at(text, size)
    _LIBRARY.rocksdb_free(text)
    return copy


def _call(name, *arguments):
    error = c_void_p()
    result = getattr(_LIBRARY, name)(*arguments, error)
    if error:
        raise Error(_take(error.value).decode())
    return result


class Database:
    """A database, created if it is missing. Not to be used after close()."""

    def __init__(self, path, features):
        self._options, self._read, self._write, self._flush = (
            getattr(_LIBRARY, f"rocksdb_{kind}_create")()
            for kind in ("options", "readoptions", "writeoptions", "flushoptions")
        )
        _LIBRARY.rocksdb_options_set_create_if_missing(self._options, 1)
        _LIBRARY.rocksdb_options_enable_statistics(self._options)
        _call("blocksieve_enable", self._options, features.encode())
        self._db = _call("rocksdb_open", self._options, os.fsencode(path))

    def close(self):
        _LIBRARY.rocksdb_close(self._db)

    def flush(self):
        _call("rocksdb_flush", self._db, self._flush)

    def put(self, key, value):
        _call("rocksdb_put", self._db, self._write, key, len(key), value, len(value))

    def get(self, key):
        """The value; None if the key is absent."""
        size = c_size_t()
        value = _call("rocksdb_get", self._db, self._read, key, len(key), size)
        return _take(value, size.value) if value else None

    def scan(self, query):
        """Yields the keys and values of the rows that match a query."""
        rows = _call("blocksieve_create_skip_scan", self._db, self._read, None, query.encode())
        try:
            while _LIBRARY.rocksdb_iter_valid(rows):
                size = c_size_t()
                key = string_at(_LIBRARY.rocksdb_iter_key(rows, size), size.value)
                yield key, string_at(_LIBRARY.rocksdb_iter_value(rows, size), size.value)
                _LIBRARY.rocksdb_iter_next(rows)
            _call("rocksdb_iter_get_error", rows)
        finally:
            _LIBRARY.rocksdb_iter_destroy(rows)

    def ticker(self, name):
        """One of RocksDB's statistics, such as "bloom.filter.useful"."""
        text = _take(_LIBRARY.rocksdb_options_statistics_get_string(self._options))
        return int(text.split(f"rocksdb.{name} COUNT : ".encode())[1].split()[0])
