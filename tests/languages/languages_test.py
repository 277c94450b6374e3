"""usage: languages_test.py LANGUAGE

Runs the program of this language in embedding/languages.md as the page says, and lets it and the
program in C read each other's databases. "preloaded" is the program in C with the plug-in preloaded,
"valgrind" the same under valgrind. Skipped (exit code 77) where the language is not installed.

Environment: PLUGIN, the path of the plug-in; CPATH, LIBRARY_PATH and LD_LIBRARY_PATH of RocksDB.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EMBEDDING = pathlib.Path(__file__).resolve().parents[2] / "integration" / "rocksdb" / "embedding"
PAGE = (EMBEDDING / "languages.md").read_text(encoding="utf-8")
# What each needs, its section of the page, and how its program is run.
LANGUAGES = {
    "c": (["cc"], "C", ["./filters"]),
    "preloaded": (["cc"], "C", ["env", f"LD_PRELOAD={os.environ['PLUGIN']}", "./filters"]),
    "valgrind": (
        ["cc", "valgrind"],
        "C",
        ["valgrind", "--quiet", "--leak-check=full", "--error-exitcode=1", "./filters"],
    ),
    "go": (["cc", "go"], "Go", ["./filters"]),
    "rust": (["cc", "rustc"], "Rust", ["./filters"]),
    "python": (["python3"], "Python", ["python3", "filters.py"]),
}
...
