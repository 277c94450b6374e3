#!/usr/bin/env python3
"""usage: layering.py SOURCE_DIR

Fails if a file includes one of a layer that it must not know. LAYERS says which file is of which
layer, by the first pattern that matches, and which layers may be included there.
"""

import fnmatch
import pathlib
import re
import sys

BASE = ("base",)
HASH = BASE + ("hash",)
SIZING = HASH + ("sizing",)
KINDS = SIZING + ("kinds",)
FILTER_BLOCK = KINDS + ("filter_block",)
CORE = FILTER_BLOCK + ("granule",)
ROCKSDB = CORE + ("rocksdb public", "rocksdb")
TOYLSM = CORE + ("toylsm public", "toylsm")
INTEGRATIONS = ROCKSDB + TOYLSM

# Of a name in lib/ or include/blocksieve/, the part before the suffix; elsewhere a path.
LAYERS = [
    # layer, patterns, may include
    ("base", "*_memory bytes c_locale coding cpu* filter_kind huge_pages kernels out_of_range status", BASE),
    ("hash", "checksum hash hash_inline hash_list *_hash", HASH),
    ("sizing", "bloom_model clickhouse_table rate_allocation sizing sizing_table *_layout *_sizing", SIZING),
    ("granule", "bit_slices column* granule* predicate* value*", CORE),
    ("filter_block", "filter filter_b* *_footer filter_reader *_block", FILTER_BLOCK),
    ("kinds", "blocked_* classic_* counting_* filter_view *probe_loops ribbon*", KINDS),
    ("rocksdb public", "integration/rocksdb/include/*", CORE + ("rocksdb public",)),
    ("rocksdb", "integration/rocksdb/*", ROCKSDB),
    ("toylsm public", "integration/toylsm/include/*", CORE + ("toylsm public",)),
    ("toylsm", "integration/toylsm/*", TOYLSM),
    ("programs", "integration/*", INTEGRATIONS + ("programs",)),
    ("bench", "bench/*", INTEGRATIONS + ("programs", "bench")),
    ("tests", "tests/*", INTEGRATIONS + ("programs", "bench", "tests")),
]

# file, what it includes although it must not, why
EXCEPTIONS = [
    ("lib/filter/sizing.cc", "lib/bloom/blocked_bloom.h", "the length of a line"),
    ("lib/bloom/bloom_model.cc", "lib/bloom/blocked_bloom.h", "the length of a line and the pattern's factors"),
    ("lib/ribbon/sizing.h", "lib/ribbon/builder.h", "how large the builder's chunks come out"),
]

SUFFIXES = {".h", ".cc", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    """(layer, layers it may include) of a path relative to the root; None: not listed."""
    in_core = path.startswith(("lib/", "include/blocksieve/"))
    name = pathlib.PurePath(path).stem if in_core else path
    for layer, patterns, may_include in LAYERS:
        if in_core == (layer in CORE) and any(fnmatch.fnmatch(name, p) for p in patterns.split()):
            return layer, set(may_include) | {layer}
    return None


def is_public(path):
    return path.startswith("include/") or re.match(r"integration/\w+/include/", path) is not None


def resolve(root, includer, text):
    """The file of this project that an include means, relative to root; None: another's."""
    public = [root / "include", *root.glob("integration/*/include")]
    for base in [(root / includer).parent, root, *public]:
        if (base / text).is_file():
            return (base / text).resolve().relative_to(root).as_posix()
    return None


def problem(root, path, text):
    """What is wrong with `path` including `text`; None if nothing."""
    layer, may_include = layer_of(path)
    included = resolve(root, path, text)
    if included is None:
        knows_rocksdb = layer not in CORE and not layer.startswith("toylsm")
        if text.startswith("rocksdb/") and not knows_rocksdb:
            return "only the RocksDB side may include it"
        return None
    if any((path, included) == (a, b) for a, b, _ in EXCEPTIONS):
        return None
    if layer_of(included) is None:
        return "a file without a layer"
    if is_public(path) and not is_public(included):
        return "a public header must not need what is not installed"
    included_layer = layer_of(included)[0]
    return None if included_layer in may_include else f"{layer} must not include {included_layer}"


def problems(root):
    root = pathlib.Path(root).resolve()
    found = []
    for top in ("include", "lib", "integration", "bench", "tests"):
        for file in sorted((root / top).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            if layer_of(path) is None:
                found.append(f"{path}: no layer; list it in tests/layering/layering.py")
                continue
            source = file.read_text(encoding="utf-8")
            for text in INCLUDE.findall(source):
                why = problem(root, path, text)
                if why:
                    found.append(f"{path}: includes {text}: {why}")
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = problems(sys.argv[1])
    print("\n".join(found) or "every include keeps to the layers")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
