"""usage: abi.py [--record] PLUGIN TYPES HEADER...

Compares the plug-in's exports with symbols.abi, by abidiff, and the public classes and the results
of functions, which symbols do not tell, with layouts.txt. Checks that each exported name is in a
header. TYPES is a shared object with the debug information of all public headers. With --record,
writes both files.
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
        if child.tag in ("abi-types", "abi-instr", "namespace-decl", "class-decl", "member-type"):
            yield from classes_in(child, inner)


def type_names(abi):
    """The name of each type in abidw's XML, by id: a function by which it looks one up."""
    types = {each.get("id"): each for each in abi.iter() if each.get("id")}
    text = re.compile(r"std::__cxx11::basic_string<char, ?std::char_traits<char>, ?[^<]+<char> ?>")
    default = re.compile(r", ?std::(allocator|default_delete|less)<[^<>]*> ?")

    def name(number):
        found = types[number]
        of = found.get("type-id")
        if not of or found.tag == "typedef-decl":
            return default.sub("", text.sub("string", found.get("name", found.tag)))
        marks = {"pointer-type-def": "*", "reference-type-def": "&", "qualified-type-def": " const"}
        return name(of) + marks.get(found.tag, f"[{found.get('dimensions')}]")

    return name


def layout(found, foreign, type_name):
    """The size of a class in bytes, its members with offset and type, or the values of an enum."""
    members = [each for each in found.findall("data-member") if each.get("layout-offset-in-bits")]
    # The size of RocksDB's classes depends on its version; the size of enums, on abidw's.
    ends_in_foreign = members and members[-1][0].get("type-id") in foreign
    if found.tag != "enum-decl" and not ends_in_foreign:
        yield str(int(found.get("size-in-bits")) // 8)
    for member in members:
        offset = int(member.get("layout-offset-in-bits")) // 8
        yield f"{member[0].get('name')}@{offset}:{type_name(member[0].get('type-id'))}"
    for function in found.findall("member-function[@vtable-offset]"):
        yield f"{function[0].get('name')}#{function.get('vtable-offset')}"
    for value in found.findall("enumerator"):
        yield f"{value.get('name')}={value.get('value')}"


def layouts(types):
    abi = xml.etree.ElementTree.fromstring(abidw("--load-all-types", types))
    classes = list(classes_in(abi))
    name = type_names(abi)
    foreign = {found.get("id") for scope, found in classes if scope[0] == "rocksdb"}
    return sorted(
        {
            " ".join(("::".join(scope[1:]), *layout(found, foreign, name))) + "\n"
            for scope, found in classes
            if scope[0] == "blocksieve" and not found.get("is-declaration-only")
        }
    )


def exported(plugin):
    flags = ("--dynamic", "--defined-only", "--demangle", "--format=just-symbols")
    names = {re.split(r"[(@\[]", name)[0] for name in run("nm", *flags, plugin).splitlines()}
    return sorted(name for name in names if not name.startswith("BLOCKSIEVE_"))


def undeclared(names, headers):
    """Exported names that no public header has."""
    words = {"operator", *re.findall(r"\w+", headers)}
    return [name for name in names if not set(re.findall(r"\w+", name)) <= words]


def results(names, headers):
    """By class, the results of exported functions as the headers have them: all of overloads."""
    headers = re.sub(r"//.*|^#.*", "", headers, flags=re.MULTILINE)
    one_class = r"^(?:class|struct) (?:BLOCKSIEVE_EXPORT )?(\w+)[^;{]*\{(.*?)^\};"
    texts = dict(re.findall(one_class, headers, re.MULTILINE | re.DOTALL))
    texts[""] = re.sub(one_class, "", headers, flags=re.MULTILINE | re.DOTALL)
    no_type = re.compile(r'.*\w:\s|extern "C"|BLOCKSIEVE_EXPORT|static|explicit|return.*', re.DOTALL)
    of = {}
    for name in names:
        scope, _, function = name.removeprefix("blocksieve::").rpartition("::")
        declared = re.findall(
            r"([^;{}()]*)(?<![\w~.>])" + re.escape(function) + r"\(", texts.get(scope, "")
        )
        types = {" ".join(no_type.sub("", before).split()) for before in declared} - {""}
        if types:
            of.setdefault(scope, []).append(f" {function}:{'|'.join(sorted(types))}")
    return [f"{scope}(){''.join(functions)}\n" for scope, functions in of.items()]


def changes(plugin, now):
    compared = subprocess.run(["abidiff", SYMBOLS, plugin], capture_output=True, text=True)
    text = compared.stdout + compared.stderr if compared.returncode else ""
    # Versions of abidw differ in the blanks of types.
    before, now = ([line.replace(" ", "") for line in lines] for lines in (LAYOUTS.open(), now))
    return text + "".join(difflib.unified_diff(before, now, "layouts.txt", "now", n=0))


def soname_of(abi):
    return re.search("soname='(.*?)'", abi)[1]


def main():
    records = sys.argv[1] == "--record"
    plugin, types, *headers = sys.argv[1 + records :]
    names = exported(plugin)
    headers = "".join(pathlib.Path(header).read_text() for header in headers)
    symbols, now = abidw(plugin), [*layouts(types), *results(names, headers)]
    changed = changes(plugin, now) if SYMBOLS.exists() else "No ABI is recorded."
    if changed and SYMBOLS.exists() and soname_of(SYMBOLS.read_text()) == soname_of(symbols):
        sys.exit(changed + CHANGED.format(soname=soname_of(symbols)) + RECORD)
    if records:
        SYMBOLS.write_text(symbols)
        LAYOUTS.write_text("".join(now))
    elif changed:
        sys.exit(changed + RECORD)
    if unknown := undeclared(names, headers):
        sys.exit("Exported, but in no public header: " + ", ".join(unknown))


main()
