// SPDX-License-Identifier: Apache-2.0
package main

// #include <blocksieve/c.h>
import "C"
import (
	"fmt"
	"log"
	"os"
	"strings"
	"unsafe"
)

func main() { // DIRECTORY FILTER
	var err *C.char // the first error, which stays
	options := C.rocksdb_options_create()
	C.rocksdb_options_set_create_if_missing(options, 1)
	C.rocksdb_options_enable_statistics(options)
	C.blocksieve_enable(options, C.CString(os.Args[2]+";columns=v=value"), &err)
	db := C.rocksdb_open(options, C.CString(os.Args[1]), &err)
	found, read, write := 0, C.rocksdb_readoptions_create(), C.rocksdb_writeoptions_create()
	for i := 0; i < 200000 && err == nil; i++ { // keys, then absent ones between them
		key, size := C.CString(fmt.Sprintf("key%07d", i%100000*2+i/100000)), C.size_t(0)
		if value := C.rocksdb_get(db, read, key, 10, &size, &err); value != nil {
			found++
			C.rocksdb_free(unsafe.Pointer(value))
		} else if i < 100000 {
			C.rocksdb_put(db, write, key, 10, key, 10, &err)
		} else if i == 100000 {
			C.rocksdb_flush(db, C.rocksdb_flushoptions_create(), &err)
		}
		C.rocksdb_free(unsafe.Pointer(key))
	}
	matching, rows := 0, C.blocksieve_create_iterator(db, nil, nil, C.CString("v = 'key0000124'"), &err)
	if err != nil {
		log.Fatal(C.GoString(err))
	}
	for C.rocksdb_iter_seek_to_first(rows); C.rocksdb_iter_valid(rows) != 0; C.rocksdb_iter_next(rows) {
		matching++
	}
	C.rocksdb_iter_destroy(rows)
	if matching != 1 {
		log.Fatal("rows with one value: ", matching)
	}
	text := C.GoString(C.rocksdb_options_statistics_get_string(options))
	useful := strings.Fields(strings.Split(text, "bloom.filter.useful COUNT : ")[1])[0]
	fmt.Println("found", found, "keys; filters answered", useful, "of 100000 absent ones")
	C.rocksdb_close(db)
}
