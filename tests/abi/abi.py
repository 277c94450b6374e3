"""usage: abi.py [--record] PLUGIN TYPES HEADER...

Compares the plug-in's exports with symbols.abi, by abidiff, and the public classes with
layouts.txt. Checks that each exported name is in a header. TYPES is a shared object with the debug
information of all public headers. With --record, writes both files.
"""

import difflib
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

SYMBOLS = pathlib.Path(__file__).with_name("symbols.abi")
LAYOUTS = pathlib.Path(__file__).with_name("layouts.txt")
CHANGED = """
Programs that were built with {soname} may not run with this one. Undo the change, or raise VERSION
in CMakeLists.txt, which the soname follows, and record the new ABI. If this soname was never
released, delete tests/abi/symbols.abi and record it again. To record:"""
RECORD = """
  cmake --build build --target record_abi"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def abidw(*arguments):
    paths = ("--no-corpus-path", "--no-comp-dir-path", "--no-show-locs")
    return run("abidw", *paths, *arguments)


def classes_in(element, scope=()):
    """Yields the classes and enums of abidw's XML, each with its qualified name."""
    for child in element:
        inner = (*scope, child.get("name")) if child.get("name") else scope
        if child.tag in ("class-decl", "union-decl", "enum-decl"):
            yield inner, child
        if child.tag in ("abi-instr", "namespace-decl", "class-decl", "member-type"):
            yield from classes_in(child, inner)


def layout(found, foreign):
    """The size of a class in bytes and the offsets of its members, or the values of an enum."""
    members = [each for each in found.findall("data-member") if each.get("layout-offset-in-bits")]
    # The size of RocksDB's classes depends on its version; the size of enums, on abidw's.
    ends_in_foreign = members and members[-1][0].get("type-id") in foreign
    if found.tag != "enum-decl" and not ends_in_foreign:
        yield str(int(found.get("size-in-bits")) // 8)
    for member in members:
        yield f"{member[0].get('name')}@{int(member.get('layout-offset-in-bits')) // 8}"
    for function in found.findall("member-function[@vtable-offset]"):
        yield f"{function[0].get('name')}#{function.get('vtable-offset')}"
    for value in found.findall("enumerator"):
        yield f"{value.get('name')}={value.get('value')}"


def layouts(types):
    classes = list(classes_in(xml.etree.ElementTree.fromstring(abidw("--load-all-types", types))))
    foreign = {found.get("id") for scope, found in classes if scope[0] == "rocksdb"}
    return sorted(
        {
            " ".join(("::".join(scope[1:]), *layout(found, foreign))) + "\n"
            for scope, found in classes
            if scope[0] == "blocksieve" and not found.get("is-declaration-only")
        }
    )


def undeclared(plugin, headers):
    """Exported names that no public header has."""
    texts = (pathlib.Path(header).read_text() for header in headers)
    words = {"operator", *re.findall(r"\w+", "".join(texts))}
    flags = ("--dynamic", "--defined-only", "--demangle", "--format=just-symbols")
    names = {re.split(r"[(@\[]", name)[0] for name in run("nm", *flags, plugin).splitlines()}
    return sorted(
        name
        for name in names
        if not name.startswith("BLOCKSIEVE_") and not set(re.findall(r"\w+", name)) <= words
    )


def changes(plugin, now):
    compared = subprocess.run(["abidiff", SYMBOLS, plugin], capture_output=True, text=True)
    text = compared.stdout + compared.stderr if compared.returncode else ""
    before = LAYOUTS.read_text().splitlines(keepends=True)
    return text + "".join(difflib.unified_diff(before, now, "layouts.txt", "now", n=0))


def soname_of(abi):
    return re.search("soname='(.*?)'", abi)[1]


def main():
    records = sys.argv[1] == "--record"
    plugin, types, *headers = sys.argv[1 + records :]
    symbols, now = abidw(plugin), layouts(types)
    changed = changes(plugin, now) if SYMBOLS.exists() else "No ABI is recorded."
    if changed and SYMBOLS.exists() and soname_of(SYMBOLS.read_text()) == soname_of(symbols):
        sys.exit(changed + CHANGED.format(soname=soname_of(symbols)) + RECORD)
    if records:
        SYMBOLS.write_text(symbols)
        LAYOUTS.write_text("".join(now))
    elif changed:
        sys.exit(changed + RECORD)
    if names := undeclared(plugin, headers):
        sys.exit("Exported, but in no public header: " + ", ".join(names))


main()
