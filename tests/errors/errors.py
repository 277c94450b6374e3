#!/usr/bin/env python3
"""usage: errors.py [--list]

Checks the texts of all errors and warnings of the product; --list prints them. Before a text stand its
folder and the function, variable or list that receives it. "…" stands for a value and "(these|those)"
for a choice. UNSEEN.txt, the texts that no test produces, must be a part of them.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNSEEN = pathlib.Path(__file__).with_name("UNSEEN.txt")  # reasons, and below each, indented, texts

# Functions that take such a text, functions that return one, and variables and lists that hold them.
CALLS = re.compile(
    r"InvalidArgument|Corruption|NotSupported|NotFound|IOError|Incomplete|Aborted|MemoryLimit|"
    r"ResourceExhausted|Fail\w*|fail|UsageError|Interrupted|Terminate|fprintf|Damaged\w*|Unknown|"
    r"Unreadable|\w*OutOfRange|Log\w+|WarnOnce|Report\w*|[Rr]efused|say|Expected|Complaint|"
    r"WriteToStandardError|InUse"
)
FUNCTIONS = re.compile(
    r"\w*(?:Problem|Wrong|WhyNone|Warning|Complaint|InRange|OneOf|Known|ParseError)\w*"
)
VARIABLES = re.compile(r"\w*(?:problem|reason|error|warning|message)s?_?|notes|damage|unopened")

# What no text may have: others put it into a sentence of theirs, and a reader wants to know what to do.
RULES = {
    "begins like a sentence of its own": re.compile(r": [A-Z][a-z]* "),
    "ends like a sentence of its own": re.compile(r"[.!](\\n)?$"),
    "names a value, not what is allowed": re.compile(r"^[^;]*\b(is|are) ['\"]?…['\"]?(\\n)?$"),
}

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\''
    r"|(?:::)?[A-Za-z_]\w*(?:::~?\w+)*|\d[\w.']*|->|[-+=!<>]=|\S",
    re.DOTALL,
)


def end_of(tokens, begin, stops=()):
    """The first token from `begin` on that is in `stops`, or the bracket that closes around it."""
    depth = 0
    for i in range(begin, len(tokens)):
        if depth == 0 and tokens[i] in (*stops, *")]}"):
            return i
        depth += (tokens[i] in "([{") - (tokens[i] in ")]}")
    return len(tokens)


def split(tokens, separator):
    end = end_of(tokens, 0, separator)
    return [tokens[:end], *(split(tokens[end + 1 :], separator) if end < len(tokens) else [])]


def choices(tokens):
    """The texts that an expression can have."""
    question = end_of(tokens, 0, "?")
    if question < len(tokens):
        colon = end_of(tokens, question, ":")
        return choices(tokens[question + 1 : colon]) + choices(tokens[colon + 1 :])
    return [re.sub("(…)+", "…", "".join(map(text_of_term, split(tokens, "+"))))]


def text_of(tokens):
    texts = list(dict.fromkeys(choices(tokens)))
    return texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"


def text_of_term(term):
    if all(token[-1] in "\"'" for token in term if not token.isupper()):  # upper case: a macro
        return "".join(map(text_of_literal, term))
    if term[0] == "(":
        return text_of(term[1:-1])
    if term[0] == "fmt::format":
        return "|".join(texts_of_call(term[0], term[2:-1]))
    return text_of(term[2:-1]) if term[0].endswith(("string", "Failure")) and len(term) > 3 else "…"


def text_of_literal(token):
    if token[:2] == 'R"':
        return token[token.index("(") + 1 : token.rindex(")")]
    return re.sub(r'\\(["\\])', r"\1", token[1:-1]) if token[0] in "\"'" else "…"


def texts_of_call(name, tokens):
    arguments = split(tokens, ",")
    formats, values = choices(arguments[0]), [text_of(argument) for argument in arguments[1:]]
    if "{" in "".join(formats):
        fill = lambda _, rest=iter(values): next(rest, "…")
        return [re.sub("{[^{}]*}", fill, each) for each in formats]
    if name == "LogLoudly":
        return ["".join(values)]
    joined = [": ".join([each, *values]) for each in formats]
    return [re.sub("^(…: )+|(: …)+$", "", each) for each in joined] if values else formats


def texts_in(source):
    """For each text: what receives it, the text, its first and its last line."""
    pairs = [(match[0], source.count("\n", 0, match.start()) + 1) for match in TOKEN.finditer(source)]
    tokens, lines = zip(*(pair for pair in pairs if not pair[0].startswith(("//", "/*"))))
    end_of_function = 0
    for i, token in enumerate(tokens[:-3]):
        name = token.split("::")[-1]
        following = tokens[i + 1]
        if CALLS.fullmatch(name) and following in "({":
            begin, stop = i + 2, ""
        elif VARIABLES.fullmatch(name) and tokens[i + 2] == "push_back":
            begin, stop = i + 4, ""
        elif VARIABLES.fullmatch(name) and following in ("=", "+="):
            begin, stop = i + 2, ";"
        elif token == "return" and i < end_of_function:
            begin, stop = i + 1, ";"
        elif tokens[i - 1 : i + 1] == ("#", "error"):
            begin, stop = i + 1, "#"
        else:
            if FUNCTIONS.fullmatch(name) and following == "(":
                body = end_of(tokens, i + 2, "{;") + 1
                body += tokens[body] == "const"
                if tokens[body] == "{":
                    end_of_function = end_of(tokens, body + 1)
            continue
        end = end_of(tokens, begin, stop)
        call = CALLS.fullmatch(name)
        for text in texts_of_call(name, tokens[begin:end]) if call else choices(tokens[begin:end]):
            if re.search("[A-Za-z]{2}", text):
                yield name, text.strip(), lines[i], lines[end]


def all_texts():
    """For each text of the product: its file, "FOLDER: RECEIVER: TEXT", its first and last line."""
    files = (path for top in ("include", "integration", "lib") for path in (ROOT / top).rglob("*"))
    for file in sorted(path for path in files if path.suffix in (".cc", ".h")):
        for name, text, first, last in texts_in(file.read_text(encoding="utf-8")):
            yield file, f"{file.parent.relative_to(ROOT).as_posix()}: {name}: {text}", first, last


def excused():
    lines = UNSEEN.read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.startswith("  ")}


def main():
    entries = {entry for _, entry, *_ in all_texts()}
    if sys.argv[1:] == ["--list"]:
        print("\n".join(sorted(entries)))
    problems = [f"{rule}: {entry}" for rule in RULES for entry in entries if RULES[rule].search(entry)]
    problems += [f"{UNSEEN} has a text that no longer exists: {entry}" for entry in excused() - entries]
    if problems:
        sys.exit("\n".join(sorted(problems)))


if __name__ == "__main__":
    main()
