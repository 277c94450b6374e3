#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/mutations.py [--sample N] [--seed S] [FOLDER...]

Draws N mutants (default 150) of the sources of FOLDERs (default: all in RUNS), builds them into one
copy of each test program, which the environment variable MUTANT chooses from, and runs the tests
that should see them. A mutant replaces an operator or a number, negates a condition, or leaves out
a statement; headers have none. Prints survivors, and how many were killed, survived, or did not
compile. Exit code 1 if one survived that mutations_judged.tsv does not list: file, mutated line,
the reason why it may. The copy and its build are in build-mutants/.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build-mutants"
CORE, DATABASES = "core/core_test", "rocksdb/"
# Folders, and the programs whose tests see them, the fastest first. Of core_test, the tests in the
# folders of tests/core that are named: all of it takes a minute.
RUNS = [
    ("lib/base lib/bits lib/block lib/hash", [(CORE, "base hash format")]),
    ("lib/bloom lib/filter", [(CORE, "filter prefix format")]),
    ("lib/ribbon", [(CORE, "ribbon filter format")]),
    ("lib/classic", [(CORE, "classic")]),
    ("lib/prefix lib/range", [(CORE, "prefix range filter format")]),
    ("lib/tree", [(CORE, "tree")]),
    ("lib/column lib/predicate", [(CORE, "column predicate skip")]),
    ("lib/postings lib/skip", [(CORE, "postings skip predicate format")]),
    ("integration/rocksdb/levels integration/rocksdb/policy integration/rocksdb/compat "
     "integration/rocksdb/listener integration/rocksdb/maintenance integration/rocksdb/plugin",
     [("rocksdb/rocksdb_unit_test", ""), ("rocksdb/rocksdb_db_test", ""),
      ("rocksdb/rocksdb_options_test", ""), ("rocksdb/skip_index_test", "")]),
    ("integration/rocksdb/options", [("rocksdb/rocksdb_options_test", "")]),
    ("integration/rocksdb/sidecar integration/rocksdb/index integration/rocksdb/scan",
     [("rocksdb/skip_index_test", ""), ("rocksdb/random_database_test", "")]),
    ("integration/rocksdb/ranges integration/rocksdb/block_index",
     [("rocksdb/range_filter_test", ""), ("rocksdb/random_database_test", "")]),
]

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
         "+": "-", "-": "+", "*": "+", "<<": ">>", ">>": "<<", "&": "|", "|": "&"}
TOKEN = re.compile(r"(?<= )(?:<<|>>|[<>=!]=|&&|\|\||[-+*<>&|])(?= )|(?<![\w.'\"])\d+(?=[uUlL]*\b)(?![.'])")
HIDDEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^#(?:[^\n]*\\\n)*[^\n]*', re.M)
DECLARES = re.compile(r"^\s*(?:const )?(?:auto|[\w:]+(?:<.*>)?)[ *&]+\w+ = |^\s*const |;")
STATEMENT = re.compile(r"(?<=[;{}:]\n)( +)(?!assert|BLOCKSIEVE)"
                       r"([^\s=(]+(?:\([^;{}]*\)|\+\+|--| [-+*|&^]?= [^;{}]*));(?=\n)")
HEAD = r"""#include <cstdlib>
#ifndef BLOCKSIEVE_MUTANT
#define BLOCKSIEVE_MUTANT
static inline bool Mutant(long id) noexcept {
  static const long chosen = getenv("MUTANT") == nullptr ? 0 : atol(getenv("MUTANT"));
  return id == chosen;
}
#endif
#line 1
"""

# `text` replaces the region `begin` to `end` of a file; `kind` is "expression" or "statement".
Mutant = collections.namedtuple("Mutant", "path begin end kind text line shown")


def matching(text, at):
    """The place of the parenthesis that closes the one at `at`."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return len(text)


def regions(plain):
    """Expressions: begin, end, whether the expression is a condition."""
    for found in re.finditer(r"\b(if|while|for) \(", plain):
        begin, end = found.end(), matching(plain, found.end() - 1)
        if found[1] == "for":
            parts = plain[begin:end].split(";")
            if len(parts) != 3:
                continue
            begin, end = begin + len(parts[0]) + 2, begin + len(parts[0]) + 1 + len(parts[1])
        if begin < end and not DECLARES.search(plain[begin:end]):
            yield begin, end, found[1] == "if"
    for found in re.finditer(r"(?:\breturn|(?<=\w) [-+|&]?=) ([^;{}=\[]*[^;{}=\[ ]);", plain):
        line = plain[plain.rfind("\n", 0, found.start()) + 1:found.start()]
        if not re.search(r"constexpr|static|using|template|constinit", line):
            yield found.start(1), found.end(1), False


def mutants_of(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    plain = HIDDEN.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), text)

    def mutant(begin, end, kind, changed, shown):
        line = text.count("\n", 0, begin) + 1
        return Mutant(path, begin, end, kind, changed, line, " ".join(shown.split()))

    def line_of(at, end, changed):
        begin = text.rfind("\n", 0, at) + 1
        return text[begin:at] + changed + text[end:text.find("\n", end)]

    for begin, end, is_condition in regions(plain):
        if "//" in text[begin:end]:
            continue
        whole = text[begin:end]
        if is_condition:
            yield mutant(begin, end, "expression", f"!({whole})", line_of(begin, end, f"!({whole})"))
        for token in TOKEN.finditer(plain, begin, end):
            other = OTHER.get(token[0]) or str(int(token[0]) + 1)
            changed = text[begin:token.start()] + other + text[token.end():end]
            yield mutant(begin, end, "expression", changed, line_of(token.start(), token.end(), other))
    for found in STATEMENT.finditer(plain):
        shown = "without " + text[found.start(2):found.end()]
        yield mutant(found.start(2), found.end(), "statement", "", shown)


def write(path, mutants):
    """The source with all of its mutants, by number."""
    text = (ROOT / path).read_text(encoding="utf-8")
    by_region = collections.defaultdict(list)
    for number, mutant in mutants:
        by_region[mutant.begin, mutant.end, mutant.kind].append((number, mutant))
    for (begin, end, kind), here in sorted(by_region.items(), reverse=True):
        whole = text[begin:end]
        if kind == "statement":
            whole = f"if (!Mutant({here[0][0]})) {{ {whole} }}"
        else:
            chosen = "".join(f"Mutant({number}) ? ({' '.join(mutant.text.split())}) : " for number, mutant in here)
            whole = f"({chosen}({whole}))"
        text = text[:begin] + whole + text[end:]
    copy = COPY / "source" / path
    if not copy.exists() or copy.read_text(encoding="utf-8") != HEAD + text:
        copy.write_text(HEAD + text if mutants else text, encoding="utf-8")


def overlaps(mutant, others):
    return any(mutant.begin < other.end and other.begin < mutant.end and
               (mutant.begin, mutant.end, mutant.kind) != (other.begin, other.end, other.kind) for other in others)


def draw(files, count, seed):
    """Sampled mutants by number, from 1 on. None lies in another's region."""
    # By hashes of their texts, so that a change of a line leaves the others in the sample.
    everything = sorted((mutant for path in files for mutant in mutants_of(path)),
                        key=lambda one: hashlib.sha256(f"{seed} {one.path} {one.shown}".encode()).digest())
    chosen = collections.defaultdict(list)
    for mutant in everything:
        if sum(map(len, chosen.values())) < count and not overlaps(mutant, chosen[mutant.path]):
            chosen[mutant.path].append(mutant)
    return dict(enumerate((mutant for path in files for mutant in chosen[path]), 1)), len(everything)


def build(mutants, files, programs):
    """Compiles what can be. Returns the numbers of mutants that cannot."""
    failed = set()
    targets = sorted({pathlib.Path(program).name for program in programs})
    while True:
        for path in files:
            write(path, [(n, m) for n, m in mutants.items() if m.path == path and n not in failed])
        done = subprocess.run(["ninja", "-k", "0", "-C", COPY / "build", *targets], capture_output=True, text=True,
                              check=False)
        if done.returncode == 0:
            return failed
        places = re.findall(r"((?:lib|integration)/[\w/]+[.]cc):(\d+):\d+: error", done.stdout)
        errors = {(path, int(line)) for path, line in places}
        now = {number for number, mutant in mutants.items() if number not in failed and any(
            mutant.path == path and mutant.line <= line <= mutant.line + 12 for path, line in errors)}
        if not now:
            sys.exit(done.stdout[-5000:])
        failed |= now


def suites(folders):
    """A filter of GoogleTest for the tests in those folders of tests/core."""
    names = {name for folder in folders.split() for path in (ROOT / "tests/core" / folder).glob("*.cc")
             for name in re.findall(r"^TEST(?:_F|_P)?\((\w+),", path.read_text(encoding="utf-8"), re.M)}
    return ":".join(sorted(f"{name}.*:*/{name}.*:{name}/*" for name in names)) or "*"


def run(number, programs, limits):
    """The program that failed; None if all passed. The run of number 0, without a mutant, sets limits of time."""
    for one in programs:
        program, folders = one
        began = time.monotonic()
        try:
            code = subprocess.run(
                ["prlimit", "--as=8000000000", COPY / "build/tests" / program, "--gtest_brief=1",
                 "--gtest_fail_fast", f"--gtest_filter={suites(folders)}"],
                env=dict(os.environ, MUTANT=str(number)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                timeout=limits.get(one), check=False).returncode
        except subprocess.TimeoutExpired:
            code = 1
        if number == 0:
            limits[one] = 30 + 10 * (time.monotonic() - began)
        if code != 0:
            return program
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="*")
    arguments = parser.parse_args()
    rows = [(folder, programs) for folders, programs in RUNS for folder in folders.split()
            if not arguments.folders or folder in arguments.folders]
    files = [path.relative_to(ROOT).as_posix() for folder, _ in rows for path in sorted((ROOT / folder).glob("*.cc"))
             if "_neon" not in path.name]  # not compiled here
    mutants, total = draw(files, arguments.sample, arguments.seed)
    print(f"{len(mutants)} of {total} mutants, seed {arguments.seed}", flush=True)

    if not (COPY / "source").exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, COPY / "source"], check=True)
    tracked = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for path in subprocess.check_output(tracked, cwd=ROOT, text=True).splitlines():
        if (ROOT / path).is_file() and path not in files:
            (COPY / "source" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, COPY / "source" / path)
    subprocess.run(["cmake", "--preset", "default", "-S", ".", "-B", COPY / "build", "-DBLOCKSIEVE_BENCHMARKS=OFF"],
                   cwd=COPY / "source", check=True, stdout=subprocess.DEVNULL)
    programs = {program for _, runs in rows for program, _ in runs}
    failed = build(mutants, files, programs)

    of_folder = dict(rows)
    limits = {}
    for one in sorted({one for _, runs in rows for one in runs}):
        if run(0, [one], limits):
            sys.exit(f"{one} fails without a mutant")
    judged = dict(line.split("\t")[:2][::-1] for line in
                  (ROOT / "tests/mutations_judged.tsv").read_text(encoding="utf-8").splitlines())
    counts = collections.Counter({"not compiled": len(failed)})
    left = [number for number in mutants if number not in failed]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        killers = pool.map(lambda n: run(n, of_folder[os.path.dirname(mutants[n].path)], limits), left)
        for number, killer in zip(left, killers):
            mutant = mutants[number]
            survived = "judged" if judged.get(mutant.shown) == mutant.path else "survived"
            counts["killed" if killer else survived] += 1
            if not killer and survived == "survived":
                print(f"{mutant.path}:{mutant.line}: {mutant.shown}", flush=True)
    print(", ".join(f"{counts[what]} {what}" for what in ("killed", "survived", "judged", "not compiled")))
    sys.exit(counts["survived"] > 0)


if __name__ == "__main__":
    main()
