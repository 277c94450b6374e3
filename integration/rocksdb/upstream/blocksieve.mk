# plugin/blocksieve/blocksieve.mk of a RocksDB tree (link_into.sh puts it there). Read by make, and by
# CMake with regular expressions: the sources stay on one line, with single spaces. Names are below
# plugin/blocksieve/. The test upstream.source_list tells the line that belongs here.

blocksieve_SOURCES = integration/rocksdb/abi_guard.cc integration/rocksdb/filter_bits_builder.cc integration/rocksdb/filter_bits_reader.cc integration/rocksdb/loud_log.cc integration/rocksdb/memory_fit.cc integration/rocksdb/policy.cc integration/rocksdb/policy_options.cc integration/rocksdb/registry.cc integration/rocksdb/stock_filters.cc lib/block_memory.cc lib/blocked_bloom_avx2.cc lib/blocked_bloom_avx512.cc lib/blocked_bloom_fill.cc lib/blocked_bloom_fill_avx512.cc lib/blocked_bloom_neon.cc lib/blocked_bloom_scalar.cc lib/bloom_model.cc lib/clickhouse_table.cc lib/column.cc lib/column_definition.cc lib/column_json.cc lib/filter_block.cc lib/filter_builder.cc lib/filter_kind.cc lib/filter_reader.cc lib/hash.cc lib/hash_list.cc lib/kernels.cc lib/predicate.cc lib/predicate_comparison.cc lib/predicate_evaluate.cc lib/predicate_lexer.cc lib/predicate_literal.cc lib/predicate_node.cc lib/predicate_parser.cc lib/predicate_pattern.cc lib/predicate_skip_plan.cc lib/predicate_skipping.cc lib/ribbon_block.cc lib/ribbon_builder.cc lib/ribbon_chunk.cc lib/ribbon_footer.cc lib/ribbon_probe_avx2.cc lib/ribbon_probe_avx512.cc lib/ribbon_probe_neon.cc lib/ribbon_probe_scalar.cc lib/ribbon_shards.cc lib/ribbon_sizing.cc lib/ribbon_solver_avx2.cc lib/ribbon_solver_avx512.cc lib/ribbon_solver_scalar.cc lib/ribbon_view.cc lib/sizing.cc lib/value.cc lib/value_number.cc
blocksieve_HEADERS = integration/rocksdb/include/blocksieve/rocksdb/export.h integration/rocksdb/include/blocksieve/rocksdb/filter_policy.h
blocksieve_FUNC = blocksieve_register
blocksieve_CXXFLAGS = -Iplugin/blocksieve -Iplugin/blocksieve/include -Iplugin/blocksieve/integration/rocksdb/include

# RocksDB before 10.7 is C++17. The warnings are of the AVX-512 headers of GCC itself (GCC bug 105593).
$(OBJ_DIR)/plugin/blocksieve/%: CXXFLAGS += -std=c++20 -Wno-uninitialized -Wno-maybe-uninitialized
