// SPDX-License-Identifier: Apache-2.0
/* Writes databases by a C API, and reads them, as owner.cc. Compiled with -DLEVELDB for LevelDB,
   whose KIND is leveldb; those of RocksDB are capi-bloom and capi-ribbon. */
#ifdef LEVELDB
#include <leveldb/c.h>
#define API(name) leveldb_##name
#else
#include <rocksdb/c.h>
#define API(name) rocksdb_##name
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(const char* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", error);
  exit(1);
}

static void print_hex(const char* bytes, size_t size) {
  putchar(' ');
  for (size_t i = 0; i < size; ++i) printf("%02X", (unsigned char)bytes[i]);
}

static void set_filter(API(options_t) * options, const char* kind) {
#ifdef LEVELDB
  (void)kind;
  leveldb_options_set_filter_policy(options, leveldb_filterpolicy_create_bloom(10));
#else
  rocksdb_block_based_table_options_t* table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_filter_policy(
      table, strcmp(kind, "capi-ribbon") == 0 ? rocksdb_filterpolicy_create_ribbon(10)
                                              : rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_options_set_block_based_table_factory(options, table);
#endif
}

int main(int argc, char** argv) {
  const char* kind = argv[1];
  const int writes = argc == 3;
  /* Each open but the first moves the rows of the log to a file. RocksDB with assertions opens a
     database of LevelDB only if it has one file, and no rows in the log. */
  const int parts = writes ? 3 : 1;
  const int full_parts = strcmp(kind, "leveldb") == 0 ? 1 : 3;
  char* error = NULL;
  char dir[4096];
  snprintf(dir, sizeof(dir), "%s/%s", argv[2], writes ? "db" : argv[3]);
  API(options_t)* options = API(options_create)();
  API(options_set_create_if_missing)(options, 1);
  set_filter(options, kind);
  for (int part = 0; part < parts; ++part) {
    API(t)* db = API(open)(options, dir, &error);
    must(error);
    API(writeoptions_t)* write = API(writeoptions_create)();
    for (int i = 500 * part; i < 500 * (part + 1) && writes && part < full_parts; ++i) {
      char key[16], value[16];
      snprintf(key, sizeof(key), "k%06d", i);
      snprintf(value, sizeof(value), "%d\tred", i % 100);
      API(put)(db, write, key, strlen(key), value, strlen(value), &error);
      must(error);
    }
    API(iterator_t)* rows = API(create_iterator)(db, API(readoptions_create)());
    for (API(iter_seek_to_first)(rows); !writes && API(iter_valid)(rows); API(iter_next)(rows)) {
      size_t key_size, value_size;
      const char* key = API(iter_key)(rows, &key_size);
      const char* value = API(iter_value)(rows, &value_size);
      printf("64656661756C74"); /* default */
      print_hex(key, key_size);
      print_hex(value, value_size);
      putchar('\n');
    }
    API(iter_destroy)(rows);
    API(close)(db);
  }
  return 0;
}
