#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: layering.py SOURCE_DIR [BUILD_DIR OBJECT...]

Fails if a file includes a header of a room that its own room may not use, if an engine includes a
private header of the core that PRIVATE does not list, if a folder has no room, or if two headers
define types of one name in one namespace, or if lib/README.md lacks a variable that a thread or the
process keeps. ROOMS lists the rooms and what each may use.

With object files, fails instead if one needs a symbol that only rooms define which its own may not
use: a public header may declare what another room defines.
"""

import collections
import pathlib
import re
import subprocess
import sys

# Folder; rooms that it may use, which includes all that those may use; its public headers of the
# core or the RocksDB integration. A folder without an entry belongs to the room of its parent.
ROOMS = [
    ("lib/base", "", "bytes sizing status"),
    ("lib/hash", "lib/base", "hash"),
    ("lib/block", "lib/hash", "filter"),
    ("lib/classic", "lib/hash", "bloom"),
    ("lib/bloom", "lib/block", ""),
    ("lib/ribbon", "lib/block", ""),
    ("lib/bits", "lib/base", ""),
    ("lib/range", "lib/bits lib/block", ""),
    ("lib/prefix", "lib/block", ""),
    ("lib/filter", "lib/bloom lib/ribbon lib/prefix lib/range", ""),
    ("lib/tree", "lib/filter", "tree"),
    ("lib/column", "lib/hash", "column"),
    ("lib/predicate", "lib/column", "predicate"),
    ("lib/postings", "lib/bits lib/ribbon", "granule_set"),
    ("lib/skip", "lib/postings lib/predicate", "skip_index scan"),
    # RocksDB's own headers.
    ("rocksdb", "", ""),
    ("integration/rocksdb/compat", "lib/filter lib/skip rocksdb",
     "rocksdb/enable rocksdb/prune_reads"),
    ("integration/rocksdb/levels", "integration/rocksdb/compat lib/tree", ""),
    ("integration/rocksdb/ranges", "integration/rocksdb/compat", ""),
    ("integration/rocksdb/policy", "integration/rocksdb/levels integration/rocksdb/ranges", ""),
    ("integration/rocksdb/sidecar", "integration/rocksdb/compat", ""),
    ("integration/rocksdb/options", "integration/rocksdb/policy", ""),
    ("integration/rocksdb/listener", "integration/rocksdb/levels integration/rocksdb/sidecar", ""),
    ("integration/rocksdb/index", "integration/rocksdb/sidecar", "rocksdb/skip_index"),
    ("integration/rocksdb/block_index", "integration/rocksdb/index integration/rocksdb/policy", ""),
    ("integration/rocksdb/scan", "integration/rocksdb/block_index", ""),
    ("integration/rocksdb/maintenance",
     "integration/rocksdb/options integration/rocksdb/listener integration/rocksdb/scan",
     "rocksdb/maintenance"),
    ("integration/rocksdb/plugin", "integration/rocksdb/maintenance", "c rocksdb"),
    ("integration/toylsm/base", "lib/skip lib/tree", ""),
    ("integration/toylsm/sst", "integration/toylsm/base", ""),
    ("integration/toylsm", "integration/toylsm/sst", ""),
    ("integration/files", "lib/base rocksdb", ""),
    ("integration/sieve", "integration/rocksdb/policy integration/files lib/classic", ""),
    ("integration/cli/term", "", ""),
    ("integration/cli/rows", "integration/cli/term lib/column", ""),
    ("integration/cli/database/table", "integration/cli/term integration/rocksdb/plugin", ""),
    ("integration/cli/database", "integration/cli/database/table integration/files", ""),
    ("integration/cli/advise", "integration/cli/database", ""),
    ("integration/cli/maintenance", "integration/cli/advise", ""),
    ("integration/cli/commands",
     "integration/cli/rows integration/cli/maintenance integration/sieve", ""),
    # sizing_gen.cc, which generates lib/bloom/sizing_table.inc.
    ("bench", "lib/filter", ""),
    ("bench/support", "lib/skip lib/tree integration/rocksdb/compat integration/cli/term", ""),
    ("bench/report", "bench/support", ""),
    ("bench/filters", "bench/support integration/rocksdb/policy", ""),
    ("bench/read_amp", "bench/support integration/rocksdb/policy", ""),
    ("bench/levels", "bench/read_amp integration/rocksdb/plugin", ""),
    ("bench/skip", "bench/support integration/rocksdb/plugin", ""),
    ("bench/ranges", "bench/support integration/rocksdb/plugin", ""),
    ("bench/toylsm", "bench/support integration/toylsm", ""),
    ("bench/scale", "bench/support integration/rocksdb/plugin", ""),
    ("tests/support", "integration/rocksdb/compat lib/skip", ""),
    ("tests/core", "lib/skip lib/tree lib/classic tests/support", ""),
    ("tests/toylsm", "integration/toylsm tests/support", ""),
    ("tests/rocksdb", "integration/rocksdb/plugin tests/support", ""),
    ("tests/sieve", "integration/sieve tests/support", ""),
    ("tests/cli", "integration/cli/commands tests/support", ""),
    ("tests/fuzz", "integration/cli/commands tests/core", ""),
    ("tests/bench", "bench/filters bench/levels bench/ranges bench/skip bench/toylsm tests/support",
     ""),
    ("tests/instructions", "lib/skip integration/rocksdb/compat", ""),
    ("tests/upstream", "rocksdb", ""),
    ("tests/abi", "integration/rocksdb/plugin", ""),
    ("tests/zoo", "integration/rocksdb/plugin", ""),
]

# Engines include public headers and lib/base, like an engine outside of this project. What they
# need besides is of no use to others:
PRIVATE = {
    "lib/prefix/prefix_builder.h": "`advise` chooses the rule that a builder would choose",
    "lib/prefix/prefix_rule.h": "`check` looks up each prefix of each key, and absent ones",
    "lib/skip/column_index.h": "lists of files keep digests of their indexes side by side",
    "lib/skip/granule_pruner.h": "a decision asks thousands of files, without allocation for each",
    "lib/skip/top_rows.h": "skip scans keep the first rows of an order by the index's sort keys",
}
MAX_PRIVATE = 5

SUFFIXES = {".h", ".cc", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
NAMESPACE = re.compile(r"namespace (blocksieve[\w:]*|\w+) \{|\}  // namespace")
TYPE = re.compile(r"(?:struct|class|enum class) (?:\[\[\w+\]\] |[A-Z_]+ )?([A-Z]\w*)(?: [^;]*)?$")
# Variables of threads, and of the process if they may grow, with their names.
KEPT = re.compile(
    r"thread_local (?:struct \{.*?^\}|[\w:<>*&]+(?: \w+)*?[*&]?) (\w+)(?: =|;)|"
    r"static (?:auto& (\w+) =\s*\*new (?:Registry|\w+Catalog)|std::\w+<[^\n;]*> (\w+);)",
    re.MULTILINE | re.DOTALL)
PUBLIC = re.compile(r"(?:integration/\w+/)?include/blocksieve/(.*)[.]h")

ROOM_OF_HEADER = {header: room for room, _, headers in ROOMS for header in headers.split()}


def reachable():
    """The rooms that each room may include: itself and, transitively, those that it uses."""
    of = {}
    for room, uses, _ in ROOMS:
        of[room] = {room}.union(*(of[used] for used in uses.split()))
    return of


MAY_INCLUDE = reachable()


def room_of(path):
    """The room of a path relative to the root, or None."""
    if public := PUBLIC.fullmatch(path):
        return ROOM_OF_HEADER.get(public[1])
    folders = (folder.as_posix() for folder in pathlib.PurePath(path).parents)
    return next((folder for folder in folders if folder in MAY_INCLUDE), None)


def resolve(root, includer, text):
    """The file of this project that is included, relative to root; None: not of this project."""
    public = [root / "include", *root.glob("integration/*/include")]
    for base in [(root / includer).parent, root, *public]:
        if (base / text).is_file():
            return (base / text).resolve().relative_to(root).as_posix()
    return None


def problem(root, path, text):
    """Why `path` must not include `text`; None if it may."""
    included = resolve(root, path, text)
    if included is None and not text.startswith("rocksdb/"):
        return None
    if included and PUBLIC.fullmatch(path) and not PUBLIC.fullmatch(included):
        return "a public header must not include a header that is not installed"
    room = room_of(path)
    included_room = room_of(included or text)
    if path.startswith("integration/") and (included or "").startswith("lib/"):
        if included_room != "lib/base" and included not in PRIVATE:
            return "of the core, engines include public headers, lib/base, and what PRIVATE lists"
    if included_room in MAY_INCLUDE[room]:
        return None
    return f"{room} must not include {included_room or 'a file without a room'}"


def types_in(header):
    """The types that a header defines, with their namespaces."""
    namespaces = []
    for line in header.splitlines():
        if found := NAMESPACE.match(line):
            namespaces = namespaces[:-1] if found[1] is None else [*namespaces, found[1]]
        elif found := TYPE.match(line):
            yield "::".join([*namespaces, found[1]])


def problems(root):
    root = pathlib.Path(root).resolve()
    found = []
    headers_of = collections.defaultdict(list)
    for top in ("include", "lib", "integration", "bench", "tests"):
        for file in sorted((root / top).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            if room_of(path) is None:
                found.append(f"{path}: no room; list it in tests/layering/layering.py")
                continue
            source = file.read_text(encoding="utf-8")
            for text in INCLUDE.findall(source):
                why = problem(root, path, text)
                if why:
                    found.append(f"{path}: includes {text}: {why}")
            for name in types_in(source) if file.suffix == ".h" else ():
                if name.startswith("blocksieve"):
                    headers_of[name].append(path)
    kept = (root / "lib/README.md").read_text("utf-8")
    for file in [*(root / "lib").rglob("*.cc"), *(root / "integration").rglob("*.cc")]:
        for names in KEPT.findall(file.read_text("utf-8")):
            name = "".join(names)
            if f"`{name}`" not in kept or "/".join(file.parts[-2:]) not in kept:
                found.append(f"{file}: {name} is missing in lib/README.md, What threads keep")
    integration = [*(root / "integration").rglob("*.h"), *(root / "integration").rglob("*.cc")]
    included = {text for file in integration for text in INCLUDE.findall(file.read_text("utf-8"))}
    found += [f"PRIVATE lists {name}, which no engine includes" for name in PRIVATE.keys() - included]
    if len(PRIVATE) > MAX_PRIVATE:
        found.append(f"PRIVATE lists {len(PRIVATE)} headers; allowed: up to {MAX_PRIVATE}")
    # The linker merges their functions, such as those of vectors of them.
    for name, headers in headers_of.items():
        if len(headers) > 1:
            found.append(f"{name} is defined in {' and '.join(headers)}")
    return found


def rooms_of_object(root, build, file):
    """The rooms of the sources of an object file, several in a unity build."""
    unity = file.with_suffix("")
    if unity.is_file():
        sources = [pathlib.Path(text) for text in INCLUDE.findall(unity.read_text("utf-8"))]
        return {room_of(source.relative_to(root).as_posix()) for source in sources}
    return {room_of(re.sub(r"CMakeFiles/[^/]*/", "", file.relative_to(build).as_posix()))}


def symbol_problems(root, build, objects):
    root, build = pathlib.Path(root).resolve(), pathlib.Path(build).resolve()
    needed = []
    rooms_that_define = collections.defaultdict(set)
    # One nm for all: starting it takes longer than reading a file.
    command = ["nm", "--demangle", "--format=posix", "--print-file-name", *objects]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rooms_of = {name: rooms_of_object(root, build, pathlib.Path(name).resolve()) for name in objects}
    for line in output.splitlines():
        file, name, kind = re.fullmatch(r"(.*?): (.*?) ([A-Za-z])(?: [0-9a-f]+)*\s*", line).groups()
        if kind == "U":
            needed.append((pathlib.Path(file).name, rooms_of[file], name))
        elif kind not in "tdrbw":  # those of the file alone, and references that may be missing
            rooms_that_define[name] |= rooms_of[file]
    found = []
    for file, rooms, name in needed:
        allowed = set().union(*(MAY_INCLUDE[room] for room in rooms))
        definers = rooms_that_define.get(name)
        if definers and not definers & allowed:
            where = " and ".join(sorted(definers))
            found.append(f"{', '.join(sorted(rooms))} ({file}) needs {name}, defined in {where}")
    return found


def main():
    if len(sys.argv) in (1, 3):
        sys.exit(__doc__)
    if len(sys.argv) == 2:
        found = problems(sys.argv[1])
    else:
        found = symbol_problems(sys.argv[1], sys.argv[2], sys.argv[3:])
    print("\n".join(found) or "everything is allowed")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
