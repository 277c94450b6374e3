#!/usr/bin/env python3
"""usage: errors.py [--write]

Compares ERRORS.txt with the texts of all errors and warnings of the product; --write writes it.
The word before a text is the function, variable or list that receives it. In a text, "…" is a
value and "(these|those)" a choice.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).with_name("ERRORS.txt")

# Functions that take the text of an error or warning.
CALLS = re.compile(
    r"InvalidArgument|Corruption|NotSupported|NotFound|IOError|Incomplete|Aborted|MemoryLimit|"
    r"ResourceExhausted|Fail\w*|fail|UsageError|Interrupted|Terminate|Damaged\w*|Unknown|Unreadable|"
    r"\w*OutOfRange|LogLoudly|LogNo\w+|WarnOnce|Report|Refused|refused|say|Expected|Complaint|WriteToStandardError"
)
# Functions that return such a text, and variables and lists that hold it.
FUNCTIONS = re.compile(
    r"\w*(?:Problem|Wrong|WhyNone|Warning|Complaint|InRange|OneOf|Known|ParseError)\w*"
)
VARIABLES = re.compile(r"\w*(?:problem|reason|error|warning|message)_?")
LISTS = re.compile(r"problems|warnings|notes|damage|unopened")

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
    begin, parts = 0, []
    while begin <= len(tokens):
        end = end_of(tokens, begin, separator)
        parts.append(tokens[begin:end])
        begin = end + 1
    return parts


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


def text_of_literal(token):
    raw = re.fullmatch(r'R"(\w*)\((.*)\)\1"', token, re.DOTALL)
    return raw[2] if raw else re.sub(r'\\(["\\])', r"\1", token[1:-1])


def text_of_term(term):
    if all(token[-1] in "\"'" for token in term):
        return "".join(map(text_of_literal, term))
    if term[0] == "(":
        return text_of(term[1:-1])
    if term[0] == "fmt::format":
        return "|".join(texts_of_call(term[0], term[2:-1]))
    return text_of(term[2:-1]) if term[0].endswith(("string", "Failure")) and len(term) > 3 else "…"


def texts_of_call(name, tokens):
    arguments = split(tokens, ",")
    formats = choices(arguments[0])
    if "{" in "".join(formats):
        values = map(text_of, arguments[1:])
        return [re.sub("{[^{}]*}", lambda _: next(values, "…"), each) for each in formats]
    texts = [text_of(argument) for argument in arguments]
    if name == "LogLoudly":
        return ["".join(texts[1:])]
    return formats if len(texts) == 1 else [": ".join(texts).removeprefix("…: ")]


def texts_in(source):
    """For each text: what receives it, the text, its first and its last line."""
    pairs = [(match[0], source.count("\n", 0, match.start()) + 1) for match in TOKEN.finditer(source)]
    tokens, lines = zip(*(pair for pair in pairs if not pair[0].startswith(("//", "/*"))))
    end_of_function = 0
    for i, token in enumerate(tokens[:-3]):
        name = token.split("::")[-1]
        end, found = i, []
        if CALLS.fullmatch(name) and tokens[i + 1] in "({":
            end = end_of(tokens, i + 2)
            found = texts_of_call(name, tokens[i + 2 : end])
        elif LISTS.fullmatch(name) and tokens[i + 2] == "push_back":
            end = end_of(tokens, i + 4)
            found = choices(tokens[i + 4 : end])
        elif VARIABLES.fullmatch(name) and tokens[i + 1] in ("=", "+="):
            end = end_of(tokens, i + 2, ";")
            found = choices(tokens[i + 2 : end])
        elif FUNCTIONS.fullmatch(name) and tokens[i + 1] == "(":
            body = end_of(tokens, i + 2, "{;")
            body += 1 + (tokens[body + 1] == "const")
            if tokens[body] == "{":
                end_of_function = end_of(tokens, body + 1)
        elif token == "return" and i < end_of_function:
            end = end_of(tokens, i + 1, ";")
            found = choices(tokens[i + 1 : end])
        for text in found:
            if re.search("[A-Za-z]{2}", text):
                yield name, text, lines[i], lines[end]


def main():
    folders = {}
    for file in sorted(path for top in ("include", "integration", "lib") for path in (ROOT / top).rglob("*.*")):
        if file.suffix in (".cc", ".h"):
            texts = folders.setdefault(file.parent.relative_to(ROOT).as_posix(), set())
            texts.update(f"  {name}: {text}\n" for name, text, _, _ in texts_in(file.read_text()))
    page = "\n".join(f"{folder}\n{''.join(sorted(texts))}" for folder, texts in folders.items() if texts)
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(page)
    elif LIST.read_text() != page:
        sys.exit(f"{LIST} differs from the sources; {__file__} --write writes it")


if __name__ == "__main__":
    main()
