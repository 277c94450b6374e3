// SPDX-License-Identifier: Apache-2.0
#include <blocksieve/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(char* error) {
  if (error != NULL) exit(fprintf(stderr, "%s\n", error) > 0);
}
int main(int argc, char** argv) {
  char *error = NULL, key[16];
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_enable_statistics(options);
  blocksieve_enable(options, argv[argc - 1], &error);
  check(error);
  rocksdb_t* db = rocksdb_open(options, argv[1], &error);
  check(error);
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  int found = 0;
  for (int i = 0; i < 200000; ++i) { /* 100,000 keys, then 100,000 absent ones between them */
    size_t size = (size_t)sprintf(key, "key%07d", i % 100000 * 2 + i / 100000);
    char* value = rocksdb_get(db, read, key, 10, &size, &error);
    found += value != NULL;
    rocksdb_free(value);
    if (value == NULL && i < 100000) rocksdb_put(db, write, key, 10, key, 10, &error);
    if (i == 100000) rocksdb_flush(db, flush, &error);
    check(error);
  }
  char* text = rocksdb_options_statistics_get_string(options);
  const int useful = atoi(strstr(text, "bloom.filter.useful COUNT : ") + 28);
  printf("found %d keys; filters answered %d of 100000 absent ones\n", found, useful);
  rocksdb_free(text);
  rocksdb_readoptions_destroy(read);
  rocksdb_writeoptions_destroy(write);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}
