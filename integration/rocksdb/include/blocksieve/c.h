#pragma once  // SPDX-License-Identifier: Apache-2.0

/// \file
/// blocksieve for programs that use RocksDB by rocksdb/c.h, and for languages that call C. C99.
///
/// Conventions are those of rocksdb/c.h: `*errptr` is null or a text from malloc before a call; a
/// call that fails replaces it by its error, to be freed with rocksdb_free. Here, null arguments
/// are errors too; with a null `errptr`, errors go to stderr. Functions are thread-safe on distinct
/// objects, keep no argument unless they say so, and throw nothing. Every function fails if the
/// loaded RocksDB is not of the minor version that blocksieve was compiled for, or is later than
/// 11.9: the structs in rocksdb/c.h have no public layout.
///
/// `options_text` is what an option string names: "blocksieve:0.01" or
/// "{id=blocksieve;target_fpr=0.01;kind=bloom}". Braces and id may be left out. OPTIONS.md lists
/// all options.

#include <rocksdb/c.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A policy for rocksdb_block_based_options_set_filter_policy, which takes ownership of it; else
/// free it with rocksdb_filterpolicy_destroy. OPTIONS files get all its options. With `ranges`, the
/// database opens only with the prefix extractor, which blocksieve_enable sets. Null on error.
rocksdb_filterpolicy_t* blocksieve_filterpolicy_create(const char* options_text, char** errptr);

/// Gives new files what Enable in blocksieve/rocksdb/enable.h does: "bits_per_key=10;ranges=true;
/// columns=package=field:1|size=uint:2"; an empty text takes all of blocksieve out. Keeps the other
/// table options, so call it after rocksdb_options_set_block_based_table_factory, which would
/// replace the policy. The options given to rocksdb_open_column_families need the listener too:
/// call it for them as well.
void blocksieve_enable(rocksdb_options_t* options, const char* features, char** errptr);

/// An iterator for the functions rocksdb_iter_* that shows the rows that match `condition`, such as
/// "package = 'zlib'", or all if it is empty: NewIterator in blocksieve/rocksdb/prune_reads.h.
/// `read_options` null: defaults; `column_family` null: the default one. Null on error. Destroy it
/// before closing the database.
rocksdb_iterator_t* blocksieve_create_iterator(rocksdb_t* db,
                                               const rocksdb_readoptions_t* read_options,
                                               rocksdb_column_family_handle_t* column_family,
                                               const char* condition, char** errptr);

/// An iterator at the first row that matches `query`, such as "package = 'zlib' AND size > 100
/// LIMIT 10", for the functions rocksdb_iter_*. It goes forward once: other seeks and Prev make it
/// invalid, with an error. `read_options` null: defaults; `column_family` null: the default one.
/// Null on error; errors are those of SkipScan::Create in blocksieve/rocksdb/skip_index.h. Destroy
/// it before closing the database.
rocksdb_iterator_t* blocksieve_create_skip_scan(rocksdb_t* db,
                                                const rocksdb_readoptions_t* read_options,
                                                rocksdb_column_family_handle_t* column_family,
                                                const char* query, char** errptr);

/// A ReadPruning of blocksieve/rocksdb/prune_reads.h.
typedef struct blocksieve_pruning_t blocksieve_pruning_t;

/// Lets iterators leave out files without a row that matches `condition`, as PruneReads in
/// blocksieve/rocksdb/prune_reads.h does: make them with blocksieve_pruning_read_options. They
/// still show rows that do not match: test each with blocksieve_pruning_matches. `column_family`
/// null: the default one. `base`, what else iterators are to do, is copied; null: defaults. Destroy
/// the result after the iterators. Null on error.
blocksieve_pruning_t* blocksieve_prune_reads(rocksdb_t* db,
                                             rocksdb_column_family_handle_t* column_family,
                                             const char* condition,
                                             const rocksdb_readoptions_t* base, char** errptr);

/// The options for these iterators, owned by `pruning`: pass them to rocksdb_create_iterator or
/// rocksdb_create_iterator_cf, and to no function that changes options. Null for null.
const rocksdb_readoptions_t* blocksieve_pruning_read_options(const blocksieve_pruning_t* pruning);

/// Whether a row matches the condition. 0 on error.
unsigned char blocksieve_pruning_matches(const blocksieve_pruning_t* pruning, const char* key,
                                         size_t key_bytes, const char* value, size_t value_bytes,
                                         char** errptr);

/// A field of ReadPruningCounts, such as "files_pruned". 0 on error.
uint64_t blocksieve_pruning_count(const blocksieve_pruning_t* pruning, const char* count,
                                  char** errptr);

void blocksieve_pruning_destroy(blocksieve_pruning_t* pruning);  ///< Null: does nothing.

/// How many range queries of this process had this result: a field of RangeFilterCounts in
/// blocksieve/rocksdb/prune_reads.h, such as "no" or "may_match". 0 on error.
uint64_t blocksieve_range_filter_count(const char* result, char** errptr);

/// The metrics of GetFilterMetrics in blocksieve/rocksdb/maintenance.h, in Prometheus' text format.
/// No column families: the default one, if there is no other. To be freed with rocksdb_free; null
/// on error.
char* blocksieve_filter_metrics(rocksdb_t* db,
                                rocksdb_column_family_handle_t* const* column_families,
                                size_t num_column_families, char** errptr);

/// The version of blocksieve, such as "0.1.0". Not to be freed.
const char* blocksieve_version(void);

#ifdef __cplusplus
}
#endif
