"""A section as plain text, as bench/run prints it. Needs only python3."""

import textwrap

from bench.report.rows import SPREAD_MEANING

HEADING_CHARACTERS = 14


def paragraph(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def aligned(table):
    """The first column is left-aligned, the others right-aligned."""
    headings = [
        textwrap.wrap(heading, HEADING_CHARACTERS, break_long_words=False)
        for heading in table.headers
    ]
    height = max(map(len, headings))
    lines = [*zip(*([""] * (height - len(heading)) + heading for heading in headings))]
    lines += [[str(cell) for cell in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    texts = [
        "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()
        for first, *others in lines
    ]
    texts.insert(height, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(texts)


def plain_text(section):
    machine = "RocksDB {rocksdb}. blocksieve's kernel: {kernel}.".format_map(section.facts)
    parts = [paragraph(machine), *map(paragraph, section.paragraphs)]
    if any(row.spread for row in section.rows):
        parts.append(paragraph(SPREAD_MEANING))
    for table in section.tables:
        parts += [paragraph(table.caption), aligned(table), paragraph(table.note)]
    result = "{} {}. {}".format(*section.result) if section.result else ""
    parts += [f"Details: {section.facts['path']}", paragraph(result)]
    return "\n\n".join(filter(None, parts))
