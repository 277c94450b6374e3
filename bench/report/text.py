"""A section as plain text: what bench/run prints. Takes nothing but python3."""

import textwrap

from bench.report.rows import SPREAD_MEANING
from bench.report.show import Cell, ShownTable, verdict_counts

WIDTH = 100
HEADING_CHARACTERS = 14


def paragraph(text):
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def heading_lines(table):
    """Of each column: what a group has in common stands above its first."""
    for common, members in table.header_groups:
        for i, heading in enumerate(members):
            lines = textwrap.wrap(heading, HEADING_CHARACTERS, break_long_words=False) or [""]
            if common:
                lines.insert(0, f"{common}:" if i == 0 else "")
            yield lines


def aligned(table):
    """The first column to the left, the others to the right, each as wide as it needs."""
    headings = list(heading_lines(table))
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


def plain_text(section, path):
    """`path` has the details."""
    facts = [*section.sentences, section.machine]
    parts = ["\n".join(paragraph(fact) for fact in facts if fact), paragraph(section.lead)]
    if section.has_spreads:
        parts.append(paragraph(SPREAD_MEANING))
    tables = section.tables
    verdicts = section.verdicts
    if verdicts:
        rows = [[each.what, Cell(each.limit), Cell(each.measured), each.cell] for each in verdicts]
        caption = f"Targets: {verdict_counts(verdicts)}"
        tables.append(ShownTable(caption, ["To be reached", "Target", "Measured", "Verdict"], rows))
    for table in tables:
        sentences = (paragraph("; ".join(map(str, row))) for row in table.rows)
        body = "\n".join(sentences) if table.has_sentences else aligned(table)
        parts += [paragraph(table.caption), body, paragraph(table.note)]
    parts.append("\n".join(filter(None, (f"Details: {path}", paragraph(section.headline)))))
    return "\n\n".join(filter(None, parts))
