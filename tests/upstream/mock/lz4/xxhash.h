// SPDX-License-Identifier: Apache-2.0
#error "this is lz4's xxhash.h, which is older than XXH3"
