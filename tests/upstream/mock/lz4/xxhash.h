#error "this is lz4's xxhash.h, which is older than XXH3"
